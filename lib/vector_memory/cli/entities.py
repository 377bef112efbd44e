"""`entities`: what memories are about, by name."""

from __future__ import annotations

from typing import Annotated

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row

COLUMNS = ("memories", "kind", "name")


def entities(
    k: Annotated[int, options.at_most(10_000)] = 50,
    project: options.Project = None,
    only_global: options.Global = False,
    all_projects: options.AllProjects = False,
    alias: Annotated[str, options.value("KIND:NAME", "A name that is to go by another one.")] = "",
    of: Annotated[
        str, options.value("KIND:NAME", "That other one; without it, both are told apart again.")
    ] = "",
    as_json: options.Json = False,
) -> None:
    """Show the files, technologies, concepts, persons and projects that memories name.

    With --alias two names of one thing are counted as one and asked about as one, until they are told apart.
    `recall --entity NAME` and `list --entity NAME` show the memories of one.
    """
    if alias:
        output.answer(asking.ask("alias", {}, name=alias, of=of), as_json, _show_aliases)
        return
    where = asking.target(project, only_global, all_projects)
    output.answer(asking.ask("entities", where, k=k), as_json, _show)


def _show_aliases(answer: Row) -> None:
    aliases = answer.row("aliases")
    for name in aliases.fields:
        output.say(f"{name} goes by {aliases.text(name)}.")


def _show(answer: Row) -> None:
    if entities := answer.rows("entities"):
        cells = [[entity.text(name) for name in COLUMNS] for entity in entities]
        output.table(COLUMNS, cells)
    else:
        output.say("No memory names anything yet: ideas of indexed sessions do.")
