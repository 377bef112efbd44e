"""`quarantine`: what others wrote that no hook brings, because it looks like instructions to the model."""

from __future__ import annotations

from vector_memory.cli import forget, output
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation
from vector_memory.errors import BadInputError


def show(answer: Row) -> None:
    """Print what is held back, with why."""
    memories = answer.rows("memories")
    if output.listing(memories, COLUMNS, "Nothing is held back."):
        output.say(f"{len(memories)} of {answer.count('total')} held back.")


def show_released(answer: Row) -> None:
    """Print how many memories sessions may be given again."""
    output.say(f"Released: {answer.count('released')}")


def drop(call: Invocation, ids: list[str], yes: bool) -> None:
    """Forget memories that are held back.

    Raises:
        BadInputError: one of them is not.
    """
    memories = forget.named(ids)
    for memory in memories:
        if not memory.row("suspicious").flag("held_back"):
            raise BadInputError(
                f"Memory {memory.id} is not held back.",
                "`vector-memory quarantine` shows ids; `vector-memory forget` takes any.",
            )
    forget.forget_shown(
        call, {"ids": [memory.text("id") for memory in memories]}, yes, dry_run=False
    )


COLUMNS: dict[str, output.Cell] = {
    "id": lambda memory: memory.id,
    "date": lambda memory: memory.day(),
    "origin": lambda memory: memory.text("origin"),
    "project": output.project_name,
    "why": lambda memory: output.one_line(", ".join(memory.row("suspicious").texts("reasons")), 60),
    "text": output.field("text", 160),
}
