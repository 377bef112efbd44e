"""`list`: memories by date, kind, tag or session."""

from __future__ import annotations

from vector_memory.cli import output
from vector_memory.cli.answers import Row


def show(answer: Row, offset: int) -> None:
    """Print memories and which of all of them these are."""
    output.unopened(answer)
    memories = answer.rows("memories")
    if output.listing(memories, output.MEMORY, "No memories."):
        output.say(f"{offset + 1} to {offset + len(memories)} of {answer.count('total')}")
