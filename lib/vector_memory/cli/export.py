"""`export`: memories as JSON lines or as Markdown."""

from __future__ import annotations

import io
import json
import os
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import PLACES, Invocation
from vector_memory.cli.progress import ask_long
from vector_memory.errors import BadInputError


def export(call: Invocation, file: str | None, format: str, vault: bool) -> None:
    """Write memories into a file or on stdout, or as notes of the vault.

    Raises:
        BadParameter: it is for the vault, and something else was said.
    """
    if vault:
        other_options = (file, format == "markdown", *map(call.values.get, (*PLACES, "ceiling")))
        if any(other_options):
            raise typer.BadParameter(
                "--vault writes a note of each project into the vault, and takes no other option."
            )
        call.show(ask_long("export_vault", {}, call.as_json), _say_vault)
        return
    file = None if file == asking.STDIN else file
    quiet = file is None or call.as_json

    def write(out: IO[str]) -> Row:
        def write_item(item: Row) -> None:
            markdown = item.get("markdown")
            line = json.dumps(item, ensure_ascii=False) + "\n"
            out.write(line if markdown is None else str(markdown))

        return ask_long("export", call.request(), quiet, item=write_item)

    if file is not None:
        path = asking.path_of(file)
        with replacing(path) as out:
            answer = write(out)
        words = f"Exported {output.memories(answer.count('exported'))} to {file}"
        call.say(Row({**answer, "file": path}), words)
    elif call.as_json and format == "markdown":
        text = io.StringIO()
        answer = write(text)
        output.document({**answer, "markdown": text.getvalue()})
    else:
        write(sys.stdout)


def _say_vault(answer: Row) -> None:
    folder = answer.text("folder")
    output.say(
        f"{answer.count('notes')} notes of {output.memories(answer.count('memories'))} stand in {folder}"
    )
    for path in answer.texts("edited"):
        output.say(f"Left as it is, since you edited it: {path}")
        output.say(
            f"  `vector-memory import {shlex.quote(path)}` shows what would change, asks, and names the lines that it "
            "does not read: undo these, or move them out of the section"
        )
    for path in answer.texts("failed"):
        output.say(f"It could not be written: {path}")


@contextmanager
def replacing(path: str) -> Iterator[IO[str]]:
    """Give a file, 0600, that takes the place of `path` when all is written; what is no file, such as a pipe or a
    device, is written to and stays what it is.

    Raises:
        BadInputError: the folder cannot be written, or what is there.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        try:
            with open(path, "w", encoding="utf-8", errors="backslashreplace") as stream:
                yield stream
        except OSError as error:
            raise BadInputError(f"{path}: {error.strerror}.", "Choose another file.") from error
        return
    # A link stays one: where stdout is a file, /dev/stdout leads there.
    path = os.path.realpath(path)
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
