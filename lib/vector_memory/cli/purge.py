"""`purge`: show what would be removed for good, ask, remove it, and show that it is gone."""

from __future__ import annotations

from typing import Annotated

import typer

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row
from vector_memory.cli.progress import ask_long

TIMEOUT_S = 3_600.0
MOST_SHOWN = 20


def purge(
    ids: Annotated[
        list[str] | None, options.argument("ID", "Ids, or how they begin.", show_default=False)
    ] = None,
    text: Annotated[
        str | None,
        options.value("WORDS", "All that holds these words, in any case; - reads stdin."),
    ] = None,
    session: Annotated[str | None, options.value("ID", "All that one session has said.")] = None,
    project: Annotated[str | None, options.value("DIR", "All that belongs to a project.")] = None,
    forgotten: Annotated[
        bool, options.switch("What `forget` left in any file.", "--forgotten")
    ] = False,
    backups: Annotated[
        bool, options.switch("Delete the backups in the data home, too.", "--backups")
    ] = False,
    certificate: Annotated[
        bool,
        options.switch(
            "Write a signed proof that names no words, and take back what teams were given.",
            "--certificate",
        ),
    ] = False,
    yes: options.Yes = False,
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
) -> int:
    """Remove memories for good, from every copy and every file.

    It shows them, asks, and searches all files for their words afterwards. What is purged is not
    captured again. Exit 1 when a file still holds the words, or a store could not be opened.
    """
    chosen = _selection(ids or [], text, session, project, forgotten)
    where = {**asking.everywhere(), **chosen}
    preview = ask_long("purge", where, as_json, TIMEOUT_S, dry_run=True)
    if not as_json:
        _show(preview, backups)
    if dry_run or _is_empty(preview):
        if as_json:
            output.document(preview.fields)
        return int(preview.flag("unopened") and not dry_run)
    if not yes:
        count = preview.count("count")
        what = "this memory" if count == 1 else f"these {count:,} memories"
        asking.confirm(f"Purge {what}? Nothing brings them back.", "purged")
    more: asking.Said = {"certificate": True, **asking.keys()} if certificate else {}
    answer = ask_long("purge", {**where, **more}, as_json, TIMEOUT_S, backups=backups)
    output.answer(answer, as_json, _say)
    return int(any(map(answer.flag, ("left", "unopened", "still_shared"))))


def _selection(
    ids: list[str], text: str | None, session: str | None, project: str | None, forgotten: bool
) -> asking.Said:
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
        return {"dir": asking.path_of(project)}
    return {"forgotten": True} if forgotten else {"ids": ids}


def _is_empty(preview: Row) -> bool:
    """Whether there is nothing to do. What was forgotten may have left something that nobody sees."""
    return not (
        preview.count("count")
        or preview.flag("left")
        or preview.text("form") in ("session", "forgotten")
    )


def _show(preview: Row, with_backups: bool) -> None:
    output.unopened(preview)
    if _is_empty(preview):
        output.say(f"Nothing holds it: {_searched(preview)}.")
        output.say("What `edit` and `forget` left in the search index goes with --forgotten.")
        return
    memories, count = preview.rows("memories"), preview.count("count")
    if preview.text("form") == "forgotten":
        output.say(f"{count:,} forgotten memories; every store is written anew.")
    else:
        if memories:
            output.memories(memories[:MOST_SHOWN])
        more = count - min(len(memories), MOST_SHOWN)
        if more > 0:
            output.say(f"… and {more:,} more")
    _list("It stands in", preview.texts("left"))
    _list("Damaged copies that were set aside are deleted", preview.texts("set_aside"))
    may_hold = "Backups may hold it (--backups deletes them)"
    _list("Backups that are deleted" if with_backups else may_hold, preview.texts("backups"))


def _say(answer: Row) -> None:
    output.say(f"Purged: {answer.count('purged'):,}")
    _list("Words in logs were written over", answer.texts("wiped"))
    for error in answer.texts("errors"):
        output.note(error)
    _list("Not ours, and left alone", answer.texts("strays"))
    if left := answer.texts("left"):
        _list("It still stands in", left)
        output.say("Stop what has these files open, then run the same purge again.")
    elif answer.row("searched").flag("pieces"):
        output.say(f"{_searched(answer)}: nothing left.")
    else:
        output.say("Nothing is known of the words that could be searched for.")
    _list("Taken back from the teams of", answer.texts("taken_back"))
    failed = answer.row("still_shared").fields
    _list("Still shared", [f"{root}: {why}" for root, why in failed.items()])
    if answer.text("certificate"):
        output.say(f"Proof, for `vector-memory proof verify`: {answer.text('certificate')}")
    _list("Deleted backups", answer.texts("backups_deleted"))
    _list("Backups may still hold it (--backups deletes them)", answer.texts("backups"))
    _list(
        "The client's own files may still hold it. They are not ours; what was purged is not captured "
        "from them again",
        answer.texts("sources"),
    )


def _searched(answer: Row) -> str:
    searched = answer.row("searched")
    unread = searched.count("unread")
    beyond = f" ({unread} could not be read)" if unread else ""
    return f"searched {searched.count('files'):,} files, {searched.text('mb', '0')} MB{beyond}"


def _list(what: str, paths: list[str]) -> None:
    if paths:
        output.say(f"{what}:")
    for path in paths:
        output.say(f"  {output.plain(path)}")
