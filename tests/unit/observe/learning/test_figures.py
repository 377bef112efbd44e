"""Shares, medians and comparisons with what they stand on."""

from __future__ import annotations

import pytest

from vector_memory.observe.learning import figures


def test_a_share_tells_its_interval() -> None:
    """As tables of Wilson's interval have it."""
    found = figures.rate(8, 10)
    assert (found.low, found.high) == (0.49, 0.943)
    assert found.told == "8 of 10 (49-94 %)"
    assert figures.rate(0, 10).low == 0.0
    assert figures.rate(10, 10).high == 1.0


@pytest.mark.parametrize(("k", "n"), [(0, 0), (1, 1), (4, 4)])
def test_few_cases_are_too_few(k: int, n: int) -> None:
    """However well they went."""
    found = figures.rate(k, n)
    assert not found.is_enough
    assert "evidence" in found.told or "too few" in found.told


def test_a_median_lies_within_its_interval() -> None:
    """Which is of its own numbers."""
    found = figures.median_of([float(one) for one in range(1, 22)])
    assert (found.n, found.median, found.low, found.high) == (21, 11.0, 7.0, 15.0)
    assert figures.median_of([]).n == 0
    assert figures.median_of([3.0]) == figures.Median(1, 3.0, 3.0, 3.0)


def test_the_lady_tasting_tea() -> None:
    """Fisher's own example, and groups that cannot differ."""
    for (k, n, other_k, other_n), p in {
        (3, 4, 1, 4): 0.4857,
        (0, 0, 3, 4): 1.0,
        (5, 5, 5, 5): 1.0,
    }.items():
        pair = (figures.rate(k, n), figures.rate(other_k, other_n))
        assert figures.chance_of([pair]).either == pytest.approx(p, abs=1e-3)


def test_a_comparison_says_what_cannot_be_told() -> None:
    """Too few cases, no difference, or which went better."""
    few = figures.compare(figures.rate(3, 3), figures.rate(0, 3), ("a", "b"))
    assert figures.NOT_ENOUGH in few.verdict
    alike = figures.compare(figures.rate(5, 10), figures.rate(6, 10), ("a", "b"))
    assert alike.verdict.startswith("no difference")
    apart = figures.compare(figures.rate(19, 20), figures.rate(4, 20), ("a", "b"))
    assert apart.verdict.startswith("a went better")


@pytest.mark.parametrize(
    ("done", "n", "low", "high"),
    [(0, 10, 0.0, 0.278), (10, 10, 0.722, 1.0), (5, 10, 0.237, 0.763), (81, 263, 0.255, 0.366)],
)
def test_wilson(done: int, n: int, low: float, high: float) -> None:
    """The last is Newcombe's own example."""
    rate = figures.rate(done, n)
    assert (rate.low, rate.high) == pytest.approx((low, high), abs=0.001)


def test_of_none_nothing_is_known() -> None:
    """The true share may be anything."""
    assert (figures.rate(0, 0).low, figures.rate(0, 0).high) == (0.0, 1.0)


def pair(done: int, n: int, others_done: int, others_n: int) -> tuple[figures.Rate, figures.Rate]:
    """Return how one did with a kind of task, and how the others did."""
    return figures.rate(done, n), figures.rate(others_done, others_n)


def test_chance_of_one_kind() -> None:
    """Fisher's tea: of four cups all four right, where four of eight are."""
    found = figures.chance_of([pair(4, 4, 0, 4)])
    assert (found.expected, found.many, found.few) == (
        2.0,
        pytest.approx(1 / 70),
        pytest.approx(1.0),
    )


def test_unlike_tasks_are_not_compared() -> None:
    """One that gets the hard kind alone is no worse for it: kind by kind it does as well as the others."""
    assert figures.chance_of([pair(2, 10, 1, 5), pair(5, 5, 40, 40)]).few > 0.5
    assert figures.chance_of([pair(7, 15, 41, 45)]).few < 0.001
