"""`forget`: show what would go, ask, and let it go."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row


def forget(
    ids: Annotated[
        list[str] | None, options.argument("ID", "Ids, or how they begin.", show_default=False)
    ] = None,
    query: Annotated[
        str | None, options.value("QUERY", "What recall finds for this; - reads stdin.")
    ] = None,
    k: Annotated[
        int, typer.Option("-k", min=1, max=1000, metavar="N", help="At most, with --query.")
    ] = 5,
    tag: Annotated[str | None, options.value("TAG", "What has this tag.")] = None,
    since: options.Since = None,
    until: options.Until = None,
    project: options.Project = None,
    only_global: options.Global = False,
    all_projects: options.AllProjects = False,
    yes: options.Yes = False,
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
) -> None:
    """Forget memories, by id, query, tag or date. They are shown first; then it asks."""
    where = asking.target(project, only_global, all_projects)
    chosen = _selection(ids or [], query, k, tag, since, until)
    if ids:
        where = asking.everywhere()
        memories = [asking.ask("get", where, id=beginning).row("memory") for beginning in ids]
        chosen = {"ids": [memory.text("id") for memory in memories]}
    memories = asking.ask("forget", asking.said(where, chosen), dry_run=True).rows("memories")
    if not as_json:
        _show(memories)
    if dry_run or not memories:
        _finish(Row({"memories": [memory.fields for memory in memories], "forgotten": 0}), as_json)
        return
    if not yes:
        what = "this memory" if len(memories) == 1 else f"these {len(memories)} memories"
        asking.confirm(f"Forget {what}?", "forgotten")
    # What was shown is what goes, even if the query would find something else by now.
    ids = [memory.text("id") for memory in memories]
    _finish(asking.ask("forget", asking.everywhere(), ids=ids, dry_run=False), as_json)


def _selection(
    ids: list[str],
    query: str | None,
    k: int,
    tag: str | None,
    since: datetime | None,
    until: datetime | None,
) -> asking.Said:
    ways = [bool(ids), query is not None, tag is not None, bool(since or until)]
    if sum(ways) != 1:
        raise typer.BadParameter(
            "Name memories in one way: ID…, --query, --tag, or --since/--until."
        )
    if query is not None:
        return {"query": asking.text_of(query), "k": k}
    return {"tag": tag} if tag else {"since": since, "until": until}


def _show(memories: list[Row]) -> None:
    if memories:
        output.memories(memories)
    else:
        output.say("Nothing matches.")


def _finish(answer: Row, as_json: bool) -> None:
    if as_json:
        output.document(answer.fields)
    elif count := answer.count("forgotten"):
        output.say(f"Forgotten: {count}")
