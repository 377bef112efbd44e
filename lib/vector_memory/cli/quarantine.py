"""`quarantine`: what others wrote that no hook brings, because it looks like instructions to the model."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.forget import forget
from vector_memory.cli.options import AllProjects, Global, Json, Project, Yes
from vector_memory.errors import BadInputError

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    help="List what is held back, with why; `release` and `drop` decide. `show ID` has the whole text.",
)
Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids, or how they begin.")]


@app.callback(invoke_without_command=True)
def held(
    ctx: typer.Context,
    k: Annotated[int, typer.Option("-k", min=1, max=100_000, metavar="N", help="At most.")] = 100,
    project: Project = None,
    only_global: Global = False,
    all_projects: AllProjects = False,
    as_json: Json = False,
) -> None:
    """List what is held back from sessions, newest first, with why.

    It stays in the store: `recall` finds it, with a warning, and `show ID` has the whole text.
    """
    if ctx.invoked_subcommand is not None:
        return
    where = asking.target(project, only_global, all_projects)
    answer = asking.ask("quarantine", {**where, "k": k})
    found: list[dict[str, Any]] = answer.get("memories", [])
    if as_json:
        output.document(answer)
    elif not found:
        output.say("Nothing is held back.")
    else:
        output.table(("id", "date", "origin", "project", "why", "text"), map(_row, found))
        output.say(f"{len(found)} of {answer.get('total', len(found))} held back.")


@app.command("release")
def release(ids: Ids, as_json: Json = False) -> None:
    """Let sessions be given memories again, without a warning. Read them first."""
    answer = asking.ask("release", {**asking.target(all_projects=True), "ids": ids})
    if as_json:
        output.document(answer)
    else:
        output.say(f"Released: {len(answer.get('released', []))}")


@app.command("drop")
def drop(ids: Ids, yes: Yes = False, as_json: Json = False) -> None:
    """Forget memories that are held back. They are shown first; then it asks."""
    for one in ids:
        memory = asking.ask("get", {**asking.target(all_projects=True), "id": one})["memory"]
        if not (memory.get("suspicious") or {}).get("held_back"):
            raise BadInputError(
                f"Memory {str(memory['id'])[:12]} is not held back.",
                "`vector-memory quarantine` shows ids; `vector-memory forget` takes any.",
            )
    forget(ids=ids, yes=yes, as_json=as_json)


def _row(memory: dict[str, Any]) -> tuple[str, ...]:
    told = memory.get("suspicious") or {}
    return (
        str(memory.get("id", ""))[: output.ID_CHARS],
        output.day(memory.get("created_at")),
        str(memory.get("origin", "")),
        output.project_name(memory),
        output.one_line(", ".join(told.get("reasons") or ()), 60),
        output.one_line(str(memory.get("text", "")), 160),
    )
