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
    priority: Annotated[Priority, typer.Option(case_sensitive=False)] = Priority.NORMAL,
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
        "priority": priority.value,
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
