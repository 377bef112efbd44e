"""How much a text that nobody rated is likely to matter, whatever is asked later."""

from __future__ import annotations

import os

from vector_memory.model import Priority
from vector_memory.text.patterns import PatternTable

MAX_CHARS = 2_000
_TABLE = PatternTable("weighty_words", os.path.dirname(__file__))


def suggest(text: str, title: str = "") -> Priority:
    """Return a text's likely priority.

    CORE is a prohibition about secrets or about what cannot be undone; HIGH is any other
    prohibition, and what speaks of security, architecture or the whole code; NORMAL is the rest.
    Nothing is suggested to be LOW: a wrong guess would hide it.

    Args:
        text: what the memory says.
        title: its heading, which counts as much.
    """
    signs = _TABLE.found(f"{title[:MAX_CHARS]}\n{text[:MAX_CHARS]}")
    if "rule" in signs:
        return Priority.CORE if "security" in signs or "loss" in signs else Priority.HIGH
    is_security = "security" in signs and "loss" not in signs
    is_weighty = "weighty" in _TABLE.found(text[:MAX_CHARS])
    return (
        Priority.HIGH if is_security or "architecture" in signs or is_weighty else Priority.NORMAL
    )
