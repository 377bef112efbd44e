"""What a text is, besides what it says: a few bits that are kept beside it in the index."""

from __future__ import annotations

from vector_memory.model import Mark, Memory
from vector_memory.text import times

MOST_CHARS = 4_000


def marks_of(memory: Memory) -> Mark:
    """Return whether a memory's text ends with a question, whether it says when something happens, and
    whether it stands beside the talk that it was made of."""
    text = memory.text
    # What observers count of a session is written when they do: after a backfill, long after its end.
    marks = Mark.ASIDE if memory.is_aside or memory.is_quiet else Mark(0)
    if text.rstrip().endswith("?"):
        marks |= Mark.QUESTION
    if times.mentions_time(text[:MOST_CHARS]):
        marks |= Mark.TIME
    return marks
