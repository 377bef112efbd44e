"""What every search index does, whatever it is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import FakeIndex
from index_samples import DIM, MODEL, START, direction, matching, row, seqs

from vector_memory.model import Scope, Source
from vector_memory.store.index import Index

Make = Callable[[], Any]


def fake(folder: Path) -> FakeIndex:
    return FakeIndex.open(str(folder), DIM)


def index(folder: Path) -> Index:
    made = Index.open(str(folder), MODEL, DIM)
    made.load_lance()
    return made


def coded_index(folder: Path) -> Index:
    """An index whose matrix holds codes from the first `optimize` on."""
    made = Index.open(str(folder), MODEL, DIM, exact_rows=0)
    made.load_lance()
    return made


@pytest.fixture(params=[fake, index, coded_index], ids=lambda maker: maker.__name__)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    """Return what opens the index under test, each time the same one anew."""
    opened: list[Any] = []

    def opener() -> Any:
        if opened:
            opened.pop().close()
        opened.append(request.param(tmp_path / "store"))
        return opened[-1]

    yield opener
    for one in opened:
        one.close()


EVERYTHING = Scope()


def test_an_empty_index_finds_nothing(make: Make) -> None:
    """Nothing is stored: nothing is found, nothing is reached, and nothing fails."""
    empty = make()
    assert empty.reached() == 0
    assert matching(empty, ["word"], EVERYTHING, 10) == []
    assert empty.nearest(direction(1), EVERYTHING, 10) == []
    empty.optimize()


def test_it_finds_rows_by_their_words_best_first(make: Make) -> None:
    """A row that holds more of the words in less text comes first; others are not found."""
    made = make()
    made.apply(
        [
            row("a", 1, "redis cache eviction policy"),
            row("b", 2, "redis and a great many other words that say nothing about it at all"),
            row("c", 3, "postgres index"),
        ],
        [],
        3,
    )
    found = matching(made, ["redis", "eviction"], EVERYTHING, 10)
    assert seqs(found) == [1, 2]
    assert found[0].score > found[1].score > 0


def test_it_finds_the_nearest_vectors_best_first(make: Make) -> None:
    """The vector itself has a similarity of one; the rest follow, falling."""
    made = make()
    made.apply([row(f"m{i}", i) for i in range(1, 9)], [], 8)
    found = made.nearest(direction(5), EVERYTHING, 8)
    expected = sorted(range(1, 9), key=lambda i: -float(direction(i) @ direction(5)))
    assert seqs(found) == expected
    assert found[0].score == pytest.approx(1.0, abs=1e-3)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


@pytest.mark.parametrize("optimized", [False, True])
def test_k_limits_the_answer_to_the_best(make: Make, optimized: bool) -> None:
    """Of many that match only the k best come back."""
    made = make()
    made.apply([row(f"m{i}", i, f"common word{i}") for i in range(1, 41)], [], 40)
    if optimized:
        made.optimize()
    assert len(matching(made, ["common"], EVERYTHING, 7)) == 7
    nearest = made.nearest(direction(9), EVERYTHING, 5)
    everyone = made.nearest(direction(9), EVERYTHING, 40)
    assert seqs(nearest) == seqs(everyone)[:5]
    assert made.nearest(direction(9), EVERYTHING, 0) == []
    assert matching(made, ["common"], EVERYTHING, 0) == []


def test_a_changed_memory_replaces_its_old_row(make: Make) -> None:
    """A row with a known id takes the old one's place, words, vector and all."""
    made = make()
    made.apply([row("a", 1, "old"), row("b", 2, "other")], [], 2)
    made.apply([row("a", 3, "new")], [], 3)
    assert matching(made, ["old"], EVERYTHING, 10) == []
    assert seqs(matching(made, ["new"], EVERYTHING, 10)) == [3]
    assert sorted(seqs(made.nearest(direction(1), EVERYTHING, 10))) == [2, 3]


def test_a_removed_memory_is_gone(make: Make) -> None:
    """It is neither found by words nor by its vector; unknown ids are ignored."""
    made = make()
    made.apply([row("a", 1), row("b", 2)], [], 2)
    made.apply([], ["a", "never seen"], 3)
    assert seqs(matching(made, ["word"], EVERYTHING, 10)) == [2]
    assert seqs(made.nearest(direction(1), EVERYTHING, 10)) == [2]
    assert made.reached() == 3


def test_a_row_wins_over_its_own_removal(make: Make) -> None:
    """An id that one batch both removes and brings is there afterwards; of two rows the later."""
    made = make()
    made.apply([row("a", 1)], [], 1)
    made.apply([row("a", 2, "early"), row("a", 3, "late")], ["a"], 3)
    assert matching(made, ["early"], EVERYTHING, 10) == []
    assert seqs(matching(made, ["late"], EVERYTHING, 10)) == [3]
    assert seqs(made.nearest(direction(3), EVERYTHING, 10)) == [3]


@pytest.mark.parametrize("optimized", [False, True])
def test_projects_are_kept_apart(make: Make, optimized: bool) -> None:
    """A scope's projects are all that is found, before and after `optimize`."""
    made = make()
    made.apply([row(f"m{i}", i, project=f"p{i % 3}") for i in range(1, 13)], [], 12)
    made.apply([row("g", 13, project="")], [], 13)
    if optimized:
        made.optimize()
    for scope, expected in (
        (Scope(projects=("p1",)), {1, 4, 7, 10}),
        (Scope(projects=("p2", "")), {2, 5, 8, 11, 13}),
        (Scope(projects=("unknown",)), set()),
        (Scope(projects=()), set()),
        (Scope(), set(range(1, 14))),
    ):
        assert set(seqs(made.nearest(direction(4), scope, 50))) == expected
        assert set(seqs(matching(made, ["word"], scope, 50))) == expected


SCOPES: list[tuple[Scope, set[int]]] = [
    (Scope(kinds=("decision",)), {1, 3}),
    (Scope(kinds=("decision", "todo")), {1, 2, 3}),
    (Scope(tags=("red",)), {1, 2}),
    (Scope(tags=("red", "blue")), {1, 2, 3}),
    (Scope(tags=("re",)), set()),
    (Scope(sessions=("s1",)), {1, 4}),
    (Scope(collections=("learnings",)), {4}),
    (Scope(without=("learnings", "heuristics")), {1, 2, 3}),
    (Scope(since=START + timedelta(hours=3)), {3, 4}),
    (Scope(until=START + timedelta(hours=3)), {1, 2}),
    (Scope(since=START + timedelta(hours=2), until=START + timedelta(hours=4)), {2, 3}),
    (Scope(projects=("p",), kinds=("decision",), tags=("blue",)), {3}),
    (Scope(projects=("q",), kinds=("decision",)), set()),
]


def test_every_part_of_a_scope_limits(make: Make) -> None:
    """Kinds, tags, sessions, collections and dates limit the search by words; that by vectors is told what they leave."""
    made = make()
    made.apply(
        [
            row("a", 1, kind="decision", tags=("red",), source=Source(session="s1"), project="p"),
            row("b", 2, kind="todo", tags=("red", "green"), project="p"),
            row("c", 3, kind="decision", tags=("blue", "it's"), project="p"),
            row("d", 4, source=Source(session="s1"), collection="learnings", project="p"),
        ],
        [],
        4,
    )
    for scope, expected in SCOPES:
        assert set(seqs(matching(made, ["word"], scope, 10))) == expected, scope
        allowed = np.array(sorted(expected), np.int64)
        assert set(seqs(made.nearest(direction(2), scope, 10, allowed))) == expected, scope


NASTY = [
    "' OR 1=1 --",
    "') OR ('' = '",
    '"; DROP TABLE memories; --',
    "x\\' OR true",
    "%",
    "_",
    "*",
    "a\x1fb",
    "日本' OR '1'='1",
    "\ud800",
    "`id`",
    "${id}",
]


def test_text_in_a_filter_is_only_text(make: Make) -> None:
    """No value of a scope can change what the filter means; removing by such an id removes only
    that."""
    made = make()
    made.apply([row("a", 1, tags=("t",)), row("b", 2)], [], 2)
    for text in NASTY:
        for scope in (
            Scope(projects=(text,)),
            Scope(kinds=(text,)),
            Scope(tags=(text,)),
            Scope(sessions=(text,)),
            Scope(collections=(text,)),
        ):
            assert matching(made, ["word"], scope, 10) == [], scope
        assert made.nearest(direction(1), Scope(projects=(text,)), 10) == []
    made.apply([], NASTY, 3)
    assert sorted(seqs(matching(made, ["word"], EVERYTHING, 10))) == [1, 2]


UNUSUAL = ["it's", 'say "hi"', "日本", "a b", "' OR 1=1 --", "%_*", "\ud800"]


def test_a_scope_finds_unusual_values_too(make: Make) -> None:
    """Quotes, spaces and other scripts in tags, kinds, projects and ids are found as they are."""
    made = make()
    rows = [
        row(text, i, tags=(text, "t"), kind=text, project=text) for i, text in enumerate(UNUSUAL, 1)
    ]
    made.apply([*rows, row("b", 99)], [], 99)
    for i, text in enumerate(UNUSUAL, 1):
        for scope in (Scope(tags=(text,)), Scope(kinds=(text,)), Scope(projects=(text,))):
            assert seqs(matching(made, ["word"], scope, 10)) == [i], scope
        assert seqs(made.nearest(direction(2), Scope(projects=(text,)), 10)) == [i]
    made.apply([], UNUSUAL, 100)
    assert seqs(matching(made, ["word"], EVERYTHING, 10)) == [99]


TERMS = [
    "src/app/x.py",
    "$home",
    "日本",
    "#ffeee1",
    "getuserbyid",
    '"quoted"',
    "AND",
    "OR",
    "NOT",
    "(x)",
    "-baz",
    "a:b",
    "x*",
    "x~2",
    "^x",
    "it's",
    "z" * 64,
    "é" * 64,
    "語" * 64,
    "naïve",
    "Straße",
    "🎉",
    "\\",
]


@pytest.mark.parametrize("optimized", [False, True])
def test_terms_are_whole_and_literal(make: Make, optimized: bool) -> None:
    """Paths, identifiers, operators, quotes and other scripts are single terms, kept as they
    are."""
    made = make()
    made.apply([row(f"m{i}", i, f"filler {term}") for i, term in enumerate(TERMS, 1)], [], 99)
    if optimized:
        made.optimize()
    for i, term in enumerate(TERMS, 1):
        assert seqs(matching(made, [term], EVERYTHING, 99)) == [i], term
    for absent in ("src", "x.py", "home", "ffeee1", "quoted", "and", "getuserbyi", "naive", "a"):
        assert matching(made, [absent], EVERYTHING, 99) == [], absent


def test_ten_thousand_terms_are_a_query_like_any_other(make: Make) -> None:
    """A very long query is answered; what it holds twice counts once; no terms find nothing."""
    made = make()
    made.apply([row("a", 1, "needle in hay"), row("b", 2, "hay")], [], 2)
    many = [f"term{i}" for i in range(10_000)]
    assert seqs(matching(made, [*many, "needle"], EVERYTHING, 10)) == [1]
    once = matching(made, ["needle"], EVERYTHING, 10)
    assert matching(made, ["needle"] * 3, EVERYTHING, 10) == once
    assert matching(made, [], EVERYTHING, 10) == []
    assert matching(made, [""], EVERYTHING, 10) == []


@pytest.mark.parametrize("optimized", [False, True])
def test_a_row_without_a_vector_is_found_by_words_alone(make: Make, optimized: bool) -> None:
    """While a vector is missing the row has words only; it gets its vector later."""
    made = make()
    made.apply([row("a", 1, vector=None), row("b", 2)], [], 2)
    if optimized:
        made.optimize()
    assert sorted(seqs(matching(made, ["word"], EVERYTHING, 10))) == [1, 2]
    assert seqs(made.nearest(direction(1), EVERYTHING, 10)) == [2]
    made.apply([row("a", 1)], [], 2)
    assert seqs(made.nearest(direction(1), EVERYTHING, 10))[0] == 1


@pytest.mark.parametrize(
    "vector",
    [
        np.zeros(DIM, np.float32),
        np.full(DIM, np.nan, np.float32),
        np.full(DIM, np.inf, np.float32),
        np.ones(DIM + 1, np.float32),
    ],
    ids=["zero", "nan", "infinite", "too long"],
)
def test_a_vector_without_a_direction_is_none(make: Make, vector: Any) -> None:
    """A useless vector is stored as none, and finds nothing."""
    made = make()
    made.apply([row("a", 1, vector=vector), row("b", 2)], [], 2)
    assert seqs(made.nearest(direction(1), EVERYTHING, 10)) == [2]
    assert made.nearest(vector, EVERYTHING, 10) == []
    assert sorted(seqs(matching(made, ["word"], EVERYTHING, 10))) == [1, 2]


def test_replaying_a_batch_changes_nothing(make: Make) -> None:
    """The same batch again, or an earlier one, leaves rows and what is reached as they were."""
    made = make()
    made.apply([row("a", 1), row("b", 2)], [], 2)
    made.apply([row("c", 3)], ["a"], 4)
    made.apply([row("c", 3)], ["a"], 4)
    assert made.reached() == 4
    assert sorted(seqs(made.nearest(direction(1), EVERYTHING, 10))) == [2, 3]
    assert sorted(seqs(matching(made, ["word"], EVERYTHING, 10))) == [2, 3]
    made.apply([row("b", 2)], [], 2)
    assert made.reached() == 4
    assert sorted(seqs(made.nearest(direction(1), EVERYTHING, 10))) == [2, 3]


def test_everything_survives_a_reopening(make: Make) -> None:
    """What was applied, and how far, is there for the next process."""
    made = make()
    made.apply([row("a", 1, "first"), row("b", 2, "second", project="p")], [], 2)
    made.apply([], ["a"], 5)
    made = make()
    assert made.reached() == 5
    assert seqs(matching(made, ["first", "second"], EVERYTHING, 10)) == [2]
    assert seqs(made.nearest(direction(1), Scope(projects=("p",)), 10)) == [2]
    made.apply([row("c", 6)], [], 6)
    made = make()
    assert made.reached() == 6
    assert sorted(seqs(made.nearest(direction(6), EVERYTHING, 10))) == [2, 6]


def test_a_batch_of_nothing_still_counts_as_reached(make: Make) -> None:
    """The journal may have moved on without anything to index."""
    made = make()
    made.apply([], [], 7)
    assert made.reached() == 7
    made = make()
    assert made.reached() == 7
    assert made.nearest(direction(1), EVERYTHING, 10) == []


def test_optimize_changes_no_answer(make: Make) -> None:
    """Searches find the same before and after, also with more batches in between."""
    made = make()
    for start in range(1, 121, 20):
        rows = [
            row(f"m{i}", i, f"word{i % 9} all", project=f"p{i % 2}")
            for i in range(start, start + 20)
        ]
        made.apply(rows, [f"m{start}"] if start > 1 else [], start + 19)
    scope = Scope(projects=("p1",))

    def answers() -> list[set[int]]:
        return [
            set(seqs(matching(made, ["word3"], EVERYTHING, 200))),
            set(seqs(matching(made, ["all"], scope, 200))),
            set(seqs(made.nearest(direction(50), scope, 200))),
        ]

    before = answers()
    made.optimize()
    assert answers() == before
    made.apply([row("late", 121, "word3 all", project="p1")], ["m50"], 122)
    after = [one | {121} for one in before]
    after = [one - {50} for one in after]
    assert answers() == after
    made.optimize()
    assert answers() == after
