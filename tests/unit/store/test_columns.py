"""The columns beside words and vectors: who stands next to whom, who said it, when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vector_memory.model import GLOBAL_PROJECT, Mark, Scope
from vector_memory.store.columns import NOBODY, Batch, Columns, words_of

DAY_US = 86_400_000_000
Row = tuple[int, str, str, int]
"""Sequence number, project, session, turn."""


def batch(rows: Sequence[Row], speakers: Sequence[str] = (), days: Sequence[float] = ()) -> Batch:
    """Return rows as a store has them."""
    count = len(rows)
    return Batch(
        np.array([row[0] for row in rows], np.int64),
        np.array([int(day * DAY_US) for day in days] or [0] * count, np.int64),
        np.array([row[3] for row in rows], np.int64),
        np.full(count, 7, np.uint8),
        np.full(count, int(Mark.TIME), np.uint8),
        {
            "project": words_of([row[1] for row in rows]),
            "session": words_of([row[2] for row in rows]),
            "speaker": words_of(list(speakers) or [""] * count),
            "kind": words_of(["note"] * count),
        },
    )


def columns_of(*rows: Row) -> Columns:
    """Return columns with these rows, added one after the other."""
    columns = Columns()
    for row in sorted(rows):
        columns.add(batch([row]))
    return columns


def neighbours(columns: Columns, seq: int) -> tuple[int, int, int]:
    """Return the sequence numbers two before, one before and one after."""
    around = columns.around([seq])
    place = list(around.seqs).index(seq)
    return tuple(int(x[place]) for x in (around.before2, around.before, around.after))  # type: ignore[return-value]


def test_neighbours_follow_the_turns_of_a_session() -> None:
    """The order of the turns counts, not that of the sequence numbers."""
    columns = columns_of((1, "p", "s", 3), (2, "p", "s", 1), (3, "p", "s", 2), (4, "p", "t", 0))
    assert neighbours(columns, 1) == (2, 3, 0)
    assert neighbours(columns, 2) == (0, 0, 3)
    assert neighbours(columns, 4) == (0, 0, 0)


def test_a_session_of_two_projects_has_no_neighbours_across_them() -> None:
    """What is of another project never stands around a memory."""
    columns = columns_of((1, "p", "s", 1), (2, "q", "s", 2), (3, "p", "s", 3))
    assert neighbours(columns, 1) == (0, 0, 3)
    assert neighbours(columns, 2) == (0, 0, 0)


def test_memories_without_a_session_stand_alone() -> None:
    """No session is no conversation."""
    columns = columns_of((1, "p", "", 0), (2, "p", "", 0))
    assert neighbours(columns, 1) == (0, 0, 0)
    assert columns.around([1]).session.tolist() == [NOBODY]


@settings(deadline=None, max_examples=80)
@given(
    st.lists(
        st.tuples(st.sampled_from(["p", "q"]), st.sampled_from(["", "s", "t"]), st.integers(0, 3)),
        min_size=1,
        max_size=30,
    ),
    st.sets(st.integers(1, 30)),
    st.integers(0, 30),
)
def test_adding_bit_by_bit_is_building_at_once(
    rows: list[tuple[str, str, int]], gone: set[int], first: int
) -> None:
    """However rows came and went, what stands around them is the same."""
    numbered = [(seq, *row) for seq, row in enumerate(rows, 1)]
    kept = [row for row in numbered if row[0] not in gone]
    at_once = Columns.build([batch(kept)] if kept else [])
    in_steps = Columns.build([batch(numbered[:first])] if first else [])
    for row in numbered[first:]:
        in_steps.add(batch([row]))
    in_steps.remove(np.array(sorted(gone), np.int64))
    assert len(at_once) == len(in_steps) == len(kept)
    for seq, *_ in kept:
        assert neighbours(at_once, seq) == neighbours(in_steps, seq)


def test_spreading_brings_the_neighbours_along() -> None:
    """Of those named, the one before and the two after come too."""
    columns = columns_of(*[(seq, "p", "s", seq) for seq in range(1, 9)])
    assert columns.around([4], spread=[4]).seqs.tolist() == [3, 4, 5, 6]
    assert columns.around([1], spread=[1]).seqs.tolist() == [1, 2, 3]


def test_what_is_not_there_yet_comes_back_without_surroundings() -> None:
    """The journal may know newer memories than the columns."""
    around = columns_of((1, "p", "s", 1)).around([1, 99])
    assert around.seqs.tolist() == [1, 99]
    assert around.session[1] == NOBODY
    assert around.size.tolist() == [7, 0]
    assert Columns().around([5]).before.tolist() == [0]


def test_speakers_are_found_by_their_first_or_whole_name() -> None:
    """Names are looked up in lower case; what nobody is called is nobody."""
    columns = Columns()
    columns.add(batch([(1, "p", "s", 1), (2, "p", "s", 2)], speakers=["Ana Silva", "Jo"]))
    assert columns.speakers(["what", "did", "ana", "and", "jo", "buy"]) == ["Ana Silva", "Jo"]
    assert columns.speakers(["anna"]) == []
    assert columns.codes("speaker", ["Jo", "Nobody", ""]) == [1]


def test_times_are_searched_within_the_projects_asked_about() -> None:
    """The newest of a span come first, others' not at all."""
    columns = Columns()
    rows = [(1, "p", "s", 1), (2, "q", "s", 2), (3, "p", "t", 3), (4, GLOBAL_PROJECT, "", 0)]
    columns.add(batch(rows, days=[10.0, 10.5, 11.0, 10.2]))
    both = Scope(projects=("p", GLOBAL_PROJECT))
    assert columns.between(both, 10.0, 11.0, 9) == [4, 1]
    assert columns.between(Scope(), 10.0, 12.0, 2) == [3, 2]
    assert columns.between(Scope(projects=("unknown",)), 0.0, 99.0, 9) == []


def test_the_last_sessions_come_newest_first() -> None:
    """ "Two sessions ago" is the second of them; the session that asks is none of them."""
    columns = Columns()
    rows = [(1, "p", "s", 1), (2, "p", "s", 2), (3, "p", "t", 1), (4, "p", "now", 1)]
    columns.add(batch(rows, days=[1.0, 2.0, 3.0, 4.0]))
    scope = Scope(projects=("p",))
    assert columns.latest_sessions(scope, 2, but="now") == [(3.0, 3.0), (1.0, 2.0)]
    assert columns.latest_sessions(scope, 1) == [(4.0, 4.0)]
    assert columns.latest_sessions(Scope(projects=("other",)), 2) == []


def test_a_scope_of_projects_kinds_and_times_is_at_hand() -> None:
    """What else limits a scope no column has."""
    columns = Columns()
    days = [10.0, 11.0, 12.5, 13.0]
    rows = [(1, "p", "", 0), (2, "q", "", 0), (3, "p", "", 0), (4, "p", "", 0)]
    columns.add(batch(rows, days=days))
    at = datetime(1970, 1, 1, tzinfo=timezone.utc)

    def within(**limits: Any) -> list[int] | None:
        found = columns.within(Scope(**limits))
        return None if found is None else [int(seq) for seq in found]

    assert within(projects=("p",), kinds=("note", "fix")) == [1, 3, 4]
    assert within(kinds=("fix",)) == []
    assert within(projects=("p",), since=at + timedelta(days=12.5)) == [3, 4]
    assert within(until=at + timedelta(days=12.5)) == [1, 2]
    columns.remove(np.array([3]))
    assert within(projects=("p",), kinds=("note",)) == [1, 4]
    for more in (
        {"tags": ("t",)},
        {"sessions": ("s",)},
        {"collections": ("c",)},
        {"entities": ("e",)},
    ):
        assert within(projects=("p",), **more) is None
