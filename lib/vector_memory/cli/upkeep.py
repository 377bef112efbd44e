"""`rebuild`, `check` and `migrate`: the search index against the journal."""

from __future__ import annotations

from typing import Annotated

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row
from vector_memory.cli.progress import ask_long

TIMEOUT_S = 24 * 3600.0


def rebuild(as_json: options.Json = False) -> None:
    """Build the search index anew from the journal. Vectors come from the cache."""
    output.answer(_ask("rebuild", {}, as_json), as_json, _rebuilt)


def _rebuilt(answer: Row) -> None:
    figures = ", ".join(f"{name} {value}" for name, value in answer.fields.items())
    output.say(f"Rebuilt: {figures or 'done'}")
    output.unopened(answer)
    for path in answer.texts("strays"):
        output.note(f"{path} is not ours and was left alone.")


def check(
    read_data: Annotated[
        bool, options.switch("Read all data, not only what describes it.", "--read-data")
    ] = False,
    as_json: options.Json = False,
) -> int:
    """Check every store: journal and index.

    Exit 1 when something is wrong; it says what mends it.
    """
    answer = _ask("check", {"read_data": read_data}, as_json)
    output.answer(answer, as_json, _checked)
    return 0 if answer.flag("ok", not answer.count("problems")) else 1


def _checked(answer: Row) -> None:
    if problems := answer.rows("problems"):
        output.listing(problems, PROBLEM)
    else:
        output.say("Everything is as it should be.")


PROBLEM = {
    "store": output.field("store"),
    "problem": output.field("what"),
    "fix": output.field("fix"),
}


def migrate(as_json: options.Json = False) -> None:
    """Embed every memory with the configured model."""
    output.answer(_ask("migrate", {}, as_json), as_json, _migrated)


def _migrated(answer: Row) -> None:
    output.say(f"{answer.count('embedded')} memories embedded by {answer.text('model')}")


def _ask(verb: str, more: asking.Said, as_json: bool) -> Row:
    return ask_long(verb, asking.said(asking.everywhere(), more), as_json, TIMEOUT_S)
