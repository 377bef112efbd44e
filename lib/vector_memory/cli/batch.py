"""`recall --batch`: JSON lines in, one line out each, in order."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from vector_memory.arguments import NUMBER, YES, Argument, checked
from vector_memory.cli import asking, output
from vector_memory.errors import BadInputError, NotFoundError, VectorMemoryError
from vector_memory.system.files import bounded_lines

if TYPE_CHECKING:
    from vector_memory.client.link import DaemonClient

MOST_LINE_BYTES = 4 * 1024 * 1024
FIELDS = (
    Argument("k", NUMBER, low=1, high=1_000),
    Argument("all_projects", YES),
    *map(Argument, ("query", "project", "session", "kind", "tag", "entity", "since", "until")),
)


def answer_lines(path: str, request: asking.Request) -> None:
    """Answer every line of a file (`-` is stdin) with one line on stdout. Blank lines are none.

    Args:
        path: the file of questions.
        request: what holds for lines that do not say otherwise.

    Raises:
        NotFoundError: there is no such file.
    """
    daemon = asking.daemon()
    for line in _lines(path):
        if line.strip():
            output.document(_answer(daemon, line, request))
            sys.stdout.flush()


def _lines(path: str) -> Iterator[bytes]:
    if path == asking.STDIN:
        yield from bounded_lines(sys.stdin.buffer, MOST_LINE_BYTES)
        return
    try:
        # A pipe will do here: whoever asks may let another program write the questions.
        with open(path, "rb") as file:
            yield from bounded_lines(file, MOST_LINE_BYTES)
    except OSError as error:
        raise NotFoundError(
            f"{path} cannot be read: {error.strerror}.", "Name a file of JSON lines."
        ) from error


def _answer(daemon: DaemonClient, line: bytes, request: asking.Request) -> Mapping[str, object]:
    try:
        return daemon.ask("recall", {**request, **parse(line)})
    except VectorMemoryError as error:
        return {"hits": [], "error": error.message, "hint": error.hint}


def parse(line: bytes) -> asking.Request:
    """Return what one line asks for, as part of a request.

    Raises:
        BadInputError: it is no question.
    """
    try:
        question = json.loads(line.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        raise BadInputError("The line is no JSON.", 'Write {"query": "…"} on one line.') from error
    if not isinstance(question, dict) or not str(question.get("query") or "").strip():
        raise BadInputError("The line has no query.", 'Write {"query": "…"} on one line.')
    names = (field.name for field in FIELDS if question.get(field.name) is not None)
    values = checked(FIELDS, {name: question[name] for name in names})
    if "project" in values:
        folder = asking.path_of(str(values["project"]))
        return {**values, "project": folder, "global": False, "all_projects": False}
    if values.get("all_projects"):
        return {**values, "project": None, "global": False}
    return values
