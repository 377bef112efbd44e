"""`purge`: show what would be removed for good, ask, remove it, and show that it is gone."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.options import Json, Yes
from vector_memory.cli.progress import follow
from vector_memory.errors import BadInputError

TIMEOUT_S = 3_600.0
MOST_SHOWN = 20


def purge(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help="Ids, or how they begin.", show_default=False),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(
            metavar="WORDS", help="All that holds these words, in any case; - reads stdin."
        ),
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="All that one session has said.")
    ] = None,
    project: Annotated[
        str | None, typer.Option(metavar="DIR", help="All that belongs to a project.")
    ] = None,
    forgotten: Annotated[
        bool, typer.Option("--forgotten", help="What `forget` left in any file.")
    ] = False,
    backups: Annotated[
        bool, typer.Option("--backups", help="Delete the backups in the data home, too.")
    ] = False,
    yes: Yes = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would go.")] = False,
    as_json: Json = False,
) -> int:
    """Remove memories for good, from every copy and every file.

    It shows them, asks, and searches all files for their words afterwards. What is purged is not
    captured again. Exit 1 when a file still holds the words, or a store could not be opened.
    """
    chosen = _selection(ids or [], text, session, project, forgotten)
    found = _ask({**chosen, "dry_run": True}, as_json)
    if not as_json:
        _show(found, backups)
    if dry_run or _nothing(found):
        if as_json:
            output.document(found)
        return int(bool(found.get("unopened")) and not dry_run)
    if not yes:
        _confirm(found)
    answer = _ask({**chosen, "backups": backups}, as_json)
    if as_json:
        output.document(answer)
    else:
        _tell(answer)
    return 1 if answer.get("left") or answer.get("unopened") else 0


def _selection(
    ids: list[str], text: str | None, session: str | None, project: str | None, forgotten: bool
) -> dict[str, Any]:
    ways = [bool(ids), text is not None, session is not None, project is not None, forgotten]
    if sum(ways) != 1:
        raise typer.BadParameter(
            "Name what goes in one way: ID…, --text, --session, --project or --forgotten."
        )
    if text is not None:
        return {"text": asking.text_of(text)}
    if session is not None:
        return {"session": session}
    if project is not None:
        return {"dir": os.path.abspath(os.path.expanduser(project))}
    return {"forgotten": True} if forgotten else {"ids": ids}


def _ask(payload: dict[str, Any], quiet: bool) -> dict[str, Any]:
    whole = {**asking.target(all_projects=True), **payload}
    return follow(asking.daemon().stream("purge", whole, TIMEOUT_S), quiet)


def _nothing(found: dict[str, Any]) -> bool:
    """Whether there is nothing to do. What was forgotten may have left something that nobody sees."""
    return not (
        found.get("count") or found.get("left") or found.get("form") in ("session", "forgotten")
    )


def _show(found: dict[str, Any], with_backups: bool) -> None:
    output.unopened(found)
    if _nothing(found):
        output.say(f"Nothing holds it: {_searched(found)}.")
        output.say("What `edit` and `forget` left in the search index goes with --forgotten.")
        return
    memories = found.get("memories") or []
    if memories and found.get("form") != "forgotten":
        output.memories(memories[:MOST_SHOWN])
    more = int(found.get("count") or 0) - min(len(memories), MOST_SHOWN)
    if more > 0 and found.get("form") != "forgotten":
        output.say(f"… and {more:,} more")
    if found.get("form") == "forgotten":
        output.say(f"{found.get('count', 0):,} forgotten memories; every store is written anew.")
    _list("It stands in", found.get("left"))
    _list("Damaged copies that were set aside are deleted", found.get("set_aside"))
    said = (
        "Backups that are deleted"
        if with_backups
        else "Backups may hold it (--backups deletes them)"
    )
    _list(said, found.get("backups"))


def _confirm(found: dict[str, Any]) -> None:
    if not sys.stdin.isatty():
        raise BadInputError(
            "Nothing was purged: there is no terminal to ask on.",
            "Look with --dry-run, then say --yes.",
        )
    count = int(found.get("count") or 0)
    what = "this memory" if count == 1 else f"these {count:,} memories"
    typer.confirm(f"Purge {what}? Nothing brings them back.", abort=True, err=True)


def _tell(answer: dict[str, Any]) -> None:
    output.say(f"Purged: {answer.get('purged', 0):,}")
    _list("Words in logs were written over", answer.get("wiped"))
    for error in answer.get("errors") or []:
        output.note(error)
    _list("Not ours, and left alone", answer.get("strays"))
    left = answer.get("left") or []
    if left:
        _list("It still stands in", left)
        output.say("Stop what has these files open, then run the same purge again.")
    elif (answer.get("searched") or {}).get("pieces"):
        output.say(f"{_searched(answer)}: nothing left.")
    else:
        output.say("Nothing is known of the words that could be searched for.")
    _list("Deleted backups", answer.get("backups_deleted"))
    _list("Backups may still hold it (--backups deletes them)", answer.get("backups"))
    _list(
        "The client's own files may still hold it. They are not ours; what was purged is not captured "
        "from them again",
        answer.get("sources"),
    )


def _searched(answer: dict[str, Any]) -> str:
    told = answer.get("searched") or {}
    unread = len(told.get("unread") or [])
    beyond = f" ({unread} could not be read)" if unread else ""
    return f"searched {told.get('files', 0):,} files, {told.get('mb', 0)} MB{beyond}"


def _list(what: str, paths: list[str] | None) -> None:
    if paths:
        output.say(f"{what}:")
        for path in paths:
            output.say(f"  {output.plain(path)}")
