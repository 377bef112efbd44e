"""`backup` and `restore`: all memories as one file, and back."""

from __future__ import annotations

from typing import Annotated

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row
from vector_memory.cli.progress import ask_long

TIMEOUT_S = 6 * 3600.0


def backup(
    target: Annotated[
        str | None,
        options.argument("DIR|FILE", "Where to; backups/ in the data home.", show_default=False),
    ] = None,
    with_vectors: Annotated[
        bool, options.switch("With the vectors, which can be made again.", "--with-vectors")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Write every memory, the state, the settings and the archives into one file.

    Writing goes on meanwhile. The file is read again before it counts.
    """
    path = None if target is None else asking.path_of(target)
    answer = ask_long(
        "backup", asking.everywhere(), as_json, TIMEOUT_S, path=path, with_vectors=with_vectors
    )
    output.answer(answer, as_json, _say)


def _say(answer: Row) -> None:
    size = f"{answer.count('bytes') / 1e6:.1f} MB"
    output.say(f"{answer.count('memories')} memories, {size}: {answer.text('file')}")
    for folder, why in answer.row("left_out").fields.items():
        output.note(f"Left out: {folder}: {why}")


def restore(
    file: Annotated[str, options.argument("FILE", "What `backup` wrote.")],
    yes: options.Yes = False,
    dry_run: Annotated[bool, options.switch("Only show what it would do.", "--dry-run")] = False,
    no_wait: options.NoWait = False,
    as_json: options.Json = False,
) -> None:
    """Put a backup in the place of what is there.

    It is read through and shown first; then it asks. What was there is set aside, not deleted.
    """
    path, where = asking.path_of(file), asking.everywhere()
    contents = ask_long("restore", where, as_json, TIMEOUT_S, path=path, dry_run=True)
    if not as_json:
        _show(contents)
    if dry_run:
        if as_json:
            output.document({**contents.fields, "restored": False})
        return
    if not yes:
        asking.confirm("Put it in the place of what is there now?", "restored")
    daemon = asking.daemon()
    ask_long("restore", where, as_json, TIMEOUT_S, path=path, dry_run=False)
    daemon.wait_gone()
    done = asking.ask("restored", {})
    if not no_wait:
        ask_long("wait", {"timeout_s": TIMEOUT_S}, as_json, TIMEOUT_S)
    output.answer(Row({**done.fields, "restored": True}), as_json, _finish)


def _show(contents: Row) -> None:
    made = f"{contents.day('made_at')} by version {contents.text('version')}"
    output.say(f"A backup of {made}: {contents.count('memories')} memories")
    output.listing(contents.rows("stores"), STORE)


def _left_out(store: Row) -> str:
    why = store.text("left_out")
    return why and f"left out: {why}"


STORE: dict[str, output.Cell] = {
    "store": lambda store: store.text("folder"),
    "memories": lambda store: store.text("memories"),
    "": _left_out,
}


def _finish(done: Row) -> None:
    output.say(f"Restored: {done.count('memories')} memories")
    for aside in done.texts("aside"):
        output.say(f"What was there is in {aside}")
