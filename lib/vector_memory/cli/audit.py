"""`audit`: what was done, and by whom."""

from __future__ import annotations

from typing import Annotated

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row

TIMEOUT_S = 600.0
SHOWN = 2
"""Of the ids of an entry so many are shown; --json has them all."""


def audit(
    k: Annotated[int, options.at_most(100_000)] = 50,
    since: options.Since = None,
    action: Annotated[
        str | None, options.value("ACTION", "Only this: remember, store, recall, forget, purge …")
    ] = None,
    verify: Annotated[
        bool, options.switch("Verify the whole chain, its older files too.", "--verify")
    ] = False,
    as_json: options.Json = False,
) -> int:
    """Show what was stored, shown, changed and forgotten, and by whom, newest first.

    An entry has ids and numbers, no words. Exit 1 when the log was changed.
    """
    where = asking.everywhere()
    answer = asking.ask("audit", where, TIMEOUT_S, k=k, since=since, action=action, verify=verify)
    output.answer(answer, as_json, lambda answer: _show(answer, verify))
    return 0 if answer.flag("intact", True) else 1


def _show(answer: Row, verified: bool) -> None:
    _table(answer.rows("entries"), "Nothing is logged.")
    if not answer.flag("intact", True):
        output.note(f"The audit log is not as it was written. {answer.text('problem')}".rstrip())
    elif verified:
        output.say("The whole audit log is as it was written.")


def _table(entries: list[Row], nothing: str) -> None:
    names = dict.fromkeys(name for entry in entries for name in entry.fields)
    if names:
        output.listing(entries, {name: _cell(name) for name in names})
    else:
        output.say(nothing)


def _cell(name: str) -> output.Cell:
    def words(entry: Row) -> str:
        value = entry.fields.get(name)
        if isinstance(value, list):
            texts = [text[: output.ID_CHARS] for text in entry.texts(name)]
            more = [f"{len(texts) - SHOWN} more"] if len(texts) > SHOWN else []
            value = ", ".join([*texts[:SHOWN], *more])
        elif isinstance(value, dict):
            value = ", ".join(f"{key} {inner}" for key, inner in value.items())
        return "" if value is None else output.one_line(str(value), 120)

    return words
