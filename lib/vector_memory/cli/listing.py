"""`list`: memories by date, kind, tag or session."""

from __future__ import annotations

from typing import Annotated

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.dates import iso
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
)


def list_memories(
    k: Annotated[int, typer.Option("-k", min=1, max=100_000, metavar="N", help="At most.")] = 20,
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
        str | None,
        typer.Option(metavar="ID", help="Only from this session."),
    ] = None,
    as_json: Json = False,
) -> None:
    """List memories, the newest first."""
    payload = {
        **asking.target(project, only_global, all_projects),
        "k": k,
        "offset": offset,
        "since": iso(since),
        "until": iso(until),
        "kind": kind or [],
        "tag": tag or [],
        "entity": entity or [],
        "session": session,
    }
    answer = asking.ask("list", payload)
    if as_json:
        output.document(answer)
        return
    output.unopened(answer)
    found = answer.get("memories", [])
    if not found:
        output.say("No memories.")
        return
    output.memories(found)
    output.say(f"{offset + 1} to {offset + len(found)} of {answer.get('total', len(found))}")
