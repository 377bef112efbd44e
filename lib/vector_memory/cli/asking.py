"""How verbs reach the daemon: whom they ask, and for which project."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import typer

from vector_memory.system.paths import Home

if TYPE_CHECKING:
    from vector_memory.client.link import DaemonClient

STDIN = "-"
MOST_BYTES = 4 * 1024 * 1024


def daemon() -> DaemonClient:
    """Return the way to this data home's daemon. Nothing is started yet."""
    from vector_memory.client.link import DaemonClient

    return DaemonClient(Home())


def ask(verb: str, payload: dict[str, Any], timeout_s: float = 60.0) -> dict[str, Any]:
    """Ask the daemon, starting one if none runs.

    Raises:
        VectorMemoryError: what the daemon reported, or that there is none.
    """
    return daemon().ask(verb, payload, timeout_s)


def target(
    project: str | None = None, only_global: bool = False, all_projects: bool = False
) -> dict[str, Any]:
    """Return the part of a payload that says which memories are meant.

    Raises:
        BadParameter: two of the three were given.
    """
    if sum((project is not None, only_global, all_projects)) > 1:
        raise typer.BadParameter("--project, --global and --all-projects exclude each other.")
    where: dict[str, Any] = {
        "cwd": os.getcwd(),
        "project": None if project is None else os.path.abspath(os.path.expanduser(project)),
        "global": only_global,
        "all_projects": all_projects,
    }
    # The client sets this for what an agent runs: the audit log tells who asked.
    return {**where, "actor": "agent"} if os.environ.get("CLAUDECODE") else where


def text_of(argument: str) -> str:
    """Return what an argument says; `-` is what stdin says. Bytes that are no UTF-8 are replaced.

    Raises:
        BadParameter: there is nothing but white space, or far too much.
    """
    raw = sys.stdin.buffer.read(MOST_BYTES + 1) if argument == STDIN else os.fsencode(argument)
    if len(raw) > MOST_BYTES:
        raise typer.BadParameter(f"That is longer than {MOST_BYTES:,} bytes; use `import`.")
    text = raw.decode("utf-8", "replace").strip()
    if not text:
        raise typer.BadParameter("There is no text.")
    return text
