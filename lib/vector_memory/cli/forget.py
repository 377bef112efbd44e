"""`forget`: show what would go, ask, and let it go."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Annotated, Any

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.dates import iso
from vector_memory.cli.options import AllProjects, Global, Json, Project, Since, Until, Yes
from vector_memory.errors import BadInputError


def forget(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help="Ids, or how they begin.", show_default=False),
    ] = None,
    query: Annotated[
        str | None,
        typer.Option(metavar="QUERY", help="What recall finds for this; - reads stdin."),
    ] = None,
    k: Annotated[
        int, typer.Option("-k", min=1, max=1000, metavar="N", help="At most, with --query.")
    ] = 5,
    tag: Annotated[
        str | None,
        typer.Option(metavar="TAG", help="What has this tag."),
    ] = None,
    since: Since = None,
    until: Until = None,
    project: Project = None,
    only_global: Global = False,
    all_projects: AllProjects = False,
    yes: Yes = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would go.")] = False,
    as_json: Json = False,
) -> None:
    """Forget memories, by id, query, tag or date. They are shown first; then it asks."""
    where = asking.target(project, only_global, all_projects)
    chosen = _selection(ids or [], query, k, tag, since, until)
    if ids:
        where = asking.target(all_projects=True)
        chosen = {"ids": [_full_id(where, one) for one in ids]}
    found = asking.ask("forget", {**where, **chosen, "dry_run": True})
    memories: list[dict[str, Any]] = found.get("memories", [])
    if not as_json:
        _show(memories)
    if dry_run or not memories:
        _finish({"memories": memories, "forgotten": 0}, as_json)
        return
    if not yes:
        _confirm(len(memories))
    # What was shown is what goes, even if the query would find something else by now.
    shown = {"ids": [memory["id"] for memory in memories], "dry_run": False}
    _finish(asking.ask("forget", {**asking.target(all_projects=True), **shown}), as_json)


def _selection(
    ids: list[str],
    query: str | None,
    k: int,
    tag: str | None,
    since: datetime | None,
    until: datetime | None,
) -> dict[str, Any]:
    ways = [bool(ids), query is not None, tag is not None, bool(since or until)]
    if sum(ways) != 1:
        raise typer.BadParameter(
            "Name memories in one way: ID…, --query, --tag, or --since/--until."
        )
    if query is not None:
        return {"query": asking.text_of(query), "k": k}
    return {"tag": tag} if tag else {"since": iso(since), "until": iso(until)}


def _full_id(where: dict[str, Any], beginning: str) -> str:
    return str(asking.ask("get", {**where, "id": beginning})["memory"]["id"])


def _show(memories: list[dict[str, Any]]) -> None:
    if memories:
        output.memories(memories)
    else:
        output.say("Nothing matches.")


def _confirm(count: int) -> None:
    if not sys.stdin.isatty():
        raise BadInputError(
            "Nothing was forgotten: there is no terminal to ask on.",
            "Look with --dry-run, then say --yes.",
        )
    what = "this memory" if count == 1 else f"these {count} memories"
    typer.confirm(f"Forget {what}?", abort=True, err=True)


def _finish(answer: dict[str, Any], as_json: bool) -> None:
    if as_json:
        output.document(answer)
    elif answer.get("forgotten"):
        output.say(f"Forgotten: {answer['forgotten']}")
