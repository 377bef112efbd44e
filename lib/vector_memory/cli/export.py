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
from enum import Enum
from typing import IO, Annotated

import typer

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row
from vector_memory.cli.progress import ask_long
from vector_memory.errors import BadInputError


class Format(str, Enum):
    """How an export is written."""

    JSONL = "jsonl"
    MARKDOWN = "markdown"


def export(
    file: Annotated[
        str | None, options.value("FILE", "Where to; stdout.", "--output", "-o")
    ] = None,
    format: Annotated[
        Format, options.switch("JSON lines, or Markdown for people.", "--format")
    ] = Format.JSONL,
    project: options.Project = None,
    only_global: options.Global = False,
    everything: Annotated[bool, options.switch("Every project.", "--all")] = False,
    ceiling: options.Ceiling = None,
    to_vault: Annotated[
        bool, options.switch("Notes in the vault, one for each project.", "--vault")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Write memories as JSON lines or Markdown that `import` takes back.

    Lines on stdout are JSON anyway; --json with --output prints how many were written, and Markdown
    on stdout as one JSON document.
    """
    if to_vault:
        if file or project or only_global or everything or ceiling or format is Format.MARKDOWN:
            raise typer.BadParameter(
                "--vault writes a note of each project into the vault, and takes no other option."
            )
        answer = ask_long("export_vault", {}, as_json)
        output.answer(answer, as_json, _say_vault)
        return
    where = asking.target(project, only_global, everything)
    quiet = file is None or as_json

    def write(out: IO[str]) -> Row:
        def write_item(item: Row) -> None:
            whole = item.fields.get("markdown")
            line = json.dumps(item.fields, ensure_ascii=False) + "\n"
            out.write(line if whole is None else str(whole))

        return ask_long("export", where, quiet, item=write_item, format=format, ceiling=ceiling)

    if file is not None:
        path = asking.path_of(file)
        with replacing(path) as out:
            answer = write(out)
        words = f"Exported {answer.count('exported')} memories to {file}"
        output.answer(Row({**answer.fields, "file": path}), as_json, lambda _: output.say(words))
    elif as_json and format is Format.MARKDOWN:
        text = io.StringIO()
        answer = write(text)
        output.document({**answer.fields, "markdown": text.getvalue()})
    else:
        write(sys.stdout)


def _say_vault(answer: Row) -> None:
    folder = answer.text("folder")
    output.say(
        f"{answer.count('notes')} notes of {answer.count('memories')} memories stand in {folder}"
    )
    for path in answer.texts("edited"):
        output.say(f"Left as it is, since you edited it: {path}")
        output.say(
            f"  `vector-memory import {shlex.quote(path)}` shows what would change, and asks"
        )
    for path in answer.texts("failed"):
        output.say(f"It could not be written: {path}")


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
