"""`init`: give a project a store of its own."""

from __future__ import annotations

import os
import shlex
import sys
from typing import Annotated

import typer

from vector_memory.cli import asking, import_notes, options, output
from vector_memory.cli.answers import Row
from vector_memory.errors import NotFoundError


def init(
    folder: Annotated[str, options.argument("DIR", "The project's folder.")] = ".",
    as_json: options.Json = False,
) -> None:
    """Give a project a store of its own, `.memory/`, and move its memories there.

    Notes that it finds (MEMORY.md, NOTES.md, ADR-*.md, docs/adr/*.md, .claude/*.md) are offered for
    import; with --json they are listed under "found".
    """
    place = existing(folder)
    answer = asking.ask("init", asking.target(), timeout_s=600.0, dir=place)
    output.answer(answer, as_json, lambda answer: _show(answer, place))


def _show(answer: Row, folder: str) -> None:
    """Tell of the new store; name the notes that were found and how to import them, and ask, where there
    is a terminal."""
    output.say(f"{answer.text('store')}: {answer.count('moved')} memories moved")
    notes = answer.texts("found")
    if not notes:
        return
    output.say(
        f"Notes of this project: {', '.join(os.path.relpath(path, folder) for path in notes)}"
    )
    command = ["vector-memory", "import", "--project", folder, *notes]
    output.say(f"Import them with: {output.plain(shlex.join(command))}")
    if sys.stdin.isatty() and typer.confirm("Look at them now?", default=False, err=True):
        where = {**asking.target(folder), "wait": True}
        import_notes.run(notes, where, import_notes.ImportChoice())


def existing(folder: str) -> str:
    """Return a folder's absolute path.

    Raises:
        NotFoundError: it is none.
    """
    path = asking.path_of(folder)
    if not os.path.isdir(path):
        raise NotFoundError(f"There is no folder {path}.", "Name a project's folder.")
    return path
