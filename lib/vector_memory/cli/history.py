"""`history`: what a memory was before, and what it is now."""

from __future__ import annotations

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row


def history(memory_id: options.MemoryId, as_json: options.Json = False) -> None:
    """Show the memories that gave way to one another, the oldest first."""
    answer = asking.ask("history", asking.everywhere(), id=memory_id)
    output.answer(answer, as_json, _show)


def _show(answer: Row) -> None:
    for stage in answer.rows("chain"):
        until = stage.day("until") or "now"
        reason = f" ({output.one_line(stage.text('reason'))})" if stage.text("reason") else ""
        output.say(f"{stage.id}  {stage.day('from')} to {until}  {stage.line()}{reason}")
    if summary := answer.text("summary"):
        output.say(output.plain(summary))
