"""`flags`: what the observer found in sessions."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.dates import iso
from vector_memory.cli.options import AllProjects, Json, Project, Session, Since


def flags(
    k: Annotated[int, typer.Option("-k", min=1, max=100_000, metavar="N", help="At most.")] = 100,
    session: Session = None,
    since: Since = None,
    category: Annotated[
        list[str] | None,
        typer.Option(
            "--category", metavar="NAME", help="Only this, such as `delete`; may be given again."
        ),
    ] = None,
    project: Project = None,
    all_projects: AllProjects = False,
    as_json: Json = False,
) -> None:
    """Show which tool calls destroyed something or led away from what was asked, newest first.

    `asked` marks those that the user's own words asked for. `config set observer warn` has the agent told
    of the grave ones; `off` ends it.
    """
    payload = {
        **asking.target(project, all_projects=all_projects),
        "k": k,
        "session": session or [],
        "since": iso(since),
        "category": category or [],
    }
    answer = asking.ask("flags", payload)
    found: list[dict[str, Any]] = answer.get("flags", [])
    if as_json:
        output.document(answer)
    elif not found:
        output.say("Nothing was flagged.")
    else:
        output.table(("date", "session", "what", "call", "why"), map(_row, found))
        output.say(
            f"{len(found)} of {answer.get('total', len(found))}: {told(answer.get('counts') or {})}."
        )


def told(counts: dict[str, int]) -> str:
    """Return counts by category in words."""
    return ", ".join(f"{n:,} {name}" for name, n in counts.items())


def _row(flag: dict[str, Any]) -> tuple[str, ...]:
    marks = [
        str(flag.get("category", "")),
        str(flag.get("severity", "")),
        "asked" if flag.get("asked") else "",
    ]
    return (
        output.day(flag.get("at")),
        str(flag.get("session", ""))[: output.ID_CHARS],
        " ".join(one for one in marks if one),
        output.one_line(str(flag.get("text", "")), 70),
        output.one_line(str(flag.get("reason", "")), 110),
    )
