"""How sure a share of a few is: intervals of shares, and a test of two that were got at unlike tasks. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import comb, sqrt
from statistics import NormalDist

SURE = 0.95
LEAST = 5
"""Of fewer than so many nothing is said."""


@dataclass(frozen=True)
class Proportion:
    """So many of `n` went well: their share, and between what the true share lies with 95 % (Wilson's interval);
    0 to 1 where there are none."""

    n: int
    done: int
    rate: float
    low: float
    high: float


def proportion(done: int, n: int, sure: float = SURE) -> Proportion:
    """Return a share with its interval.

    Args:
        sure: with what probability the true share lies in it.
    """
    if not n:
        return Proportion(0, 0, 0.0, 0.0, 1.0)
    z, p = NormalDist().inv_cdf(0.5 + sure / 2), done / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return Proportion(
        n, done, round(p, 3), round(max(0.0, middle - half), 3), round(min(1.0, middle + half), 3)
    )


def difference(one: Proportion, other: Proportion) -> tuple[float, float]:
    """Return between what the difference of two shares lies (Newcombe's interval): as sure as their own."""
    gap = one.rate - other.rate
    low = gap - sqrt((one.rate - one.low) ** 2 + (other.high - other.rate) ** 2)
    high = gap + sqrt((one.high - one.rate) ** 2 + (other.rate - other.low) ** 2)
    return round(low, 3), round(high, 3)


@dataclass(frozen=True)
class Stratum:
    """Of `n` like tasks one did `done`, and of `others_n` the others `others_done`."""

    done: int
    n: int
    others_done: int
    others_n: int


@dataclass(frozen=True)
class Tails:
    """How many one would have done as the others do, and how likely so few, or so many, are by chance alone."""

    expected: float
    few: float
    many: float


def tails(strata: Iterable[Stratum]) -> Tails:
    """Return how far chance explains that one does better or worse than the others, like tasks compared with like
    alone: the exact test of Cochran, Mantel and Haenszel, right for few, too."""
    ways, done, expected = [1.0], 0, 0.0
    for one in strata:
        good, total = one.done + one.others_done, one.n + one.others_n
        chances = [
            comb(good, k) * comb(total - good, one.n - k) / comb(total, one.n)
            for k in range(min(one.n, good) + 1)
        ]
        summed = [0.0] * (len(ways) + len(chances) - 1)
        for at, way in enumerate(ways):
            for k, chance in enumerate(chances):
                summed[at + k] += way * chance
        ways, done, expected = summed, done + one.done, expected + one.n * good / total
    return Tails(round(expected, 1), min(1.0, sum(ways[: done + 1])), min(1.0, sum(ways[done:])))
