"""`verify`: say that a memory was looked at."""

from __future__ import annotations

from vector_memory.cli import output
from vector_memory.cli.answers import Row


def show(answer: Row, verdict: str) -> None:
    """Print what was said of which memory."""
    output.say(f"{verdict} {answer.row('memory').text('id')}")
