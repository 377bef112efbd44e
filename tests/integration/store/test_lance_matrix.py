"""The index of both, LanceDB and matrix: how it comes up, stays equal, and changes over."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from index_samples import DIM, MODEL, direction, matching, row, rows, seqs

from vector_memory.model import Scope
from vector_memory.store.index import Index
from vector_memory.store.lightimport import load_lancedb


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def index(store: Path) -> Iterator[Index]:
    made = Index.open(str(store), MODEL, DIM)
    made.load_lance()
    yield made
    made.close()


def reopened(store: Path, **options: int) -> Index:
    return Index.open(str(store), MODEL, DIM, **options)


def crashed(store: Path) -> Path:
    """Return a copy of the store as a process that is killed now would leave it."""
    copy = store.with_name("crashed")
    shutil.copytree(store, copy)
    return copy


def near(index: Index, number: int = 1, scope: Scope | None = None, k: int = 500) -> set[int]:
    return set(seqs(index.nearest(direction(number), scope or Scope(), k)))


def test_vectors_are_served_before_lancedb_is_loaded(store: Path, index: Index) -> None:
    """A saved matrix answers at once; words wait for LanceDB."""
    index.apply(rows(1, 9, project="p"), [], 9)
    index.close()
    again = reopened(store)
    assert again.vectors_ready
    assert not again.lexical_ready
    assert again.matrix_reached() == 9
    assert again.reached() == 0
    assert near(again, scope=Scope(projects=("p",))) == set(range(1, 10))
    assert matching(again, ["word"], Scope(), 5) == []
    assert again.load_lance() == ""
    assert again.lexical_ready
    assert again.reached() == 9
    assert len(matching(again, ["word"], Scope(), 5)) == 5
    again.close()


def test_rows_without_their_values_are_damage(store: Path, index: Index) -> None:
    """Damaged data may be read without an error, as rows that lack what every memory has."""
    index.apply(rows(1, 9), [], 9)
    index.close()
    connection = load_lancedb().connect(str(store / "lance"))
    table = connection.open_table(next((store / "lance").glob("*.lance")).stem)
    table.update(where="seq = 3", values_sql={"project": "NULL"})
    again = reopened(store)
    assert "values are missing" in again.load_lance()
    assert again.reached() == 0
    again.apply(rows(1, 9), [], 9)
    assert near(again) == set(range(1, 10))
    again.close()


def test_other_limits_are_the_callers_numbers(store: Path, index: Index) -> None:
    """The matrix knows projects only: the caller says what else is allowed, also before LanceDB is there."""
    index.apply([*rows(1, 5), row("x", 6, kind="todo")], [], 6)
    index.close()
    again = reopened(store)
    todo = Scope(kinds=("todo",))
    found = again.nearest(direction(1), todo, 5, allowed=np.array([6]))
    assert seqs(found) == [6]
    assert again.within(todo) is None
    again.load_lance()
    allowed = again.within(todo)
    assert allowed is not None and allowed.tolist() == [6]
    again.close()


def test_a_matrix_that_fell_behind_catches_up(store: Path, index: Index) -> None:
    """Rows that came, changed, went, or got their vector after the last save are right again after
    a crash."""
    index.apply([*rows(1, 20), row("late", 21, vector=None)], [], 21)
    index.optimize()
    index.apply([row("m3", 22), row("late", 21), row("new", 23)], ["m5"], 24)
    expected = near(index)
    again = reopened(crashed(store))
    assert near(again) == set(range(1, 21))
    again.load_lance()
    assert near(again) == expected == (set(range(1, 24)) - {3, 5})
    assert again.matrix_reached() == 24
    again.close()


def test_a_lost_matrix_is_made_from_lancedb(store: Path, index: Index) -> None:
    """Without the matrix's files every vector comes from the table."""
    index.apply([*rows(1, 30), row("bare", 31, vector=None)], [], 31)
    index.close()
    shutil.rmtree(store / "matrix")
    again = reopened(store)
    assert not again.vectors_ready
    again.load_lance()
    assert near(again) == set(range(1, 31))
    assert again.nearest(direction(7), Scope(), 1)[0].score == pytest.approx(1.0, abs=1e-3)
    assert again.check(read_data=True) == []
    again.close()


def test_a_matrix_from_the_journal_serves_while_lancedb_is_rebuilt(store: Path) -> None:
    """A matrix built of other vectors answers at once, and is made equal to the table when that
    has caught up: what is not there any more is dropped."""
    index = reopened(store)
    numbers = np.arange(1, 11)
    vectors = np.array([direction(int(i)) for i in numbers])
    index.build_matrix(iter([(numbers, ["p"] * 10, vectors)]), 10)
    assert near(index) == set(range(1, 11))
    index.load_lance()
    assert near(index) == set(range(1, 11))
    index.apply(rows(1, 4, project="p"), [], 4)
    assert near(index) == set(range(1, 11))
    index.apply([*rows(5, 9, project="p"), row("m10", 11, project="p")], [], 11)
    assert near(index) == {*range(1, 10), 11}
    assert index.matrix_reached() == 11
    index.close()


def test_setting_the_table_aside_keeps_the_vectors(store: Path, index: Index) -> None:
    """While the table is made anew, vectors are still found; words come back with the rows."""
    index.apply(rows(1, 12), [], 12)
    index.set_aside("it was damaged")
    assert index.load_lance() == "it was damaged"
    assert index.reached() == 0
    assert near(index) == set(range(1, 13))
    assert matching(index, ["word"], Scope(), 50) == []
    index.apply([one for one in rows(1, 12) if one.memory.id != "m4"], [], 13)
    assert near(index) == set(range(1, 13)) - {4}
    assert len(matching(index, ["word"], Scope(), 50)) == 11


def test_a_rebuild_starts_from_nothing(store: Path, index: Index) -> None:
    """Neither words nor vectors are left, and the rows can come again."""
    index.apply(rows(1, 12), [], 12)
    index.optimize()
    index.rebuild()
    assert (index.reached(), index.matrix_reached(), index.rows()) == (0, 0, 0)
    assert near(index) == set()
    index.apply(rows(1, 12), [], 12)
    assert near(index) == set(range(1, 13))
    index.close()
    again = reopened(store)
    assert near(again) == set(range(1, 13))
    again.close()


def test_beyond_its_limit_the_matrix_is_coded(store: Path) -> None:
    """Above the limit codes serve, after a restart too; below it the vectors do again."""
    index = reopened(store, exact_rows=50)
    index.apply(rows(1, 60), [], 60)
    index.optimize()
    assert [path.suffix for path in Path(index.matrix_folder).iterdir()].count(".i8") == 1
    assert near(index) == set(range(1, 61))
    index.apply(rows(61, 62), ["m5"], 62)
    assert near(index) == set(range(1, 63)) - {5}
    index.close()
    index = reopened(store, exact_rows=50)
    assert seqs(index.nearest(direction(33), Scope(), 3))[0] == 33
    index.load_lance()
    assert near(index) == set(range(1, 63)) - {5}
    index.apply([], [f"m{i}" for i in range(1, 31)], 63)
    index.optimize()
    assert [path.suffix for path in Path(index.matrix_folder).iterdir()].count(".i8") == 0
    assert near(index) == set(range(31, 63))
    index.close()


def test_optimizing_saves_the_matrix(store: Path, index: Index) -> None:
    """After `optimize` a crash costs nothing."""
    index.apply(rows(1, 9), [], 9)
    index.optimize()
    again = reopened(crashed(store))
    assert near(again) == set(range(1, 10))
    again.close()


def test_many_readers_search_while_one_writes(index: Index) -> None:
    """Searches in other threads see whole rows of their own project, whatever is written."""
    index.apply(
        [row(f"m{i}", i, f"word w{i}", project=f"p{i % 2}") for i in range(1, 101)], [], 100
    )
    failures: list[object] = []
    done = threading.Event()

    def search(project: int) -> None:
        scope = Scope(projects=(f"p{project}",))
        while not done.is_set():
            try:
                answers = [
                    *index.nearest(direction(3), scope, 20),
                    *matching(index, ["word"], scope, 20),
                ]
                if len(answers) != 40 or any(one.seq % 2 != project for one in answers):
                    failures.append(answers)
            except Exception as error:
                failures.append(error)

    threads = [threading.Thread(target=search, args=(project,)) for project in (0, 1)]
    for thread in threads:
        thread.start()
    try:
        for start in range(101, 301, 20):
            added = [
                row(f"m{i}", i, f"word w{i}", project=f"p{i % 2}") for i in range(start, start + 20)
            ]
            index.apply(added, [f"m{start - 60}"], start + 19)
            if start % 60 == 41:
                index.optimize()
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert failures == []


def test_common_words_are_left_out_among_many_rows(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a long question the rare words and the rarest of the common ones are searched for; a short
    one is searched for whole."""
    monkeypatch.setattr("vector_memory.store.index.SELECTIVE_ROWS", 100)
    index = reopened(store)
    filler = " ".join(f"common{i}" for i in range(12))
    index.apply([row(f"m{i}", i, f"{filler} rare{i}") for i in range(1, 151)], [], 150)
    index.optimize()
    terms = [*filler.split(), "rare77"]
    assert seqs(matching(index, terms, Scope(), 5))[0] == 77
    assert len(index._selective(terms)) == 8
    assert "rare77" in index._selective(terms)
    assert list(index._selective(terms[:5])) == terms[:5]
    index.close()
