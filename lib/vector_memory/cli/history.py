"""`history`: what a memory was before, and what it is now."""

from __future__ import annotations

from vector_memory.cli import output
from vector_memory.cli.answers import Row


def show(answer: Row) -> None:
    """Print memories that gave way to one another, the oldest first."""
    for stage in answer.rows("chain"):
        until = stage.day("until") or "now"
        reason = f" ({output.one_line(stage.text('reason'))})" if stage.text("reason") else ""
        output.say(f"{stage.id}  {stage.day('from')} to {until}  {stage.line()}{reason}")
    if summary := answer.text("summary"):
        output.say(output.plain(summary))
