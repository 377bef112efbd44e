"""`backfill`: index the transcripts of earlier sessions."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from vector_memory.cli import asking, options, output
from vector_memory.cli.progress import ask_long, report
from vector_memory.errors import NotFoundError

TIMEOUT_S = 24 * 3600.0
SESSION = "CLAUDE_CODE_SESSION_ID"
"""Where the client tells its commands which session they run in."""
CURRENT = "current"
_NAME = "Name a file or a folder, or say --all."


def backfill(
    paths: Annotated[
        list[str] | None,
        options.argument(
            "FILE|DIR",
            "Transcripts, or folders of them. Without any: this project's.",
            show_default=False,
        ),
    ] = None,
    everything: Annotated[
        bool,
        options.switch(
            "Every project of Claude Code, every rollout of Codex, every chat of the Gemini CLI.",
            "--all",
        ),
    ] = False,
    session: Annotated[
        str | None, options.value("ID", "One session; `current` is the one that this runs in.")
    ] = None,
    no_wait: options.NoWait = False,
    as_json: options.Json = False,
) -> int:
    """Index the transcripts of earlier sessions; what is indexed stays.

    It can be stopped at any time: the same command goes on where it was.
    """
    if sum((bool(paths), everything, session is not None)) > 1:
        raise typer.BadParameter("Name files or folders, or --all, or --session: one of them.")
    chosen = [_existing(path) for path in paths or []]
    if not paths and not everything:
        chosen = transcripts(os.getcwd(), session)
    try:
        answer = ask_long(
            "backfill",
            asking.target(),
            as_json,
            TIMEOUT_S,
            paths=chosen,
            all=everything,
            claude_dir=claude_dir(),
            codex_dir=codex_dir(),
            gemini_dir=gemini_dir(),
            session=os.environ.get(SESSION, ""),
            wait=not no_wait,
        )
    except KeyboardInterrupt:
        output.note("Stopped. What was read stays, and the same command goes on where it was.")
        raise
    return report(answer, as_json, ("files", "sessions", "stored", "unchanged"))


def _existing(path: str) -> str:
    whole = asking.path_of(path)
    if not os.path.lexists(whole):
        raise NotFoundError(f"There is no {whole}.", "Name a transcript or a folder of them.")
    return whole


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
    session = _current() if session == CURRENT else session
    if os.path.basename(session) != session:
        raise typer.BadParameter("A session is its id, not a path.")
    projects = os.path.join(claude_dir(), "projects")
    others = sorted(os.listdir(projects)) if os.path.isdir(projects) else []
    for name in (_project_folder(folder), *(os.path.join(projects, other) for other in others)):
        path = os.path.join(name, session)
        if os.path.isfile(f"{path}.jsonl"):
            return [f"{path}.jsonl", *([path] if os.path.isdir(path) else [])]
    raise NotFoundError(f"The client keeps no transcript of session {session}.", _NAME)


def _current() -> str:
    session = os.environ.get(SESSION, "")
    if not session:
        raise NotFoundError(f"This runs in no session: {SESSION} is not set.", _NAME)
    return session


def _project_folder(folder: str) -> str:
    name = "".join(char if char.isascii() and char.isalnum() else "-" for char in folder)
    return os.path.join(claude_dir(), "projects", name)


def claude_dir() -> str:
    """Return the client's folder, as the caller's environment has it rather than the daemon's."""
    return os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")


def codex_dir() -> str:
    """Return Codex's folder, as the caller's environment has it."""
    return os.environ.get("CODEX_HOME") or os.path.expanduser("~/.codex")


def gemini_dir() -> str:
    """Return the Gemini CLI's folder, as the caller's environment has it."""
    return os.path.join(os.environ.get("GEMINI_CLI_HOME") or os.path.expanduser("~"), ".gemini")
