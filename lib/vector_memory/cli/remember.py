"""`remember`: store one memory."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated

import typer

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row
from vector_memory.cli.dates import at_command_line
from vector_memory.model import Priority

ACTIONS = {
    "stored": "Stored",
    "merged": "Already known, merged with",
    "superseded": "Stored; it replaces an older memory:",
    "linked": "Stored, linked to what is like it:",
    "proposed": "Waits for the user (`vector-memory review`):",
}


def remember(
    text: Annotated[str, options.argument("TEXT", "What to keep; - reads stdin.")],
    kind: Annotated[
        str, options.value("KIND", "note, decision, fact, preference, todo, or a word of yours.")
    ] = "note",
    tag: Annotated[list[str] | None, options.value("TAG", "A tag; may be given again.")] = None,
    priority: Annotated[
        Priority | None,
        typer.Option(case_sensitive=False, help="How much it matters; NORMAL without it."),
    ] = None,
    project: options.Project = None,
    only_global: options.Global = False,
    at: Annotated[
        datetime | None,
        typer.Option(metavar="DATE", parser=at_command_line, help="When it was so; now."),
    ] = None,
    supersedes: Annotated[
        str | None, options.value("ID", "The older memory that this one replaces.")
    ] = None,
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
    """Store a memory. Secrets are taken out before anything is written."""
    conditions: asking.Said = {"triggers": when} if when else {}
    answer = asking.ask(
        "remember",
        {
            **asking.target(project, only_global),
            **options.ageing(temporal, due, every, half_life, expires),
            **conditions,
        },
        text=asking.text_of(text),
        kind=kind,
        tags=tag,
        priority=priority,
        at=at,
        supersedes=supersedes,
        sensitivity=sensitivity,
        jurisdiction=jurisdiction,
    )
    output.answer(answer, as_json, _say)


def _say(answer: Row) -> None:
    action = answer.text("action", "stored")
    output.say(f"{ACTIONS.get(action, action)} {answer.text('id')}")
    if count := answer.count("redactions"):
        output.note(f"{count} secret{'s' if count > 1 else ''} left out.")
    for line in _notes(answer):
        output.note(line)


def _notes(answer: Row) -> Iterator[str]:
    """Yield what the memory is to others, and what would settle it."""
    for link in answer.rows("links"):
        reason = link.text("reason")
        why = f" ({reason})" if reason else ""
        yield f"{link.text('relation')} {link.id}{why}: {link.line('text', 100)}"
    if suggestion := answer.row("suggestion"):
        yield f"If it replaces the older one: {suggestion.text('if_replaced')}"
        yield f"If both hold: {suggestion.text('if_both_hold')}"
    if priority := answer.text("suggested_priority"):
        yield f"It looks {priority}: vector-memory edit {answer.id} --priority {priority}"
