"""Fusion, factors, duplicates and rendering: pure, so tested without a store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory import injection
from vector_memory.model import Candidate, CleanText, Memory, Priority, Scope, Source
from vector_memory.retrieve import factors, fusion, query, render, supersession
from vector_memory.retrieve.candidates import Found
from vector_memory.retrieve.search import Hit, search

NOW = datetime(2026, 5, 3, 12, tzinfo=timezone.utc)


def memory(seq: int, text: str, **more: object) -> Memory:
    """Return a stored memory."""
    return Memory(f"{seq:032x}", CleanText(text), NOW, seq=seq, **more)  # type: ignore[arg-type]


class Shelf:
    """A shelf that proposes what it is told to."""

    def __init__(
        self,
        memories: Sequence[Memory],
        lexical: Sequence[tuple[int, float]] = (),
        dense: Sequence[tuple[int, float]] = (),
    ) -> None:
        self.memories = {one.seq: one for one in memories}
        self.lexical = [Candidate(*one) for one in lexical]
        self.dense = [Candidate(*one) for one in dense]

    def matching(self, terms: Sequence[str], scope: Scope, k: int) -> list[Candidate]:
        return self.lexical[:k]

    def nearest(self, vector: object, scope: Scope, k: int) -> list[Candidate]:
        return self.dense[:k]

    def load(self, seqs: Sequence[int]) -> dict[int, Memory]:
        return {seq: self.memories[seq] for seq in seqs if seq in self.memories}


VECTOR = np.array([1.0], np.float32)


def ask(text: str, shelves: Sequence[Shelf], k: int = 5) -> list[Hit]:
    """Search shelves for a text."""
    return search(query.analyse(text, Scope(), VECTOR), shelves, k, NOW)


def test_what_both_retrievers_propose_comes_first() -> None:
    """Agreement of words and meaning beats either alone."""
    texts = [memory(1, "alpha"), memory(2, "beta"), memory(3, "gamma")]
    shelf = Shelf(texts, lexical=[(1, 9.0), (2, 8.0)], dense=[(3, 0.8), (2, 0.79), (1, 0.1)])
    assert ask("anything else", [shelf])[0].memory.seq == 2


def test_fused_scores_stay_between_0_and_1() -> None:
    """Scores of any scale fuse into 0 … 1, best first."""
    found = [Found(0, 1, 300.0, -0.2), Found(0, 2, 1.0, 0.9), Found(1, 1, None, 0.4)]
    fused = fusion.fuse(found)
    values = [one.fused for one in fused]
    assert values == sorted(values, reverse=True)
    assert all(0.0 <= value <= 1.0 for value in values)


def test_one_candidate_counts_in_full() -> None:
    """A lone candidate is normalised to 1 and not to nothing."""
    assert fusion.fuse([Found(0, 1, 2.0, 0.3)])[0].fused == pytest.approx(1.0)


@given(st.integers(0, 10_000), st.integers(0, 10_000), st.sampled_from(list(Priority)))
def test_factors_only_move_a_score_within_their_bound(
    days: int, uses: int, priority: Priority
) -> None:
    """However old, important or used a memory is, the multiplier stays within 1 … 1.1."""
    values = {
        **factors.factors(memory(1, "x"), NOW + timedelta(days=days)),
        "usage": factors.usage(uses),
        "priority": factors.PRIORITIES[priority],
    }
    assert 1.0 <= factors.multiplier(values) <= 1.0 + factors.BOUND + 1e-9


def test_recency_halves() -> None:
    """A half-life ago counts half; the future counts as now."""
    past = NOW - timedelta(days=factors.HALF_LIFE_DAYS)
    assert factors.recency(past, NOW) == pytest.approx(0.5)
    assert factors.recency(NOW + timedelta(days=1), NOW) == 1.0


def test_relevance_compares_between_questions() -> None:
    """The same matter in other words is relevant; a shared common word is not."""
    same = factors.relevance(0.62, ["databas", "journal"], ["sqlite", "wal", "databas"])
    other = factors.relevance(0.12, ["databas", "journal", "mode"], ["journal", "of", "travel"])
    assert same > 0.5 > 0.3 > other
    assert factors.relevance(None, ["a", "b"], ["a", "b"]) == 1.0


def test_stale_entries_of_an_index_vanish() -> None:
    """What the journal no longer knows under its number is no hit."""
    shelf = Shelf([memory(2, "beta")], lexical=[(1, 9.0), (2, 1.0)])
    assert [hit.memory.seq for hit in ask("beta", [shelf])] == [2]


def test_expired_memories_are_not_shown() -> None:
    """A memory past its end, or no longer valid, is silent."""
    gone = memory(1, "beta", expires_at=NOW - timedelta(seconds=1))
    void = memory(2, "beta", valid_until=NOW - timedelta(days=1))
    kept = memory(3, "beta", valid_until=NOW + timedelta(days=1))
    shelf = Shelf([gone, void, kept], lexical=[(1, 3.0), (2, 2.0), (3, 1.0)])
    assert [hit.memory.seq for hit in ask("beta", [shelf])] == [3]


def test_near_duplicates_collapse() -> None:
    """Of two texts that say the same, the better stands for both."""
    words = "the ledger uses sqlite in wal mode because readers must not block"
    shelf = Shelf(
        [memory(1, words), memory(2, words + " ever"), memory(3, "pnpm builds the frontend")],
        lexical=[(1, 3.0), (2, 2.9), (3, 1.0)],
    )
    assert [hit.memory.seq for hit in ask("ledger", [shelf])] == [1, 3]


def test_the_own_project_comes_first_on_a_tie() -> None:
    """With equal scores, the memory of the project that asks is before the global one."""
    shared, own = memory(1, "tabs not spaces"), memory(1, "spaces, not tabs", project="p-1")
    shelves = [Shelf([shared], lexical=[(1, 1.0)]), Shelf([own], lexical=[(1, 1.0)])]
    asked = query.analyse("tabs", Scope(), None, own_project="p-1")
    assert search(asked, shelves, 2, NOW)[0].memory.project == "p-1"


def test_collapse_keeps_order_and_stops_at_k() -> None:
    """Collapsing never reorders, and does not look further than it must."""
    looked = []

    def terms(item: int) -> frozenset[str]:
        looked.append(item)
        return frozenset({str(item)})

    assert supersession.collapse(range(100), terms, 3) == [0, 1, 2]
    assert len(looked) == 3


def hits_of(texts: Sequence[str]) -> list[Hit]:
    """Return hits as a search gives them."""
    return [
        Hit(
            memory(n, text, source=Source("s", "/t/x.jsonl", 3, 9, n)),
            1.0 / n,
            0.9,
            {},
            0,
            frozenset(),
        )
        for n, text in enumerate(texts, 1)
    ]


@given(st.lists(st.text(min_size=1, max_size=3_000), min_size=1, max_size=8), st.integers(150, 800))
def test_a_block_never_exceeds_its_budget(texts: list[str], budget: int) -> None:
    """Whatever is found, what is injected fits in the tokens allowed."""
    notes = render.notes(hits_of(texts), budget, lambda project: "ledger", ["word"])
    if notes:
        assert injection.tokens(injection.fence(notes)) <= budget * 1.1


def test_a_note_says_when_what_and_where() -> None:
    """The first line carries date, kind, project, id and the source lines."""
    line = render.head(hits_of(["text"])[0].memory, "ledger")
    assert line == "2026-05-03 · note · ledger · 00000000 x.jsonl:3-9"
