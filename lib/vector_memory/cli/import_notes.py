"""`import` of notes in Markdown: show what would be stored, ask, store."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.progress import follow, report
from vector_memory.errors import NotFoundError

MAX_ROWS = 200
COUNTS = (
    "stored",
    "updated",
    "merged",
    "proposed",
    "unchanged",
    "left_out",
    "forgotten",
    "redactions",
)
WITH_EFFECT = ("new", "changed", "updated", "merged")


@dataclass(frozen=True)
class ImportChoice:
    """What was asked for at the command line."""

    yes: bool = False
    dry_run: bool = False
    prune: bool = False
    as_json: bool = False


def run(paths: list[str], where: dict[str, Any], chosen: ImportChoice) -> int:
    """Import notes as it was asked for and return the exit code.

    Raises:
        NotFoundError: there is nothing of a name.
    """
    for path in paths:
        if not os.path.lexists(path):
            raise NotFoundError(f"There is no file {path}.", "Name notes or folders of them.")
    if chosen.as_json and chosen.yes and not chosen.dry_run:
        return _finish(_store(paths, where, chosen), as_json=True)
    steps: list[dict[str, Any]] = []
    payload = {**where, "paths": paths, "dry_run": True}
    stream = asking.daemon().stream("import_notes", payload)
    answer = follow(stream, chosen.as_json, steps.append)
    if chosen.as_json:
        output.document({"preview": steps, **answer, "stored": 0})
        return 0
    _show(steps, answer, chosen.prune)
    if chosen.dry_run or not _has_effect(steps, chosen.prune) or not _agreed(steps, chosen):
        return 0
    return _finish(_store(paths, where, chosen), as_json=False)


def _store(paths: list[str], where: dict[str, Any], chosen: ImportChoice) -> dict[str, Any]:
    payload = {**where, "paths": paths, "dry_run": False, "prune": chosen.prune}
    return follow(asking.daemon().stream("import_notes", payload), chosen.as_json)


def _has_effect(steps: list[dict[str, Any]], prune: bool) -> bool:
    wanted = (*WITH_EFFECT, "gone") if prune else WITH_EFFECT
    return any(step.get("action") in wanted for step in steps)


def _show(steps: list[dict[str, Any]], answer: dict[str, Any], prune: bool) -> None:
    """Print a preview: what would happen to which note."""
    if steps:
        output.table(("", "kind", "priority", "tags", "text"), map(_row, steps[:MAX_ROWS]))
    if len(steps) > MAX_ROWS:
        output.say(f"… and {len(steps) - MAX_ROWS} more; --dry-run --json shows all.")
    files = "1 file" if answer.get("files") == 1 else f"{answer.get('files', 0)} files"
    output.say(f"{files}: {_said(steps)}{answer.get('unchanged', 0)} unchanged")
    if answer.get("gone") and not prune:
        output.say(f"{answer['gone']} no longer in the file; --prune forgets them.")
    for error in answer.get("errors") or []:
        output.note(f"{error.get('file', '')}: {error.get('error', '')}")


def _row(step: dict[str, Any]) -> tuple[object, ...]:
    text = f"{step['title']}: {step['text']}" if step.get("title") else step.get("text", "")
    done = " ✓" if step.get("done") else ""
    return (
        f"{step.get('action', '')}{', superseded' if step.get('superseded') else ''}",
        f"{step.get('kind', '')}{done}",
        step.get("priority", ""),
        output.one_line(", ".join(step.get("tags") or []), 24),
        output.one_line(str(text), 160),
    )


def _said(steps: list[dict[str, Any]]) -> str:
    """Return how many notes there are of each action, in the order of their first."""
    actions = [str(step.get("action", "")) for step in steps]
    return "".join(f"{actions.count(one)} {one}, " for one in dict.fromkeys(actions))


def _agreed(steps: list[dict[str, Any]], chosen: ImportChoice) -> bool:
    """Ask whether to go on; without a terminal to ask on, the answer is no."""
    if chosen.yes:
        return True
    if not sys.stdin.isatty():
        output.note("Nothing was stored: there is no terminal to ask on. To store them, say --yes.")
        return False
    wanted = (*WITH_EFFECT, "gone") if chosen.prune else WITH_EFFECT
    count = sum(step.get("action") in wanted for step in steps)
    if typer.confirm(f"Import {'this' if count == 1 else f'these {count}'}?", err=True):
        return True
    output.note("Nothing was stored.")
    return False


def _finish(answer: dict[str, Any], as_json: bool) -> int:
    code = report(answer, as_json, COUNTS)
    if not as_json and answer.get("gone") and not answer.get("forgotten"):
        output.say(f"{answer['gone']} no longer in the file; --prune forgets them.")
    return code
