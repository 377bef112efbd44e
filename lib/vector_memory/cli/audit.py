"""`audit` and `jobs`: what was done, and what will be."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.dates import iso
from vector_memory.cli.options import Json, Since


def audit(
    k: Annotated[int, typer.Option("-k", min=1, max=100_000, metavar="N", help="At most.")] = 50,
    since: Since = None,
    as_json: Json = False,
) -> None:
    """Show what was stored, changed and forgotten, newest first."""
    answer = asking.ask("audit", {**asking.target(all_projects=True), "k": k, "since": iso(since)})
    _print(answer, "entries", "Nothing is logged.", as_json)


def jobs(as_json: Json = False) -> None:
    """Show the upkeep jobs and when they run."""
    answer = asking.ask("jobs", asking.target(all_projects=True))
    _print(answer, "jobs", "No jobs are scheduled yet.", as_json)


def _print(answer: dict[str, Any], name: str, nothing: str, as_json: bool) -> None:
    entries = answer.get(name) or []
    if as_json:
        output.document(answer)
    elif not entries:
        output.say(nothing)
    else:
        columns = list(dict.fromkeys(key for entry in entries for key in entry))
        output.table(columns, [[_cell(entry.get(key)) for key in columns] for entry in entries])


def _cell(value: object) -> str:
    return "" if value is None else output.one_line(str(value), 120)
