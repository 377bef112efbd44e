"""`export`: memories as JSON lines or as Markdown."""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import IO, Annotated, Any

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.options import Global, Json, Project
from vector_memory.cli.progress import follow
from vector_memory.errors import BadInputError


class Format(str, Enum):
    """How an export is written."""

    JSONL = "jsonl"
    MARKDOWN = "markdown"


def export(
    file: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to; stdout."),
    ] = None,
    format: Annotated[
        Format, typer.Option("--format", help="JSON lines, or Markdown for people.")
    ] = Format.JSONL,
    project: Project = None,
    only_global: Global = False,
    everything: Annotated[bool, typer.Option("--all", help="Every project.")] = False,
    as_json: Json = False,
) -> None:
    """Write memories as JSON lines or Markdown that `import` takes back.

    Lines on stdout are JSON anyway; --json with --output prints how many were written, and Markdown
    on stdout as one JSON document.
    """
    where = asking.target(project, only_global, everything)
    stream = asking.daemon().stream("export", {**where, "format": format.value})

    def write(target: IO[str]) -> dict[str, Any]:
        return follow(stream, quiet=file is None or as_json, item=lambda one: _write(target, one))

    if file is None:
        if as_json and format is Format.MARKDOWN:
            _document(write)
        else:
            write(sys.stdout)
        return
    with replacing(os.path.abspath(os.path.expanduser(file))) as target:
        answer = write(target)
    if as_json:
        output.document({**answer, "file": os.path.abspath(os.path.expanduser(file))})
    else:
        output.say(f"Exported {answer.get('exported', 0)} memories to {file}")


def _write(target: IO[str], item: dict[str, Any]) -> None:
    import json

    whole = item.get("markdown")
    target.write(json.dumps(item, ensure_ascii=False) + "\n" if whole is None else str(whole))


def _document(write: Callable[[IO[str]], dict[str, Any]]) -> None:
    text = io.StringIO()
    answer = write(text)
    output.document({**answer, "markdown": text.getvalue()})


@contextmanager
def replacing(path: str) -> Iterator[IO[str]]:
    """Give a file, 0600, that takes the place of `path` when all is written.

    Raises:
        BadInputError: the folder cannot be written.
    """
    try:
        descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".export-")
    except OSError as error:
        raise BadInputError(f"{path}: {error.strerror}.", "Choose another file.") from error
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            yield file
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
