"""What a later session said of the same thing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Any, cast

import numpy as np

from vector_memory.model import PASSAGE, SUMMARY, CleanText, Memory, Source
from vector_memory.retrieve.candidates import CandidateSource
from vector_memory.retrieve.newer import Newer, ShelvedMemory, newer_of

BEGIN = datetime(2026, 5, 3, tzinfo=timezone.utc)
VECTORS = {1: [1.0, 0.0], 2: [0.8, 0.6], 3: [0.6, 0.8], 4: [1.0, 0.0], 5: [0.0, 0.0]}


class Vectors:
    """A shelf that has nothing but vectors."""

    def vectors(self, seqs: Any) -> Any:
        """Return those of these numbers."""
        return np.array([VECTORS[int(seq)] for seq in seqs], np.float32)


class NoVectors:
    """A shelf whose index is not open yet."""

    def vectors(self, seqs: Any) -> None:
        """Return nothing."""


def said(seq: int, session: str, day: int, kind: str = PASSAGE) -> ShelvedMemory:
    """Return a memory of a session's day."""
    source = Source(session, "/log.jsonl", 1, 2, seq)
    at = BEGIN + timedelta(days=day)
    memory = Memory(f"{seq:032x}", CleanText("x"), at, kind=kind, source=source, seq=seq)
    return ShelvedMemory(0, memory)


def newer(found: Sequence[ShelvedMemory], shelf: object = Vectors()) -> Newer | None:
    """Return what is newer than the first of what was found."""
    shelves = [cast(CandidateSource, shelf)]
    return newer_of(found[:1], found, shelves).get(found[0].memory.id)


def test_the_most_alike_of_later_sessions_is_the_newer_one() -> None:
    """Whatever its place among what was found."""
    found = [said(1, "a", 0), said(3, "c", 2), said(2, "b", 1)]
    later = newer(found)
    assert later is not None and later.memory is found[2].memory
    assert round(later.likeness, 3) == 0.8


def test_neither_the_same_session_nor_an_earlier_one_nor_a_summary_is_newer() -> None:
    """A session's second thoughts stand beside its first ones; a summary says again what was said."""
    first = said(1, "b", 1)
    assert newer([first, said(4, "b", 2)]) is None
    assert newer([first, said(4, "a", 0)]) is None
    assert newer([first, said(4, "c", 2, SUMMARY)]) is None


def test_without_vectors_nothing_is_newer() -> None:
    """A memory that is not embedded yet, and a shelf that has none at hand."""
    assert newer([said(1, "a", 0), said(5, "b", 1)]) is None
    assert newer([said(1, "a", 0), said(4, "b", 1)], NoVectors()) is None
