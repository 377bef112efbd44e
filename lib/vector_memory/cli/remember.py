"""`remember`: store one memory."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.dates import at_command_line, iso
from vector_memory.cli.options import Global, Json, Project
from vector_memory.model import Priority

SAID = {
    "stored": "Stored",
    "merged": "Already known, merged with",
    "superseded": "Stored; it replaces an older memory:",
    "linked": "Stored, linked to what is like it:",
    "proposed": "Waits for the user (`vector-memory review`):",
}


def remember(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to keep; - reads stdin.")],
    kind: Annotated[
        str,
        typer.Option(
            metavar="KIND", help="note, decision, fact, preference, todo, or a word of yours."
        ),
    ] = "note",
    tag: Annotated[
        list[str] | None,
        typer.Option(metavar="TAG", help="A tag; may be given again."),
    ] = None,
    priority: Annotated[
        Priority | None,
        typer.Option(case_sensitive=False, help="How much it matters; NORMAL without it."),
    ] = None,
    project: Project = None,
    only_global: Global = False,
    at: Annotated[
        datetime | None,
        typer.Option(metavar="DATE", parser=at_command_line, help="When it was so; now."),
    ] = None,
    supersedes: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The older memory that this one replaces."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Store a memory. Secrets are taken out before anything is written."""
    payload = {
        **asking.target(project, only_global),
        "text": asking.text_of(text),
        "kind": kind,
        "tags": tag or [],
        "priority": priority.value if priority else None,
        "at": iso(at),
        "supersedes": supersedes,
    }
    answer = asking.ask("remember", payload)
    if as_json:
        output.document(answer)
    else:
        _say(answer)


def _say(answer: dict[str, Any]) -> None:
    action = str(answer.get("action", "stored"))
    output.say(f"{SAID.get(action, action)} {answer.get('id', '')}")
    redactions = answer.get("redactions")
    count = len(redactions) if isinstance(redactions, (list, dict)) else int(redactions or 0)
    if count:
        output.note(f"{count} secret{'s' if count > 1 else ''} left out.")
    for line in _told(answer):
        output.note(line)


def _told(answer: dict[str, Any]) -> list[str]:
    """Return what the memory is to others, and what would settle it."""
    lines = []
    for one in answer.get("links") or ():
        why = f" ({one['reason']})" if one.get("reason") else ""
        text = output.one_line(str(one.get("text", "")), 100)
        lines.append(f"{one['relation']} {str(one['id'])[: output.ID_CHARS]}{why}: {text}")
    if suggestion := answer.get("suggestion"):
        lines.append(f"If it replaces the older one: {suggestion['if_replaced']}")
        lines.append(f"If both hold: {suggestion['if_both_hold']}")
    if suggested := answer.get("suggested_priority"):
        identity = str(answer.get("id", ""))[: output.ID_CHARS]
        lines.append(f"It looks {suggested}: vector-memory edit {identity} --priority {suggested}")
    return lines
