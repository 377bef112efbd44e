"""Shares, medians and comparisons with what they stand on."""

from __future__ import annotations

import pytest

from vector_memory.service.think import figures


def test_a_share_tells_its_interval() -> None:
    """As tables of Wilson's interval have it."""
    found = figures.share(8, 10)
    assert (found.low, found.high) == (0.49, 0.943)
    assert found.told == "8 of 10 (49-94 %)"
    assert figures.share(0, 10).low == 0.0
    assert figures.share(10, 10).high == 1.0


@pytest.mark.parametrize(("k", "n"), [(0, 0), (1, 1), (4, 4)])
def test_few_cases_are_too_few(k: int, n: int) -> None:
    """However well they went."""
    found = figures.share(k, n)
    assert not found.is_enough
    assert "evidence" in found.told or "too few" in found.told


def test_a_median_lies_within_its_interval() -> None:
    """Which is of its own numbers."""
    found = figures.middle([float(one) for one in range(1, 22)])
    assert (found.n, found.median, found.low, found.high) == (21, 11.0, 7.0, 15.0)
    assert figures.middle([]).n == 0
    assert figures.middle([3.0]) == figures.Middle(1, 3.0, 3.0, 3.0)


def test_the_lady_tasting_tea() -> None:
    """Fisher's own example, and groups that cannot differ."""
    assert figures.fisher(3, 4, 1, 4) == pytest.approx(0.4857, abs=1e-3)
    assert figures.fisher(0, 0, 3, 4) == 1.0
    assert figures.fisher(5, 5, 5, 5) == pytest.approx(1.0)


def test_a_comparison_says_what_cannot_be_told() -> None:
    """Too few cases, no difference, or which went better."""
    few = figures.compare(figures.share(3, 3), figures.share(0, 3), ("a", "b"))
    assert figures.NOT_ENOUGH in few.verdict
    alike = figures.compare(figures.share(5, 10), figures.share(6, 10), ("a", "b"))
    assert alike.verdict.startswith("no difference")
    apart = figures.compare(figures.share(19, 20), figures.share(4, 20), ("a", "b"))
    assert apart.verdict.startswith("a went better")
