"""`edit`: change a memory."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from typing import Annotated

import typer

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row
from vector_memory.errors import BadInputError
from vector_memory.model import Priority
from vector_memory.system.paths import Home


def edit(
    memory_id: options.TheMemoryId,
    text: Annotated[str | None, options.value("TEXT", "The new text; - reads stdin.")] = None,
    kind: Annotated[str | None, options.value("KIND", "The new kind.")] = None,
    tag: Annotated[
        list[str] | None,
        options.value("TAG", "The new tags; may be given again. An empty one: none."),
    ] = None,
    priority: Annotated[Priority | None, typer.Option(case_sensitive=False)] = None,
    when: options.When = None,
    temporal: options.Temporal = None,
    due: options.Due = None,
    every: options.Every = None,
    half_life: options.HalfLife = None,
    expires: options.Expires = None,
    sensitivity: options.Sensitivity = None,
    jurisdiction: options.Jurisdiction = None,
    as_json: options.Json = False,
) -> None:
    """Change a memory. Without options, its text is opened in $EDITOR."""
    where: asking.Said = {**asking.everywhere(), "id": memory_id}
    change: asking.Said = {
        "text": None if text is None else asking.text_of(text),
        "kind": kind,
        "tags": None if tag is None else [name for name in tag if name],
        "priority": priority,
        "sensitivity": sensitivity,
        "jurisdiction": jurisdiction,
        "triggers": None if when is None else [one for one in when if one],
        **options.ageing(temporal, due, every, half_life, expires),
    }
    change = {name: value for name, value in change.items() if value is not None}
    if not change:
        answer = asking.ask("get", where)
        memory = answer.row("memory")
        where, change = {**where, "id": memory.text("id")}, {"text": in_editor(memory.text("text"))}
        if change["text"] == memory.text("text"):
            output.note("Nothing was changed.")
            output.answer(answer, as_json, lambda _: None)
            return
    output.answer(asking.ask("edit", asking.said(where, change)), as_json, _say)


def _say(answer: Row) -> None:
    output.say(f"Changed {answer.row('memory').text('id')}")
    if answer.text("action") == "proposed":
        output.say("Its new weight waits for the user: `vector-memory review`.")


def in_editor(text: str) -> str:
    """Return the text as the user leaves it in $VISUAL or $EDITOR.

    Raises:
        BadInputError: there is no editor, it failed, or it left nothing.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise BadInputError("There is no $EDITOR.", "Say what to change with --text or --kind.")
    folder = Home().make().run
    descriptor, path = tempfile.mkstemp(dir=folder, prefix="edit-", suffix=".md")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        code = subprocess.call([*shlex.split(editor), path])
        with open(path, encoding="utf-8", errors="replace") as file:
            changed = file.read().strip()
    except (OSError, ValueError) as error:
        raise BadInputError(f"{editor} does not start: {error}.", "Set $EDITOR.") from error
    finally:
        os.unlink(path)
    if code or not changed:
        reason = f"{editor} ended with {code}." if code else "The text was empty."
        raise BadInputError(reason, "The memory stays as it was. `forget` removes one.")
    return changed
