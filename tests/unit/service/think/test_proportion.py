"""Intervals of shares, against values from the literature."""

from __future__ import annotations

import pytest

from vector_memory.service.think.proportion import Stratum, difference, proportion, tails


@pytest.mark.parametrize(
    ("done", "n", "low", "high"),
    [(0, 10, 0.0, 0.278), (10, 10, 0.722, 1.0), (5, 10, 0.237, 0.763), (81, 263, 0.255, 0.366)],
)
def test_wilson(done: int, n: int, low: float, high: float) -> None:
    """The last is Newcombe's own example."""
    share = proportion(done, n)
    assert (share.low, share.high) == pytest.approx((low, high), abs=0.001)


def test_of_none_nothing_is_known() -> None:
    """The true share may be anything."""
    assert (proportion(0, 0).low, proportion(0, 0).high) == (0.0, 1.0)


def test_a_difference() -> None:
    """Newcombe's example: 56 of 70 against 48 of 80."""
    low, high = difference(proportion(56, 70), proportion(48, 80))
    assert (low, high) == pytest.approx((0.0524, 0.3339), abs=0.002)


def test_surer_is_wider() -> None:
    """Who compares much has to be surer of each."""
    plain, strict = proportion(5, 10), proportion(5, 10, 0.999)
    assert strict.low < plain.low < plain.high < strict.high


def test_chance_of_one_kind() -> None:
    """Fisher's tea: of four cups all four right, where four of eight are."""
    found = tails([Stratum(4, 4, 0, 4)])
    assert (found.expected, found.many, found.few) == (
        2.0,
        pytest.approx(1 / 70),
        pytest.approx(1.0),
    )


def test_unlike_tasks_are_not_compared() -> None:
    """One that gets the hard kind alone is no worse for it: kind by kind it does as well as the others."""
    hard, easy = Stratum(2, 10, 1, 5), Stratum(5, 5, 40, 40)
    assert tails([hard, easy]).few > 0.5
    assert tails([Stratum(7, 15, 41, 45)]).few < 0.001
