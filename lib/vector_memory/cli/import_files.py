"""`import`: memories from JSON lines, notes in Markdown, or a knowledge graph."""

from __future__ import annotations

import json
import os

import typer

from vector_memory.cli import asking, import_notes, output
from vector_memory.cli.counts import with_count
from vector_memory.cli.invocation import Invocation
from vector_memory.cli.progress import ask_long
from vector_memory.cli.remember import raised_with
from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.system.files import beginning

MARKDOWN = (".md", ".markdown")
COUNTS = "read stored merged proposed left_out skipped redactions"
UNDATED = (
    "[line has/lines have] a date that is none, such as 0001-01-01: [it is/they are] dated now."
)
FIRST_LINE_BYTES = 64 * 1024
TAKEN = "`import` takes JSON lines, an export of this program, or notes in Markdown."


def import_files(
    call: Invocation,
    files: list[str],
    verbatim: bool,
    yes: bool,
    dry_run: bool,
    prune: bool,
    no_wait: bool,
) -> int:
    """Import notes in Markdown, or a file of JSON lines; return the exit code.

    Raises:
        BadParameter: what was asked is for the other sort.
        NotFoundError: there is nothing of a name.
    """
    for path in files:
        if not os.path.lexists(path):
            raise NotFoundError(f"There is no {path}.", "Name notes, folders of them, or a file.")
    if all(map(is_markdown, files)):
        if verbatim:
            raise typer.BadParameter("--verbatim is for JSON lines.")
        where = {**call.request(), "wait": not no_wait}
        return import_notes.run(call, files, where, yes, dry_run, prune)
    if len(files) > 1 or dry_run or prune:
        raise typer.BadParameter(
            "Several files, --dry-run and --prune are for Markdown; give one file of JSON lines."
        )
    return import_lines(call, files[0], {**call.request(), "wait": not no_wait}, verbatim)


def import_lines(call: Invocation, path: str, where: asking.Request, verbatim: bool = False) -> int:
    """Import a file of JSON lines; return 1 where a line of it was not taken, else 0."""
    if b"\0" in beginning(path, FIRST_LINE_BYTES):
        raise BadInputError(f"{path} is no text.", TAKEN)
    answer = ask_long("import", where, call.as_json, path=path, verbatim=verbatim)
    call.report(answer, COUNTS)
    if undated := answer.count("undated"):
        output.note(with_count(undated, UNDATED))
    import_notes.say_unbound(answer)
    for sentence in raised_with(answer):
        output.note(sentence)
    # Somebody's script goes by it: what was not taken is missing.
    return 1 if answer.count("errors") else 0


def is_markdown(path: str) -> bool:
    """Whether a path is one of notes: a folder, or a file of that name that does not begin with a
    line of JSON."""
    if os.path.isdir(path):
        return True
    if not path.lower().endswith(MARKDOWN):
        return False
    return not _is_json(beginning(path, FIRST_LINE_BYTES).partition(b"\n")[0])


def _is_json(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
