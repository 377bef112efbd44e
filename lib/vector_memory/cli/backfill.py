"""`backfill`: index the transcripts of earlier sessions."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from vector_memory.cli import asking
from vector_memory.cli.options import Json, NoWait
from vector_memory.cli.progress import follow, report
from vector_memory.errors import NotFoundError

TIMEOUT_S = 24 * 3600.0


def backfill(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE|DIR",
            help="Transcripts, or folders of them. Without any: this project's.",
            show_default=False,
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Every project that the client keeps transcripts of.")
    ] = False,
    session: Annotated[
        str | None,
        typer.Option(metavar="ID", help="One session of this project."),
    ] = None,
    no_wait: NoWait = False,
    as_json: Json = False,
) -> int:
    """Index the transcripts of earlier sessions; what is indexed stays."""
    if sum((bool(paths), everything, session is not None)) > 1:
        raise typer.BadParameter("Name files or folders, or --all, or --session: one of them.")
    chosen = [_existing(path) for path in paths or []]
    if not paths and not everything:
        chosen = [transcripts(os.getcwd(), session)]
    payload = {
        **asking.target(),
        "paths": chosen,
        "all": everything,
        "claude_dir": claude_dir(),
        "wait": not no_wait,
    }
    answer = follow(asking.daemon().stream("backfill", payload, TIMEOUT_S), as_json)
    return report(answer, as_json, ("files", "sessions", "stored", "unchanged"))


def _existing(path: str) -> str:
    found = os.path.abspath(os.path.expanduser(path))
    if not os.path.exists(found):
        raise NotFoundError(f"There is no {found}.", "Name a transcript or a folder of them.")
    return found


def transcripts(folder: str, session: str | None) -> str:
    """Return the folder in which the client keeps a project's transcripts, or one of them.

    Raises:
        NotFoundError: the client keeps none.
    """
    if session is not None and os.path.basename(session) != session:
        raise typer.BadParameter("A session is its id, not a path.")
    name = "".join(char if char.isascii() and char.isalnum() else "-" for char in folder)
    parts = [claude_dir(), "projects", name] + ([f"{session}.jsonl"] if session else [])
    path = os.path.join(*parts)
    if not os.path.exists(path):
        raise NotFoundError(
            f"The client keeps no transcripts in {path}.", "Name a file or a folder, or say --all."
        )
    return path


def claude_dir() -> str:
    """Return the client's folder, as the caller's environment has it rather than the daemon's."""
    return os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
