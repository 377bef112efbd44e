"""`list`: memories by date, kind, tag or session."""

from __future__ import annotations

from typing import Annotated

import typer

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row


def list_memories(
    k: Annotated[int, options.at_most(100_000)] = 20,
    offset: Annotated[int, typer.Option(min=0, metavar="N", help="Leave out the first.")] = 0,
    project: options.Project = None,
    only_global: options.Global = False,
    all_projects: options.AllProjects = False,
    since: options.Since = None,
    until: options.Until = None,
    kind: options.Kind = None,
    tag: options.Tag = None,
    entity: options.Entity = None,
    session: Annotated[str | None, options.value("ID", "Only from this session.")] = None,
    due: Annotated[
        bool,
        options.switch(
            "What has a deadline to come, the nearest first, and what comes back.", "--due"
        ),
    ] = False,
    as_json: options.Json = False,
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
        due=due,
    )
    output.answer(answer, as_json, lambda answer: _show(answer, offset))


def _show(answer: Row, offset: int) -> None:
    output.unopened(answer)
    if not (memories := answer.rows("memories")):
        output.say("No memories.")
        return
    output.memories(memories)
    output.say(f"{offset + 1} to {offset + len(memories)} of {answer.count('total')}")
