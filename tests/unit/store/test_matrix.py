"""The exact matrix in memory: what it finds, keeps apart and leaves out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index_samples import DIM, MODEL, direction, seqs

from vector_memory.model import Scope
from vector_memory.store.matrix import Matrix


def matrix_of(*groups: tuple[str, range]) -> Matrix:
    """Return a matrix that is never saved, with these projects' sequence numbers."""
    matrix = Matrix("/nowhere", MODEL, DIM)
    for project, numbers in groups:
        matrix.add(
            np.array(numbers, np.int64),
            [project] * len(numbers),
            np.array([direction(i) for i in numbers]),
        )
    return matrix


def brute_force(numbers: list[int], query: Any, k: int) -> list[int]:
    scored = sorted(numbers, key=lambda i: -float(direction(i) @ query))
    return scored[:k]


@settings(deadline=None, max_examples=60)
@given(
    projects=st.lists(st.integers(0, 3), min_size=1, max_size=60),
    wanted=st.none() | st.sets(st.integers(0, 4)),
    gone=st.sets(st.integers(1, 60)),
    allowed=st.none() | st.sets(st.integers(1, 60)),
    k=st.integers(1, 70),
)
def test_it_finds_exactly_what_comparing_one_by_one_finds(
    projects: list[int],
    wanted: set[int] | None,
    gone: set[int],
    allowed: set[int] | None,
    k: int,
) -> None:
    """Whatever the projects, removed rows and limits, the k best are the k best."""
    matrix = Matrix("/nowhere", MODEL, DIM)
    for i, project in enumerate(projects, 1):
        matrix.add(np.array([i]), [f"p{project}"], direction(i)[None])
    matrix.remove(np.array(sorted(gone), np.int64))
    scope = Scope(projects=None if wanted is None else tuple(f"p{one}" for one in wanted))
    limit = None if allowed is None else np.array(sorted(allowed), np.int64)
    query = direction(1_000)
    expected = [
        i
        for i, project in enumerate(projects, 1)
        if i not in gone
        and (wanted is None or project in wanted)
        and (allowed is None or i in allowed)
    ]
    assert seqs(matrix.nearest(query, scope, k, limit)) == brute_force(expected, query, k)


def test_equal_vectors_come_newest_first() -> None:
    """Of rows that are equally near, the one with the larger sequence number comes first."""
    matrix = Matrix("/nowhere", MODEL, DIM)
    matrix.add(np.array([3, 9, 5]), ["p"] * 3, np.stack([direction(1)] * 3))
    found = matrix.nearest(direction(1), Scope(), 3)
    assert seqs(found) == [9, 5, 3]
    assert [one.score for one in found] == pytest.approx([1.0] * 3, abs=1e-5)


@pytest.mark.parametrize("exact_rows", [1_000, 10])
def test_of_copies_the_newest_alone_takes_a_place(exact_rows: int, tmp_path: Path) -> None:
    """However many there are of each text, the nearest texts come; without the wish all come."""
    matrix = Matrix(str(tmp_path), MODEL, DIM, exact_rows)
    numbers = np.arange(1, 241)
    texts = [direction(int(number) % 8) for number in numbers]
    matrix.add(numbers, ["p", "q"] * 120, np.stack(texts))
    for _ in range(2):
        found = matrix.nearest(direction(3), Scope(), 5, copies=64)
        assert seqs(found)[0] == 235 and min(seqs(found)) > 232
        assert len({one.score for one in found}) == len(found) == 5
        assert len(matrix.nearest(direction(3), Scope(), 9, copies=64)) == 8
        assert all(number % 8 == 3 for number in seqs(matrix.nearest(direction(3), Scope(), 5)))
        matrix.save()


def test_a_row_that_is_there_is_not_added_twice() -> None:
    """Replaying rows leaves the matrix as it was."""
    matrix = matrix_of(("p", range(1, 6)))
    matrix.add(np.array([4, 5, 6]), ["p"] * 3, np.array([direction(i) for i in (4, 5, 6)]))
    assert len(matrix.seqs()) == 6
    assert sorted(matrix.seqs().tolist()) == [1, 2, 3, 4, 5, 6]


def test_removed_rows_take_no_places() -> None:
    """What is gone does not displace what is there; the same number may come back."""
    matrix = matrix_of(("p", range(1, 11)))
    nearest = seqs(matrix.nearest(direction(4), Scope(), 10))
    matrix.remove(np.array(nearest[:9]))
    assert seqs(matrix.nearest(direction(4), Scope(), 1)) == nearest[9:]
    matrix.add(np.array([4]), ["p"], direction(4)[None])
    assert seqs(matrix.nearest(direction(4), Scope(), 2)) == [4, nearest[9]]


def test_what_is_reached_never_falls() -> None:
    """An earlier batch that is replayed does not take back what was reached."""
    matrix = matrix_of()
    matrix.mark_reached(9)
    matrix.mark_reached(4)
    assert matrix.reached() == 9


def test_a_search_keeps_its_view_while_rows_come() -> None:
    """Rows that are added after a view was taken are not in it, though they share its arrays."""
    matrix = matrix_of(("p", range(1, 4)))
    view = matrix._view
    matrix.add(np.array([50]), ["q"], direction(50)[None])
    assert view.tail_rows == 3
    assert len(matrix.seqs()) == 4
