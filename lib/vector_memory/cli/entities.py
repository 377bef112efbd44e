"""`entities`: what memories are about, by name."""

from __future__ import annotations

from typing import Annotated

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row


def entities(
    k: Annotated[int, options.at_most(10_000)] = 50,
    project: options.Project = None,
    only_global: options.Global = False,
    all_projects: options.AllProjects = False,
    as_json: options.Json = False,
) -> None:
    """Show the files, technologies, concepts, persons and projects that memories name.

    `recall --entity NAME` and `list --entity NAME` show the memories of one.
    """
    where = asking.target(project, only_global, all_projects)
    output.answer(asking.ask("entities", where, k=k), as_json, _show)


def _show(answer: Row) -> None:
    columns = {name: output.field(name) for name in ("memories", "kind", "name")}
    if named := answer.rows("entities"):
        output.listing(named, columns)
    else:
        output.say("No memory names anything yet: ideas of indexed sessions do.")
