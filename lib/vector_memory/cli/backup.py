"""`backup` and `restore`: all memories as one file, and back."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.options import Json, NoWait, Yes
from vector_memory.cli.progress import follow
from vector_memory.errors import BadInputError

TIMEOUT_S = 6 * 3600.0


def backup(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="DIR|FILE", help="Where to; backups/ in the data home.", show_default=False
        ),
    ] = None,
    with_vectors: Annotated[
        bool, typer.Option("--with-vectors", help="With the vectors, which can be made again.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write every memory, the state, the settings and the archives into one file.

    Writing goes on meanwhile. The file is read again before it counts.
    """
    path = None if target is None else os.path.abspath(os.path.expanduser(target))
    answer = _stream("backup", {"path": path, "with_vectors": with_vectors}, as_json)
    if as_json:
        output.document(answer)
        return
    size = f"{int(answer.get('bytes') or 0) / 1e6:.1f} MB"
    output.say(f"{answer.get('memories', 0)} memories, {size}: {answer.get('file', '')}")
    for folder, why in (answer.get("left_out") or {}).items():
        output.note(f"Left out: {folder}: {why}")


def restore(
    file: Annotated[str, typer.Argument(metavar="FILE", help="What `backup` wrote.")],
    yes: Yes = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what it would do.")] = False,
    no_wait: NoWait = False,
    as_json: Json = False,
) -> None:
    """Put a backup in the place of what is there.

    It is read through and shown first; then it asks. What was there is set aside, not deleted.
    """
    path = os.path.abspath(os.path.expanduser(file))
    shown = _stream("restore", {"path": path, "dry_run": True}, as_json)
    if not as_json:
        _show(shown)
    if dry_run:
        if as_json:
            output.document({**shown, "restored": False})
        return
    if not yes:
        _confirm()
    daemon = asking.daemon()
    _stream("restore", {"path": path, "dry_run": False}, as_json)
    daemon.wait_gone()
    done = daemon.ask("restored", {})
    if not no_wait:
        follow(daemon.stream("wait", {"timeout_s": TIMEOUT_S}, TIMEOUT_S), as_json)
    _finish(done, as_json)


def _stream(verb: str, payload: dict[str, Any], as_json: bool) -> dict[str, Any]:
    whole = {**asking.target(all_projects=True), **payload}
    return follow(asking.daemon().stream(verb, whole, TIMEOUT_S), as_json)


def _show(shown: dict[str, Any]) -> None:
    made = f"{output.day(shown.get('made_at'))} by version {shown.get('version')}"
    output.say(f"A backup of {made}: {shown.get('memories', 0)} memories")
    output.table(
        ("store", "memories", ""),
        [
            (one["folder"], one["memories"], one["left_out"] and f"left out: {one['left_out']}")
            for one in shown.get("stores", [])
        ],
    )


def _confirm() -> None:
    if not sys.stdin.isatty():
        raise BadInputError(
            "Nothing was restored: there is no terminal to ask on.",
            "Look with --dry-run, then say --yes.",
        )
    typer.confirm("Put it in the place of what is there now?", abort=True, err=True)


def _finish(done: dict[str, Any], as_json: bool) -> None:
    if as_json:
        output.document({**done, "restored": True})
        return
    output.say(f"Restored: {done.get('memories', 0)} memories")
    for aside in done.get("aside") or []:
        output.say(f"What was there is in {aside}")
