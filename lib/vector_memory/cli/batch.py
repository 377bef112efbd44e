"""`recall --batch`: JSON lines in, one line out each, in order."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from vector_memory.cli import asking, output
from vector_memory.errors import BadInputError, NotFoundError, VectorMemoryError
from vector_memory.system.files import bounded_lines

if TYPE_CHECKING:
    from vector_memory.client.link import DaemonClient

MOST_LINE_BYTES = 4 * 1024 * 1024
FIELDS = {
    "query": str, "k": int, "project": str, "all_projects": bool, "session": str, "kind": str,
    "tag": str, "entity": str, "since": str, "until": str,
}  # fmt: skip


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
    given = {name: question[name] for name in FIELDS if question.get(name) is not None}
    for name, value in given.items():
        _check(name, value)
    return _targeted(given)


def _check(name: str, value: object) -> None:
    fits = isinstance(value, FIELDS[name]) and not (FIELDS[name] is int and value is True)
    if not fits or (name == "k" and not 1 <= int(str(value)) <= 1000):
        raise BadInputError(f"{name} is not as it should be.", "k is 1 to 1000, project a folder.")


def _targeted(given: asking.Request) -> asking.Request:
    if "project" in given:
        folder = asking.path_of(str(given["project"]))
        return {**given, "project": folder, "global": False, "all_projects": False}
    if given.get("all_projects"):
        return {**given, "project": None, "global": False}
    return given
