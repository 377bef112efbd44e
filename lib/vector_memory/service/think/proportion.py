"""How sure a share of a few is: intervals for proportions. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
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
