"""`purge`: show what would be removed for good, ask, remove it, and show that it is gone."""

from __future__ import annotations

from vector_memory.cli import asking, output
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation

MOST_SHOWN = 20


def purge(
    call: Invocation,
    ids: list[str] | None,
    text: str | None,
    session: str | None,
    dir: str | None,
    forgotten: bool,
    backups: bool,
    certificate: bool,
    yes: bool,
    dry_run: bool,
) -> int:
    """Remove for good what is named in one way, after it was shown; return 1 where something is left of it.

    Raises:
        BadParameter: it is named in no way, or in several.
    """
    asking.require_one(
        "Name what goes in one way: ID…, --text, --session, --project or --forgotten.",
        ids, text, session, dir, forgotten,
    )  # fmt: skip
    preview = call.ask(dry_run=True)
    if not call.as_json:
        _show(preview, backups)
    if dry_run or _is_empty(preview, backups):
        if call.as_json:
            output.document(preview)
        return int(preview.flag("unopened") and not dry_run)
    if not yes:
        count = preview.count("count")
        memories = output.these(count) if count else "what is named here"
        asking.confirm(f"Purge {memories}? Nothing brings them back.", "purged")
    options: asking.Request = {"certificate": True, **asking.keys()} if certificate else {}
    answer = call.ask(**options, backups=backups)
    call.show(answer, _say)
    return int(any(map(answer.flag, ("left", "unopened", "still_shared", "errors"))))


def _is_empty(preview: Row, with_backups: bool) -> bool:
    """Whether there is nothing to do. What was forgotten may have left something that nobody sees, and so may
    what is in a backup."""
    return not (
        preview.count("count")
        or preview.flag("left")
        or (with_backups and preview.flag("backups"))
        or preview.text("form") in ("session", "forgotten")
    )


def _show(preview: Row, with_backups: bool) -> None:
    output.unopened(preview)
    memories, count = preview.rows("memories"), preview.count("count")
    if _is_empty(preview, with_backups=False):
        beside = "Nothing but a backup may hold" if preview.flag("backups") else "Nothing holds"
        output.say(f"{beside} it: {_searched_text(preview)}.")
        output.say("What `edit` and `forget` left in the search index goes with --forgotten.")
    elif preview.text("form") == "forgotten":
        output.say(f"{count:,} forgotten memories; every store is written anew.")
    else:
        if memories:
            output.listing(memories[:MOST_SHOWN], output.MEMORY)
        left_out = count - min(len(memories), MOST_SHOWN)
        if left_out > 0:
            output.say(f"… and {left_out:,} more")
    _list("It stands in", preview.texts("left"))
    if not _is_empty(preview, with_backups):
        _list("Damaged copies that were set aside are deleted", preview.texts("set_aside"))
    may_hold = "Backups may hold it (--backups deletes them)"
    _list("Backups that are deleted" if with_backups else may_hold, preview.texts("backups"))


def _say(answer: Row) -> None:
    output.say(f"Purged: {answer.count('purged'):,}")
    _list("Words in logs were written over", answer.texts("wiped"))
    for error in answer.texts("errors"):
        output.note(error)
    _list("Not ours, and left alone", answer.texts("strays"))
    if remaining := answer.texts("left"):
        _list("It still stands in", remaining)
        output.say(
            "Stop what has these files open, move away what is not ours, then run the same purge again."
        )
    elif answer.row("searched").flag("pieces"):
        output.say(f"{_searched_text(answer)}: nothing left.")
    else:
        output.say("Nothing is known of the words that could be searched for.")
    _list("Taken back from the teams of", answer.texts("taken_back"))
    failed = answer.row("still_shared")
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


def _searched_text(answer: Row) -> str:
    searched = answer.row("searched")
    unread = searched.count("unread")
    beyond = f" ({unread} could not be read)" if unread else ""
    return f"searched {searched.count('files'):,} files, {searched.text('mb', '0')} MB{beyond}"


def _list(title: str, paths: list[str]) -> None:
    if paths:
        output.say(f"{title}:")
    for path in paths:
        output.say(f"  {output.plain(path)}")
