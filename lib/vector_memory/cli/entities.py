"""`entities`: what memories are about, by name."""

from __future__ import annotations

from typing import Annotated

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.options import AllProjects, Global, Json, Project


def entities(
    k: Annotated[int, typer.Option("-k", min=1, max=10_000, metavar="N", help="At most.")] = 50,
    project: Project = None,
    only_global: Global = False,
    all_projects: AllProjects = False,
    as_json: Json = False,
) -> None:
    """Show the files, technologies, concepts, persons and projects that memories name.

    `recall --entity NAME` and `list --entity NAME` show the memories of one.
    """
    answer = asking.ask("entities", {**asking.target(project, only_global, all_projects), "k": k})
    found = answer.get("entities", [])
    if as_json:
        output.document(answer)
    elif not found:
        output.say("No memory names anything yet: ideas of indexed sessions do.")
    else:
        output.table(
            ("memories", "kind", "name"),
            ((str(one["memories"]), one["kind"], output.plain(one["name"])) for one in found),
        )
