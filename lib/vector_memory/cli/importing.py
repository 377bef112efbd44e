"""`import`: memories from a file of JSON lines."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.options import Global, Json, NoWait, Project
from vector_memory.cli.progress import follow
from vector_memory.errors import NotFoundError

MAX_ERRORS_SHOWN = 10
TAKEN = ("stored", "merged", "unchanged")


def import_lines(
    file: Annotated[str, typer.Argument(metavar="FILE", help='JSON lines {"text", …}.')],
    verbatim: Annotated[
        bool, typer.Option("--verbatim", help="Store each line as it is, without merging.")
    ] = False,
    project: Project = None,
    only_global: Global = False,
    no_wait: NoWait = False,
    as_json: Json = False,
) -> int:
    """Import memories; returns when all of them can be found.

    --project and --global hold for lines that name no project.
    """
    path = os.path.abspath(os.path.expanduser(file))
    if not os.path.isfile(path):
        raise NotFoundError(f"There is no file {path}.", "Name a file of JSON lines.")
    payload = {
        **asking.target(project, only_global),
        "path": path,
        "verbatim": verbatim,
        "wait": not no_wait,
    }
    answer = follow(asking.daemon().stream("import", payload), as_json)
    return report(answer, as_json, ("read", "stored", "merged", "skipped", "redactions"))


def report(answer: dict[str, Any], as_json: bool, counts: tuple[str, ...]) -> int:
    """Print what came of reading something in; return 1 if it brought nothing but errors."""
    errors = answer.get("errors") or []
    if as_json:
        output.document(answer)
    else:
        said = ", ".join(f"{answer.get(name, 0)} {name}" for name in counts)
        output.say(f"{said} in {float(answer.get('seconds') or 0):.1f} s")
        for error in errors[:MAX_ERRORS_SHOWN]:
            output.note(_error(error))
        if len(errors) > MAX_ERRORS_SHOWN:
            output.note(f"… and {len(errors) - MAX_ERRORS_SHOWN} more.")
    return 1 if errors and not any(answer.get(name) for name in TAKEN) else 0


def _error(error: Any) -> str:
    if not isinstance(error, dict):
        return str(error)
    place = f"line {error['line']}" if "line" in error else str(error.get("file", ""))
    return f"{place}: {error.get('error', '')}".lstrip(": ")
