"""`import` of notes in Markdown: show what would be stored, ask, store."""

from __future__ import annotations

import sys

from vector_memory.cli import asking, output
from vector_memory.cli.answers import Row
from vector_memory.cli.counts import with_count
from vector_memory.cli.invocation import Invocation
from vector_memory.cli.progress import ask_long

MAX_ROWS = 200
COUNTS = "stored updated merged proposed unchanged left_out forgotten redactions"
UNBOUND = (
    "[memory binds/memories bind] nobody, though the file says so: [it looks/they look] like instructions to the model, "
    "and a file can say of any text that it is yours. `vector-memory review` makes [it/them] count again."
)
MOST_UNBOUND = 10
WITH_EFFECT = ("new", "changed", "updated", "merged")


def run(
    call: Invocation,
    paths: list[str],
    where: asking.Request,
    yes: bool = False,
    dry_run: bool = False,
    prune: bool = False,
) -> int:
    """Import notes after they were shown, and return the exit code.

    Args:
        where: what is asked of the daemon beside the paths.
        yes: do not ask; dry_run: only show them.
        prune: forget what an import brought that is gone now.
    """
    where = {**where, "paths": paths}
    shown_errors: list[Row] = []
    if not (call.as_json and yes) or dry_run:
        steps: list[Row] = []
        answer = ask_long("import_notes", where, call.as_json, item=steps.append, dry_run=True)
        if call.as_json:
            output.document({"preview": steps, **answer, "stored": 0})
            return 0
        _show(steps, answer, prune)
        shown_errors = answer.rows("errors")
        counted_actions = (*WITH_EFFECT, "gone") if prune else WITH_EFFECT
        count = sum(step.text("action") in counted_actions for step in steps)
        if dry_run or not count or not (yes or _ask_consent(count)):
            return 0
    answer = ask_long("import_notes", where, call.as_json, dry_run=False, prune=prune)
    code = call.report(answer, COUNTS, shown_errors)
    if not call.as_json and not answer.count("forgotten"):
        _note_gone(answer)
    say_unbound(answer)
    return code


def say_unbound(answer: Row) -> None:
    """Tell of what was stored with less weight than the file says, and how it is given back."""
    if not (unbound := answer.count("unbound")):
        return
    output.note(with_count(unbound, UNBOUND))
    for memory in answer.rows("unbound_first")[:MOST_UNBOUND]:
        kind = memory.row("proposed").text("kind") or memory.text("kind")
        output.note(f"  {memory.id} ({kind}) {memory.line('text', 100)}")
    if unbound > MOST_UNBOUND:
        output.note(f"  … and {unbound - MOST_UNBOUND} more.")


def _show(steps: list[Row], answer: Row, prune: bool) -> None:
    """Print a preview: what would happen to which note."""
    if steps:
        output.listing(steps[:MAX_ROWS], COLUMNS)
    if len(steps) > MAX_ROWS:
        output.say(f"… and {len(steps) - MAX_ROWS} more; --dry-run --json shows all.")
    file_count = answer.count("files")
    actions = [step.text("action") for step in steps]
    counts = "".join(f"{actions.count(action)} {action}, " for action in dict.fromkeys(actions))
    files = "1 file" if file_count == 1 else f"{file_count} files"
    output.say(f"{files}: {counts}{answer.count('unchanged')} unchanged")
    if not prune:
        _note_gone(answer)
    for error in answer.rows("errors"):
        output.note(f"{error.text('file')}: {error.text('error')}")


def _note_gone(answer: Row) -> None:
    if count := answer.count("gone"):
        output.say(f"{count} no longer in their files; --prune forgets them.")


def _text(step: Row) -> str:
    title, text = step.text("title"), step.text("text")
    return output.one_line(f"{title}: {text}" if title else text, 160)


COLUMNS: dict[str, output.Cell] = {
    "": lambda step: ", ".join(
        [step.text("action"), *filter(step.flag, ("superseded", "unbound"))]
    ),
    "kind": lambda step: step.text("kind") + (" ✓" if step.flag("done") else ""),
    "priority": lambda step: step.text("priority"),
    "tags": lambda step: output.one_line(", ".join(step.texts("tags")), 24),
    "text": _text,
}


def _ask_consent(count: int) -> bool:
    """Ask whether to go on; without a terminal to ask on, the answer is no."""
    if not sys.stdin.isatty():
        output.note("Nothing was stored: there is no terminal to ask on. To store them, say --yes.")
        return False
    return asking.agreed(f"Import {'this' if count == 1 else f'these {count}'}?", "stored")
