"""The factors beside similarity."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory.retrieve import factors
from vector_memory.retrieve.factors import least_relevance


def test_the_least_relevance_rises_with_the_number_of_memories() -> None:
    """Among few it is the setting, and never so high that nothing is said any more."""
    assert least_relevance(0.3, 0) == least_relevance(0.3, 100) == pytest.approx(0.3)
    sizes = [least_relevance(0.3, size) for size in (100, 1_000, 5_000, 10_000)]
    assert sizes == sorted(set(sizes))
    assert 0.5 < least_relevance(0.3, 10_000) == least_relevance(0.3, 1_000_000) < 0.7
    assert [least_relevance(edge, 5_000) for edge in (0.0, 1.0)] == [0.0, 1.0]


def test_each_priority_is_a_quarter_apart_in_the_literal_sum() -> None:
    """LOW counts a quarter there, and nothing among the factors that raise a score."""
    values = {"recency": 0.0, "usage": 0.0, "confidence": 0.5}
    counted = [
        factors.literal_score(0.0, {**values, "priority": one}) for one in (0.0, 0.5, 0.75, 1.0)
    ]
    assert counted == pytest.approx([0.05, 0.10, 0.15, 0.20])
    assert factors.multiplier({**values, "priority": 0.0}) < factors.multiplier(
        {**values, "priority": 0.25}
    )


@given(st.lists(st.floats(0.0, 1.0), max_size=12))
def test_what_is_told_never_rises_and_says_as_much_in_sum(relevances: list[float]) -> None:
    told = factors.falling(relevances)
    assert all(one >= other for one, other in itertools.pairwise(told))
    assert sum(told) == pytest.approx(sum(relevances))
    assert factors.falling(sorted(relevances, reverse=True)) == sorted(relevances, reverse=True)
