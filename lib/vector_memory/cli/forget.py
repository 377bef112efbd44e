"""`forget`: show what would go, ask, and let it go."""

from __future__ import annotations

from datetime import datetime

from vector_memory.cli import asking, output
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation


def forget(
    call: Invocation,
    ids: list[str] | None,
    query: str | None,
    k: int,
    tag: str | None,
    since: datetime | None,
    until: datetime | None,
    yes: bool,
    dry_run: bool,
) -> None:
    """Forget what is named in one way, after it was shown.

    Raises:
        BadParameter: it is named in no way, or in several.
    """
    dates = (since or until) and (since, until)
    asking.require_one(
        "Name memories in one way: ID…, --query, --tag, or --since/--until.", ids, query, tag, dates
    )
    if ids:
        forget_shown(call, {"ids": [memory.text("id") for memory in named(ids)]}, yes, dry_run)
    else:
        found_by = {"query": query, "k": k} if query is not None else {"tag": tag}
        chosen = asking.request_fields(call.where(), {**found_by, "since": since, "until": until})
        forget_shown(call, chosen, yes, dry_run)


def named(ids: list[str]) -> list[Row]:
    """Return memories by how their ids begin."""
    return [asking.ask("get", asking.everywhere(), id=id).row("memory") for id in ids]


def forget_shown(call: Invocation, chosen: asking.Request, yes: bool, dry_run: bool) -> None:
    """Show memories, ask, and forget them.

    Args:
        chosen: what says which, as part of a request.
        yes: do not ask.
        dry_run: only show them.
    """
    where = asking.everywhere()
    memories = asking.ask("forget", {**where, **chosen}, dry_run=True).rows("memories")
    if not call.as_json:
        output.listing(memories, output.MEMORY, "Nothing matches.")
    if dry_run or not memories:
        call.show(Row({"memories": memories, "forgotten": 0}), _show_forgotten)
        return
    if not yes:
        asking.confirm(f"Forget {output.these(len(memories))}?", "forgotten")
    # What was shown is what goes, even if the query would find something else by now.
    ids = [memory.text("id") for memory in memories]
    call.show(asking.ask("forget", where, ids=ids, dry_run=False), _show_forgotten)


def _show_forgotten(answer: Row) -> None:
    if count := answer.count("forgotten"):
        output.say(f"Forgotten: {count}")
