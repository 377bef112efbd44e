"""`init`: give a project a store of its own."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.options import Json
from vector_memory.errors import NotFoundError


def init(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="The project's folder.")] = ".",
    as_json: Json = False,
) -> None:
    """Give a project a store of its own, `.memory/`, and move its memories there."""
    answer = asking.ask("init", {**asking.target(), "dir": existing(folder)}, timeout_s=600.0)
    if as_json:
        output.document(answer)
    else:
        output.say(f"{answer.get('store', '')}: {answer.get('moved', 0)} memories moved")


def existing(folder: str) -> str:
    """Return a folder's absolute path.

    Raises:
        NotFoundError: it is none.
    """
    path = os.path.abspath(os.path.expanduser(folder))
    if not os.path.isdir(path):
        raise NotFoundError(f"There is no folder {path}.", "Name a project's folder.")
    return path
