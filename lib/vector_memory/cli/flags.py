"""`flags`: what the observer found in sessions."""

from __future__ import annotations

from vector_memory.cli import output
from vector_memory.cli.answers import Row


def show(answer: Row, offset: int) -> None:
    """Print tool calls that were flagged, and how many there are of each sort."""
    flags, total = answer.rows("flags"), answer.count("total")
    if output.listing(flags, COLUMNS, output.beyond(offset, total) or "Nothing was flagged."):
        counts = in_words(answer.counts("counts"))
        output.say(f"{offset + 1} to {offset + len(flags)} of {total}: {counts}.")


def in_words(counts: dict[str, int]) -> str:
    """Return counts by category in words."""
    return ", ".join(f"{n:,} {name}" for name, n in counts.items())


def _marks(flag: Row) -> str:
    marks = (flag.text("category"), flag.text("severity"), "asked" if flag.flag("asked") else "")
    return " ".join(filter(None, marks))


COLUMNS: dict[str, output.Cell] = {
    "date": lambda flag: flag.day("at"),
    "session": lambda flag: flag.text("session")[: output.ID_CHARS],
    "what": _marks,
    "call": output.field("text", 70),
    "why": output.field("reason", 110),
}
