"""Intervals of shares, against values from the literature."""

from __future__ import annotations

import pytest

from vector_memory.service.think.proportion import difference, proportion


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
