"""`import` of notes in Markdown: show what would be stored, ask, store."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.answers import Row
from vector_memory.cli.progress import ask_long, report
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


def run(paths: list[str], where: asking.Said, chosen: ImportChoice) -> int:
    """Import notes as it was asked for and return the exit code.

    Raises:
        NotFoundError: there is nothing of a name.
    """
    for path in paths:
        if not os.path.lexists(path):
            raise NotFoundError(f"There is no file {path}.", "Name notes or folders of them.")
    where = {**where, "paths": paths}
    if chosen.as_json and chosen.yes and not chosen.dry_run:
        return _store(where, chosen)
    steps: list[Row] = []
    answer = ask_long("import_notes", where, chosen.as_json, item=steps.append, dry_run=True)
    if chosen.as_json:
        preview = [step.fields for step in steps]
        output.document({"preview": preview, **answer.fields, "stored": 0})
        return 0
    _show(steps, answer, chosen.prune)
    wanted = (*WITH_EFFECT, "gone") if chosen.prune else WITH_EFFECT
    count = sum(step.text("action") in wanted for step in steps)
    if chosen.dry_run or not count or not (chosen.yes or _agreed(count)):
        return 0
    return _store(where, chosen)


def _store(where: asking.Said, chosen: ImportChoice) -> int:
    answer = ask_long("import_notes", where, chosen.as_json, dry_run=False, prune=chosen.prune)
    code = report(answer, chosen.as_json, COUNTS)
    if not chosen.as_json and not answer.count("forgotten"):
        _say_gone(answer)
    return code


def _show(steps: list[Row], answer: Row, prune: bool) -> None:
    """Print a preview: what would happen to which note."""
    if steps:
        output.listing(steps[:MAX_ROWS], COLUMNS)
    if len(steps) > MAX_ROWS:
        output.say(f"… and {len(steps) - MAX_ROWS} more; --dry-run --json shows all.")
    read = answer.count("files")
    actions = [step.text("action") for step in steps]
    each = "".join(f"{actions.count(action)} {action}, " for action in dict.fromkeys(actions))
    files = "1 file" if read == 1 else f"{read} files"
    output.say(f"{files}: {each}{answer.count('unchanged')} unchanged")
    if not prune:
        _say_gone(answer)
    for error in answer.rows("errors"):
        output.note(f"{error.text('file')}: {error.text('error')}")


def _say_gone(answer: Row) -> None:
    if gone := answer.count("gone"):
        output.say(f"{gone} no longer in the file; --prune forgets them.")


def _text(step: Row) -> str:
    title, text = step.text("title"), step.text("text")
    return output.one_line(f"{title}: {text}" if title else text, 160)


COLUMNS: dict[str, output.Cell] = {
    "": lambda step: step.text("action") + (", superseded" if step.flag("superseded") else ""),
    "kind": lambda step: step.text("kind") + (" ✓" if step.flag("done") else ""),
    "priority": lambda step: step.text("priority"),
    "tags": lambda step: output.one_line(", ".join(step.texts("tags")), 24),
    "text": _text,
}


def _agreed(count: int) -> bool:
    """Ask whether to go on; without a terminal to ask on, the answer is no."""
    if not sys.stdin.isatty():
        output.note("Nothing was stored: there is no terminal to ask on. To store them, say --yes.")
        return False
    if typer.confirm(f"Import {'this' if count == 1 else f'these {count}'}?", err=True):
        return True
    output.note("Nothing was stored.")
    return False
