"""Memories for the journal's tests."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

from vector_memory.model import PASSAGE, CleanText, Memory, Source

START = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=timezone.utc)


def memory(number: int, text: str = "", **fields: Any) -> Memory:
    """Return a memory that differs from those of other numbers in id, text and time."""
    one = Memory(
        id=f"m{number:04}",
        text=CleanText(text or f"note number {number}"),
        created_at=START + timedelta(minutes=number),
    )
    return replace(one, **fields)


def turn(number: int, session: str, at: int) -> Memory:
    """Return a passage of a session's turn."""
    return memory(
        number, kind=PASSAGE, source=Source(session=session, path=f"/t/{session}.jsonl", turn=at)
    )
