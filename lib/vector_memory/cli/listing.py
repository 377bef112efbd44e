"""`list`: memories by date, kind, tag or session."""

from __future__ import annotations

from typing import Annotated

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.answers import Row
from vector_memory.cli.options import (
    AllProjects,
    Entity,
    Global,
    Json,
    Kind,
    Project,
    Since,
    Tag,
    Until,
    at_most,
)


def list_memories(
    k: Annotated[int, at_most(100_000)] = 20,
    offset: Annotated[int, typer.Option(min=0, metavar="N", help="Leave out the first.")] = 0,
    project: Project = None,
    only_global: Global = False,
    all_projects: AllProjects = False,
    since: Since = None,
    until: Until = None,
    kind: Kind = None,
    tag: Tag = None,
    entity: Entity = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Only from this session.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List memories, the newest first."""
    answer = asking.ask(
        "list",
        asking.target(project, only_global, all_projects),
        k=k,
        offset=offset,
        since=since,
        until=until,
        kind=kind,
        tag=tag,
        entity=entity,
        session=session,
    )
    output.answer(answer, as_json, lambda answer: _show(answer, offset))


def _show(answer: Row, offset: int) -> None:
    output.unopened(answer)
    if not (memories := answer.rows("memories")):
        output.say("No memories.")
        return
    output.memories(memories)
    output.say(f"{offset + 1} to {offset + len(memories)} of {answer.count('total')}")
