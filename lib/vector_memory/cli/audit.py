"""`audit`: what was done, and by whom."""

from __future__ import annotations

from vector_memory.cli import output
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation

SHOWN = 2
"""Of the ids of an entry so many are shown; --json has them all."""


def audit(call: Invocation, verify: bool, offset: int) -> int:
    """Print the audit log; return 1 where it was changed."""
    answer = call.ask()
    call.show(answer, lambda answer: _show(answer, verify, offset))
    return 0 if answer.flag("intact", True) else 1


def _show(answer: Row, verified: bool, offset: int) -> None:
    entries = answer.rows("entries")
    names = dict.fromkeys(name for entry in entries for name in entry)
    nothing = output.beyond(offset) or "Nothing is logged."
    if actions := answer.texts("actions"):
        nothing = f"Nothing of that action is logged. There is: {', '.join(actions)}."
    output.listing(entries, {name: _cell(name) for name in names}, nothing)
    if not answer.flag("intact", True):
        output.note(f"The audit log is not as it was written. {answer.text('problem')}".rstrip())
    elif verified:
        output.say("The whole audit log is as it was written.")


def _cell(name: str) -> output.Cell:
    def words(entry: Row) -> str:
        value = entry.get(name)
        if isinstance(value, list):
            texts = [text[: output.ID_CHARS] for text in entry.texts(name)]
            left_out = [f"{len(texts) - SHOWN} more"] if len(texts) > SHOWN else []
            value = ", ".join([*texts[:SHOWN], *left_out])
        elif isinstance(value, dict):
            value = ", ".join(f"{key} {inner}" for key, inner in value.items())
        return "" if value is None else output.one_line(str(value), 120)

    return words
