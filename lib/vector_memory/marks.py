"""What a text is, besides what it says: a few bits that are kept beside it in the index."""

from __future__ import annotations

from vector_memory.language import times
from vector_memory.model import Mark

MOST_CHARS = 4_000


def marks_of(text: str) -> Mark:
    """Return whether a text ends with a question, and whether it says when something happens."""
    marks = Mark(0)
    if text.rstrip().endswith("?"):
        marks |= Mark.QUESTION
    if times.mentions_time(text[:MOST_CHARS]):
        marks |= Mark.TIME
    return marks
