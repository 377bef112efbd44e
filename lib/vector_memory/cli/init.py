"""`init`: give a project a store of its own."""

from __future__ import annotations

import os
import shlex
import sys
from typing import Annotated

import typer

from vector_memory.cli import asking, import_notes, output
from vector_memory.cli.options import Json
from vector_memory.errors import NotFoundError


def init(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="The project's folder.")] = ".",
    as_json: Json = False,
) -> None:
    """Give a project a store of its own, `.memory/`, and move its memories there.

    Notes that it finds (MEMORY.md, NOTES.md, ADR-*.md, docs/adr/*.md, .claude/*.md) are offered for
    import; with --json they are listed under "found".
    """
    place = existing(folder)
    answer = asking.ask("init", {**asking.target(), "dir": place}, timeout_s=600.0)
    if as_json:
        output.document(answer)
        return
    output.say(f"{answer.get('store', '')}: {answer.get('moved', 0)} memories moved")
    if found := [str(path) for path in answer.get("found") or []]:
        offer(found, place)


def offer(found: list[str], folder: str) -> None:
    """Name the notes that were found and how to import them; ask, where there is a terminal."""
    output.say(f"Notes of this project: {', '.join(os.path.relpath(one, folder) for one in found)}")
    command = ["vector-memory", "import", "--project", folder, *found]
    output.say(f"Import them with: {output.plain(shlex.join(command))}")
    if sys.stdin.isatty() and typer.confirm("Look at them now?", default=False, err=True):
        where = {**asking.target(folder), "wait": True}
        import_notes.run(found, where, import_notes.ImportChoice())


def existing(folder: str) -> str:
    """Return a folder's absolute path.

    Raises:
        NotFoundError: it is none.
    """
    path = os.path.abspath(os.path.expanduser(folder))
    if not os.path.isdir(path):
        raise NotFoundError(f"There is no folder {path}.", "Name a project's folder.")
    return path
