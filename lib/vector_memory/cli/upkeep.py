"""`rebuild`, `check` and `migrate`: the search index against the journal."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.options import Json
from vector_memory.cli.progress import follow

TIMEOUT_S = 24 * 3600.0


def rebuild(as_json: Json = False) -> None:
    """Build the search index anew from the journal. Vectors come from the cache."""
    answer = _stream("rebuild", {}, as_json)
    if as_json:
        output.document(answer)
    else:
        output.say(f"Rebuilt: {_said(answer)}")
        output.unopened(answer)
        for path in answer.get("strays") or []:
            output.note(f"{path} is not ours and was left alone.")


def check(
    read_data: Annotated[
        bool, typer.Option("--read-data", help="Read all data, not only what describes it.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Check every store: journal and index.

    Exit 1 when something is wrong; it says what mends it.
    """
    answer = _stream("check", {"read_data": read_data}, as_json)
    problems = answer.get("problems") or []
    if as_json:
        output.document(answer)
    elif problems:
        output.table(("store", "problem", "fix"), [_problem(one) for one in problems])
    else:
        output.say("Everything is as it should be.")
    return 0 if answer.get("ok", not problems) else 1


def migrate(as_json: Json = False) -> None:
    """Embed every memory with the configured model."""
    answer = _stream("migrate", {}, as_json)
    if as_json:
        output.document(answer)
    else:
        output.say(f"{answer.get('embedded', 0)} memories embedded by {answer.get('model', '')}")


def _stream(verb: str, payload: dict[str, Any], as_json: bool) -> dict[str, Any]:
    whole = {**asking.target(all_projects=True), **payload}
    return follow(asking.daemon().stream(verb, whole, TIMEOUT_S), as_json)


def _problem(problem: dict[str, Any]) -> tuple[str, ...]:
    return tuple(output.one_line(str(problem.get(name, ""))) for name in ("store", "what", "fix"))


def _said(answer: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in answer.items()) or "done"
