"""`export`: memories as JSON lines."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Annotated, Any

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.options import Global, Json, Project
from vector_memory.cli.progress import follow
from vector_memory.errors import BadInputError


def export(
    file: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to; stdout."),
    ] = None,
    project: Project = None,
    only_global: Global = False,
    everything: Annotated[bool, typer.Option("--all", help="Every project.")] = False,
    as_json: Json = False,
) -> None:
    """Write memories as JSON lines that `import` takes back.

    Lines on stdout are JSON anyway; --json with --output prints how many were written.
    """
    import json

    stream = asking.daemon().stream("export", asking.target(project, only_global, everything))

    def write(target: IO[str]) -> dict[str, Any]:
        def line(item: dict[str, Any]) -> None:
            target.write(json.dumps(item, ensure_ascii=False) + "\n")

        return follow(stream, quiet=file is None or as_json, item=line)

    if file is None:
        write(sys.stdout)
        return
    with replacing(os.path.abspath(os.path.expanduser(file))) as target:
        answer = write(target)
    if as_json:
        output.document({**answer, "file": os.path.abspath(os.path.expanduser(file))})
    else:
        output.say(f"Exported {answer.get('exported', 0)} memories to {file}")


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
