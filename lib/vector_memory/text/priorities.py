"""How much a text that nobody rated is likely to matter, whatever is asked later."""

from __future__ import annotations

import os

from vector_memory.model import Priority
from vector_memory.text import tables

MAX_CHARS = 2_000

_PATTERNS = tables.patterns("weighty_words", os.path.dirname(__file__))
_RULE = _PATTERNS["rule"]
_SECURITY = _PATTERNS["security"]
_LOSS = _PATTERNS["loss"]
_ARCHITECTURE = _PATTERNS["architecture"]
_WEIGHTY = _PATTERNS["weighty"]


def suggest(text: str, title: str = "") -> Priority:
    """Return a text's likely priority.

    CORE is a prohibition about secrets or about what cannot be undone; HIGH is any other
    prohibition, and what speaks of security, architecture or the whole code; NORMAL is the rest.
    Nothing is suggested to be LOW: a wrong guess would hide it.

    Args:
        text: what the memory says.
        title: its heading, which counts as much.
    """
    whole = f"{title[:MAX_CHARS]}\n{text[:MAX_CHARS]}"
    delicate = bool(_SECURITY.search(whole) or _LOSS.search(whole))
    if _RULE.search(whole):
        return Priority.CORE if delicate else Priority.HIGH
    if delicate and not _LOSS.search(whole):
        return Priority.HIGH
    is_weighty = _ARCHITECTURE.search(whole) or _WEIGHTY.search(text[:MAX_CHARS])
    return Priority.HIGH if is_weighty else Priority.NORMAL
