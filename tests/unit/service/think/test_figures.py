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
    for (k, n, other_k, other_n), p in {
        (3, 4, 1, 4): 0.4857,
        (0, 0, 3, 4): 1.0,
        (5, 5, 5, 5): 1.0,
    }.items():
        pair = (figures.share(k, n), figures.share(other_k, other_n))
        assert figures.tails([pair]).either == pytest.approx(p, abs=1e-3)


def test_a_comparison_says_what_cannot_be_told() -> None:
    """Too few cases, no difference, or which went better."""
    few = figures.compare(figures.share(3, 3), figures.share(0, 3), ("a", "b"))
    assert figures.NOT_ENOUGH in few.verdict
    alike = figures.compare(figures.share(5, 10), figures.share(6, 10), ("a", "b"))
    assert alike.verdict.startswith("no difference")
    apart = figures.compare(figures.share(19, 20), figures.share(4, 20), ("a", "b"))
    assert apart.verdict.startswith("a went better")


@pytest.mark.parametrize(
    ("done", "n", "low", "high"),
    [(0, 10, 0.0, 0.278), (10, 10, 0.722, 1.0), (5, 10, 0.237, 0.763), (81, 263, 0.255, 0.366)],
)
def test_wilson(done: int, n: int, low: float, high: float) -> None:
    """The last is Newcombe's own example."""
    share = figures.share(done, n)
    assert (share.low, share.high) == pytest.approx((low, high), abs=0.001)


def test_of_none_nothing_is_known() -> None:
    """The true share may be anything."""
    assert (figures.share(0, 0).low, figures.share(0, 0).high) == (0.0, 1.0)


def test_a_difference() -> None:
    """Newcombe's example: 56 of 70 against 48 of 80; and the same shares of half as many."""
    assert figures.is_surely_more(figures.share(56, 70), figures.share(48, 80))
    assert not figures.is_surely_more(figures.share(28, 35), figures.share(24, 40))


def test_surer_is_wider() -> None:
    """Who compares much has to be surer of each."""
    plain, strict = figures.share(5, 10), figures.share(5, 10, 0.999)
    assert strict.low < plain.low < plain.high < strict.high


def pair(done: int, n: int, others_done: int, others_n: int) -> tuple[figures.Share, figures.Share]:
    """Return how one did with a kind of task, and how the others did."""
    return figures.share(done, n), figures.share(others_done, others_n)


def test_chance_of_one_kind() -> None:
    """Fisher's tea: of four cups all four right, where four of eight are."""
    found = figures.tails([pair(4, 4, 0, 4)])
    assert (found.expected, found.many, found.few) == (
        2.0,
        pytest.approx(1 / 70),
        pytest.approx(1.0),
    )


def test_unlike_tasks_are_not_compared() -> None:
    """One that gets the hard kind alone is no worse for it: kind by kind it does as well as the others."""
    assert figures.tails([pair(2, 10, 1, 5), pair(5, 5, 40, 40)]).few > 0.5
    assert figures.tails([pair(7, 15, 41, 45)]).few < 0.001
