"""`import`: memories from JSON lines, notes in Markdown, or a knowledge graph."""

from __future__ import annotations

import json
import os
from typing import Annotated

import typer

from vector_memory.cli import asking, import_notes, options
from vector_memory.cli.progress import ask_long, report
from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.system.files import open_plain, with_real_folder

MARKDOWN = (".md", ".markdown")
COUNTS = ("read", "stored", "merged", "proposed", "skipped", "redactions")
FIRST_LINE_BYTES = 64 * 1024
TAKEN = "`import` takes JSON lines, an export of this program, or notes in Markdown."


def import_files(
    files: Annotated[
        list[str],
        options.argument(
            "FILE", 'JSON lines {"text", …}, or notes in Markdown and folders of them.'
        ),
    ],
    verbatim: Annotated[
        bool, options.switch("JSON lines: store each as it is, without merging.", "--verbatim")
    ] = False,
    yes: Annotated[bool, options.switch("Markdown: do not ask.", "--yes", "-y")] = False,
    dry_run: Annotated[
        bool, options.switch("Markdown: only show what would be stored.", "--dry-run")
    ] = False,
    prune: Annotated[
        bool, options.switch("Markdown: forget what an import brought that is gone now.", "--prune")
    ] = False,
    foreign: Annotated[
        bool,
        options.switch(
            "Somebody else wrote it: nothing in it becomes a rule or important.", "--foreign"
        ),
    ] = False,
    project: options.Project = None,
    only_global: options.Global = False,
    no_wait: options.NoWait = False,
    as_json: options.Json = False,
) -> int:
    """Import memories; returns when all of them can be found.

    A file of JSON lines, or the MCP memory server's knowledge graph, is stored at once. --project
    and --global hold for lines that name no project.

    Notes in Markdown (*.md, *.markdown, folders) are shown first; then it asks. Without a terminal
    to ask on, and with --json, they are only shown unless --yes is given. Importing a file again
    brings what has changed in it.

    With --foreign, what the files say of themselves (project, origin, priority, rules) does not count.
    """
    paths = [asking.path_of(file) for file in files]
    where = {**asking.target(project, only_global), "wait": not no_wait, "foreign": foreign}
    if all(map(is_markdown, paths)):
        if verbatim:
            raise typer.BadParameter("--verbatim is for JSON lines.")
        chosen = import_notes.ImportChoice(yes=yes, dry_run=dry_run, prune=prune, as_json=as_json)
        return import_notes.run(paths, where, chosen)
    if len(paths) > 1 or dry_run or prune:
        raise typer.BadParameter(
            "Several files, --dry-run and --prune are for Markdown; give one file of JSON lines."
        )
    return import_lines(paths[0], where, verbatim, as_json)


def import_lines(path: str, where: asking.Said, verbatim: bool, as_json: bool) -> int:
    """Import a file of JSON lines; return 1 where a line of it was not taken, else 0."""
    if not os.path.lexists(path):
        raise NotFoundError(f"There is no file {path}.", "Name a file of JSON lines.")
    if _is_binary(path):
        raise BadInputError(f"{path} is no text.", TAKEN)
    answer = ask_long("import", where, as_json, path=path, verbatim=verbatim)
    report(answer, as_json, COUNTS)
    # Somebody's script goes by it: what was not taken is missing.
    return 1 if answer.count("errors") else 0


def is_markdown(path: str) -> bool:
    """Whether a path is one of notes: a folder, or a file of that name that does not begin with a
    line of JSON."""
    if os.path.isdir(path):
        return True
    if not path.lower().endswith(MARKDOWN):
        return False
    try:
        with open_plain(with_real_folder(path)) as file:
            return not _is_json(file.readline(FIRST_LINE_BYTES))
    except OSError:
        # The daemon says what is wrong with it.
        return True


def _is_binary(path: str) -> bool:
    """Whether a file begins as no text does."""
    try:
        with open_plain(with_real_folder(path)) as file:
            return b"\0" in file.read(FIRST_LINE_BYTES)
    except OSError:
        # The daemon says what is wrong with it.
        return False


def _is_json(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
