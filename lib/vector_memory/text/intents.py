"""What sort of memory a question asks for: decisions, problems, open questions …"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from vector_memory.text.patterns import PatternTable

MAX_CHARS = 1_500


@dataclass(frozen=True)
class Intent:
    """What a question asks for. `kinds` are kinds of memories, () where it does not say; `latest`
    asks for what holds now; `speaker` is `user` or `assistant` where the
    question asks what one of them said, else ""."""

    kinds: tuple[str, ...] = ()
    latest: bool = False
    speaker: str = ""


LATEST, USER, ASSISTANT = "latest", "user", "assistant"
"""Parts of the table that name no kind of memories."""
_ASKED_BACK = re.compile(
    r"\b(?:wh(?:at|ich|ere|en|y|o|om|ose)|how|did|was|were|do|does|had|have|should)\b.{0,160}"
    r"\b(?:i|my|me|mine)\b(?! (?:can|could|should|need to|do|am|get|have to)\b)",
    re.IGNORECASE | re.DOTALL,
)
"""A question with the asker in it: what they said themselves is likely to answer it."""
_TABLE = PatternTable("question_phrases", os.path.dirname(__file__))


def intent(text: str) -> Intent:
    """Return what a question asks for."""
    text = text[:MAX_CHARS]
    signs = _TABLE.found(text)
    kinds = " ".join(sign for sign in signs if sign not in (LATEST, USER, ASSISTANT)).split()
    speaker = USER if USER in signs else ASSISTANT if ASSISTANT in signs else ""
    if not speaker and text.rstrip().endswith("?") and _ASKED_BACK.search(text):
        speaker = USER
    return Intent(tuple(dict.fromkeys(kinds)), LATEST in signs, speaker)
