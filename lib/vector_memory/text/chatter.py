"""What is said and carries nothing: narration of the next step, applause, greetings, thanks."""

from __future__ import annotations

import os

from vector_memory.text import tables

LONGEST = 220

_PATTERNS = tables.patterns("chatter", os.path.dirname(__file__))
_APPLAUSE = _PATTERNS["applause"]


def is_chatter(sentence: str) -> bool:
    """Whether a sentence can be left out of a memory: nobody will look for it. Sentences that give a
    reason or a rule are kept however they begin."""
    text = sentence.strip().replace("\u2019", "'")
    if not any(map(str.isalnum, text)):
        return True
    if len(text) > LONGEST:
        return False
    if _APPLAUSE.fullmatch(text) or _PATTERNS["courtesy"].match(text):
        return True
    return bool(_PATTERNS["step"].match(text)) and not is_reasoned(text)


def is_reasoned(sentence: str) -> bool:
    """Whether a sentence gives a reason or a rule."""
    return _PATTERNS["reasoned"].search(sentence) is not None


def is_applause(text: str) -> bool:
    """Whether a text only greets, agrees, thanks or praises, in however many sentences."""
    return len(text) <= LONGEST and _APPLAUSE.fullmatch(text.strip()) is not None


def without_applause(sentence: str) -> str:
    """Return a sentence without the applause that it begins with ("Perfect! Now X" is "Now X")."""
    applause = _APPLAUSE.match(sentence)
    rest = sentence[applause.end() :] if applause else sentence
    is_closed = applause is not None and applause[0].rstrip()[-1:] in "!.:,–—-"
    return rest if rest and is_closed else sentence
