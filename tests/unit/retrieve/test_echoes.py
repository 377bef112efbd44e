"""Of what says the same again, one is told."""

from __future__ import annotations

from datetime import datetime, timezone

from vector_memory.model import PASSAGE, CleanText, Memory, Source
from vector_memory.retrieve.echoes import without_covered
from vector_memory.retrieve.search import Hit
from vector_memory.text import analysis

NOW = datetime(2026, 5, 3, tzinfo=timezone.utc)


def hit(number: int, kind: str, turn: int, text: str, session: str = "s") -> Hit:
    """Return a hit of a turn of a session."""
    source = Source(session, "/s.jsonl", 1, 2, turn)
    memory = Memory(f"{number:032x}", CleanText(text), NOW, kind=kind, source=source)
    return Hit(memory, 1.0, 1.0, {}, 0, frozenset(analysis.analyse(text)))


def test_of_an_exchange_its_best_passage_is_told_in_the_place_of_its_ideas() -> None:
    """However much more an idea is worth; another exchange, and what was made on purpose, have places of their own."""
    idea = hit(1, "decision", 1, "Totals are whole cents.")
    best = hit(
        2, PASSAGE, 1, "The totals of the ledger become whole cents, and a migration does it."
    )
    more = hit(3, PASSAGE, 1, "Its twelve tests cover negative sums too.")
    other = hit(4, "decision", 2, "The button is green.")
    purpose = hit(5, "note", 0, "Invoices are numbered by year.", session="")
    assert without_covered([idea, best, more, other, purpose]) == [best, other, purpose]


def test_ideas_of_an_exchange_of_which_no_passage_was_found_are_told_each() -> None:
    """But for one whose words another one has."""
    first = hit(
        1, "decision", 1, "Totals are whole cents, and the migration runs in one transaction."
    )
    again = hit(2, "fact", 1, "The migration runs in one transaction.")
    other = hit(3, "fact", 1, "The button is green.")
    assert without_covered([first, again, other]) == [first, other]
