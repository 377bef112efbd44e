"""What sort of memory a question asks for: decisions, problems, open questions …"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from vector_memory.text import tables

MAX_CHARS = 1_500


@dataclass(frozen=True)
class Intent:
    """What a question asks for. `kinds` are kinds of memories, () where it does not say; `latest`
    asks for what holds now; `speaker` is `user` or `assistant` where the
    question asks what one of them said, else ""."""

    kinds: tuple[str, ...] = ()
    latest: bool = False
    speaker: str = ""


_KINDS = tuple(
    (tuple(kinds.split()), asked)
    for kinds, asked in tables.patterns("question_kinds", os.path.dirname(__file__)).items()
)
_PATTERNS = tables.patterns("question_phrases", os.path.dirname(__file__))
_LATEST = _PATTERNS["latest"]
_USER = _PATTERNS["user"]
_ASKED_BACK = re.compile(
    r"\b(?:wh(?:at|ich|ere|en|y|o|om|ose)|how|did|was|were|do|does|had|have|should)\b.{0,160}"
    r"\b(?:i|my|me|mine)\b(?! (?:can|could|should|need to|do|am|get|have to)\b)",
    re.IGNORECASE | re.DOTALL,
)
"""A question with the asker in it: what they said themselves is likely to answer it."""
_ASSISTANT = _PATTERNS["assistant"]


def intent(text: str) -> Intent:
    """Return what a question asks for."""
    text = text[:MAX_CHARS]
    kinds = [kind for named, pattern in _KINDS if pattern.search(text) for kind in named]
    return Intent(
        tuple(dict.fromkeys(kinds)),
        bool(_LATEST.search(text)),
        _speaker(text),
    )


def _speaker(text: str) -> str:
    if _USER.search(text):
        return "user"
    if _ASSISTANT.search(text):
        return "assistant"
    return "user" if text.rstrip().endswith("?") and _ASKED_BACK.search(text) else ""
