"""`quarantine`: what others wrote that no hook brings, because it looks like instructions to the model."""

from __future__ import annotations

from typing import Annotated

import typer

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row
from vector_memory.cli.forget import forget
from vector_memory.errors import BadInputError

app = options.group(
    "List what is held back, with why; `release` and `drop` decide. `show ID` has the whole text."
)
Ids = Annotated[list[str], options.argument("ID...", "Ids, or how they begin.")]


@app.callback(invoke_without_command=True)
def held(
    ctx: typer.Context,
    k: Annotated[int, options.at_most(100_000)] = 100,
    project: options.Project = None,
    only_global: options.Global = False,
    all_projects: options.AllProjects = False,
    as_json: options.Json = False,
) -> None:
    """List what is held back from sessions, newest first, with why.

    It stays in the store: `recall` finds it, with a warning, and `show ID` has the whole text.
    """
    if ctx.invoked_subcommand is not None:
        return
    where = asking.target(project, only_global, all_projects)
    output.answer(asking.ask("quarantine", where, k=k), as_json, _show)


def _show(answer: Row) -> None:
    if not (memories := answer.rows("memories")):
        output.say("Nothing is held back.")
        return
    output.listing(memories, COLUMNS)
    output.say(f"{len(memories)} of {answer.count('total')} held back.")


@app.command("release")
def release(ids: Ids, as_json: options.Json = False) -> None:
    """Let sessions be given memories again, without a warning. Read them first."""
    answer = asking.ask("release", asking.everywhere(), ids=ids)
    output.answer(answer, as_json, lambda done: output.say(f"Released: {done.count('released')}"))


@app.command("drop")
def drop(ids: Ids, yes: options.Yes = False, as_json: options.Json = False) -> None:
    """Forget memories that are held back. They are shown first; then it asks."""
    for beginning in ids:
        memory = asking.ask("get", asking.everywhere(), id=beginning).row("memory")
        if not memory.row("suspicious").flag("held_back"):
            raise BadInputError(
                f"Memory {memory.id} is not held back.",
                "`vector-memory quarantine` shows ids; `vector-memory forget` takes any.",
            )
    forget(ids=ids, yes=yes, as_json=as_json)


COLUMNS: dict[str, output.Cell] = {
    "id": lambda memory: memory.id,
    "date": lambda memory: memory.day(),
    "origin": lambda memory: memory.text("origin"),
    "project": output.project_name,
    "why": lambda memory: output.one_line(", ".join(memory.row("suspicious").texts("reasons")), 60),
    "text": output.field("text", 160),
}
