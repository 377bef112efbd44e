"""`backfill`: index the transcripts of earlier sessions."""

from __future__ import annotations

import os

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.invocation import Invocation
from vector_memory.errors import NotFoundError
from vector_memory.system.paths import client_folders

CURRENT = "current"
MOST_NAMED = 3
_NAME = "Name a file or a folder, or say --all."


def backfill(
    call: Invocation, paths: list[str] | None, all: bool, session: str | None, no_wait: bool
) -> int:
    """Index transcripts, by default those of this project; return 1 where none of them could be read, else
    0: those that could not are told each time.

    Raises:
        BadParameter: they are named in several ways.
        NotFoundError: there is nothing of a name.
    """
    if sum((bool(paths), all, session is not None)) > 1:
        raise typer.BadParameter("Name files or folders, or --all, or --session: one of them.")
    for path in paths or []:
        if not os.path.lexists(path):
            raise NotFoundError(f"There is no {path}.", "Name a transcript or a folder of them.")
    if not paths and not all:
        paths = transcripts(os.getcwd(), session)
    try:
        answer = call.ask(
            paths=paths or [],
            **client_folders(),
            session=asking.own_session(),
            wait=not no_wait,
        )
    except KeyboardInterrupt:
        output.note("Stopped. What was read stays, and the same command goes on where it was.")
        raise
    call.report(answer, "files known sessions stored unchanged")
    if not (answer.count("files") or answer.count("errors") or call.as_json):
        output.note(f"No transcripts are in {', '.join(answer.texts('looked_in'))}.")
    if (gone := answer.texts("gone")) and not call.as_json:
        _note_gone_folders(gone)
    if no_wait and answer.count("stored") and not call.as_json:
        output.note("Ideas in them are looked for in the background, when nothing else is asked.")
    return 1 if answer.count("errors") and not answer.count("files") else 0


def _note_gone_folders(folders: list[str]) -> None:
    """Say which folders of sessions are gone."""
    left_out = f" and {len(folders) - MOST_NAMED} more" if len(folders) > MOST_NAMED else ""
    output.note(
        f"Folders of sessions are gone: {', '.join(folders[:MOST_NAMED])}{left_out}. Each counts as a project of its own."
        " If one was a worktree, or was moved, `vector-memory adopt FOLDER` in its repository takes its memories along."
    )


def transcripts(folder: str, session: str | None) -> list[str]:
    """Return the folder in which the client keeps a project's transcripts, or what it keeps of one
    session: its transcript, and the folder of its subagents.

    Raises:
        NotFoundError: the client keeps none.
    """
    if session is None:
        path = _project_folder(folder)
        if not os.path.exists(path):
            raise NotFoundError(f"The client keeps no transcripts in {path}.", _NAME)
        return [path]
    if session == CURRENT and not (session := asking.own_session()):
        raise NotFoundError(f"This runs in no session: {asking.SESSION} is not set.", _NAME)
    if os.path.basename(session) != session:
        raise typer.BadParameter("A session is its id, not a path.")
    projects = os.path.join(client_folders()["claude_dir"], "projects")
    folder_names = sorted(os.listdir(projects)) if os.path.isdir(projects) else []
    for name in (
        _project_folder(folder),
        *(os.path.join(projects, folder_name) for folder_name in folder_names),
    ):
        path = os.path.join(name, session)
        if os.path.isfile(f"{path}.jsonl"):
            return [f"{path}.jsonl", *([path] if os.path.isdir(path) else [])]
    raise NotFoundError(f"The client keeps no transcript of session {session}.", _NAME)


def _project_folder(folder: str) -> str:
    name = "".join(char if char.isascii() and char.isalnum() else "-" for char in folder)
    return os.path.join(client_folders()["claude_dir"], "projects", name)
