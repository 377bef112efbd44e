"""Texts as they stand in a table or a line for people."""

from __future__ import annotations

from datetime import datetime

from vector_memory.text.harmless import excerpt, visible

ID_CHARS = 12
CELL_CHARS = 300


def plain(text: str) -> str:
    """Return text that cannot steer a terminal, and hides nothing: stored text may hold escape
    sequences, and a model may be who reads it."""
    return visible(text)


def one_line(text: str, limit: int = CELL_CHARS) -> str:
    """Return text for a table's cell: one line, at most `limit` characters."""
    flat = " ".join(plain(text).split())
    return flat if len(flat) <= limit else excerpt(flat, 0, limit - 1) + "…"


def day(moment: str | None) -> str:
    """Return the day of a time given in ISO format, in this machine's zone."""
    if not moment:
        return ""
    try:
        return datetime.fromisoformat(moment.replace("Z", "+00:00")).astimezone().date().isoformat()
    except ValueError:
        return plain(moment)[:10]
