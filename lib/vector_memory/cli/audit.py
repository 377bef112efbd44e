"""`audit` and `jobs`: what was done, and what will be."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.dates import iso
from vector_memory.cli.options import Json, Since

TIMEOUT_S = 600.0


def audit(
    k: Annotated[int, typer.Option("-k", min=1, max=100_000, metavar="N", help="At most.")] = 50,
    since: Since = None,
    action: Annotated[
        str | None,
        typer.Option(metavar="ACTION", help="Only this: remember, store, recall, forget, purge …"),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Verify the whole chain, its older files too.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Show what was stored, shown, changed and forgotten, and by whom, newest first.

    An entry has ids and numbers, no words. Exit 1 when the log was changed.
    """
    payload = {
        **asking.target(all_projects=True),
        "k": k,
        "since": iso(since),
        "action": action,
        "verify": verify,
    }
    answer = asking.ask("audit", payload, TIMEOUT_S)
    _print(answer, "entries", "Nothing is logged.", as_json)
    if not as_json:
        _tell(answer, verify)
    return 0 if answer.get("intact", True) else 1


def _tell(answer: dict[str, Any], verified: bool) -> None:
    if not answer.get("intact", True):
        output.note(f"The audit log is not as it was written. {answer.get('problem', '')}".rstrip())
    elif verified:
        output.say("The whole audit log is as it was written.")


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
    if isinstance(value, list):
        value = ", ".join(str(one)[: output.ID_CHARS] for one in value)
    elif isinstance(value, dict):
        value = ", ".join(f"{name} {one}" for name, one in value.items())
    return "" if value is None else output.one_line(str(value), 120)
