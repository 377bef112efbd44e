"""Figures with what they stand on: shares and medians with their intervals, and groups compared. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, comb, floor, sqrt
from statistics import NormalDist, median

NOT_ENOUGH = "not enough evidence"
SURE, LEAST = 0.95, 5
"""How sure an interval is, and of how many cases at least something is said."""
LAST_RUNS, LEAST_RUNS = 5, 3
TOO_FEW_RUNS = "too few runs to compare with"
WORSE, SPREADS = 1.2, 3.0
"""A figure is worse than usual beyond so many times the median of the last runs and so many spreads above it."""


@dataclass(frozen=True)
class Rate:
    """`k` of `n`, and between which shares the true one lies with 95 of 100 (0 to 1).

    Attributes:
        is_enough: whether there are enough cases to go by.
        told: all of it in words.
    """

    k: int
    n: int
    low: float
    high: float
    is_enough: bool
    told: str


def rate(k: int, n: int) -> Rate:
    """Return a share with its interval, which is 0 to 1 where there is no case.

    Source: E. B. Wilson, JASA 22, 1927.
    """
    if not n:
        return Rate(0, 0, 0.0, 1.0, False, f"{NOT_ENOUGH}: no case")
    z, p = NormalDist().inv_cdf(0.5 + SURE / 2), k / n
    center = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low, high = round(max(0.0, center - half), 3), round(min(1.0, center + half), 3)
    text = f"{k} of {n} ({100 * low:.0f}-{100 * high:.0f} %)"
    text = text if n >= LEAST else f"{text}, too few to go by"
    return Rate(k, n, low, high, n >= LEAST, text)


@dataclass(frozen=True)
class Median:
    """The median of `n` numbers, and between which of them the true one lies with 95 of 100; of fewer than
    six between the least and the most."""

    n: int
    median: float
    low: float
    high: float


def median_of(numbers: Sequence[float]) -> Median:
    """Return the median with its interval, all zero without numbers."""
    if not numbers:
        return Median(0, 0.0, 0.0, 0.0)
    ordered, n = sorted(numbers), len(numbers)
    reach = NormalDist().inv_cdf(0.5 + SURE / 2) * sqrt(n) / 2
    low_place, high_place = max(0, floor(n / 2 - reach)), min(n - 1, ceil(n / 2 + reach) - 1)
    numbers = (median(ordered), ordered[low_place], ordered[high_place])
    return Median(n, *(round(number, 2) for number in numbers))


@dataclass(frozen=True)
class ChanceTest:
    """How many one would have done as the others do, and how likely so few, or so many, or a result as rare as
    this one (`either`), are by chance alone."""

    expected: float
    few: float
    many: float
    either: float


def chance_of(strata: Iterable[tuple[Rate, Rate]]) -> ChanceTest:
    """Return how far chance explains that one does better or worse than others.

    Like tasks are compared with like alone: each pair of shares is of one kind, one's own and the others'. It is
    the exact test of Cochran, Mantel and Haenszel, right for few, too; for one pair it is Fisher's.
    """
    from numpy import convolve

    ways, done_count, expected = [1.0], 0, 0.0
    for own, others in strata:
        good_count, total = own.k + others.k, own.n + others.n
        chances = [
            comb(good_count, k) * comb(total - good_count, own.n - k) / comb(total, own.n)
            for k in range(min(own.n, good_count) + 1)
        ]
        ways, done_count = [float(way) for way in convolve(ways, chances)], done_count + own.k
        expected += own.n * good_count / total if total else 0
    few, many = sum(ways[: done_count + 1]), sum(ways[done_count:])
    either = sum(way for way in ways if way <= ways[done_count] * (1 + 1e-9))
    return ChanceTest(round(expected, 1), *(min(1.0, p_value) for p_value in (few, many, either)))


@dataclass(frozen=True)
class RateComparison:
    """Two groups by the share of what went well in each.

    Attributes:
        p: how likely chance alone makes them differ so much (Fisher's exact test, two sides).
        verdict: which is better, that it cannot be told, or that there is not enough evidence.
    """

    first: Rate
    second: Rate
    p: float
    verdict: str


def compare(first: Rate, second: Rate, names: tuple[str, str]) -> RateComparison:
    """Return how two groups compare.

    Args:
        names: what they are called in the verdict.
    """
    p = chance_of([(first, second)]).either
    if not (first.is_enough and second.is_enough):
        verdict = f"{NOT_ENOUGH}: each group needs {LEAST} cases whose end is known"
    elif p >= 1 - SURE:
        verdict = f"no difference that chance would not explain (p = {p:.2f})"
    else:
        better = names[0] if first.k / first.n > second.k / second.n else names[1]
        verdict = f"{better} went better (p {f'= {p:.3f}' if p >= 0.001 else '< 0.001'})"
    return RateComparison(first, second, round(p, 4), verdict)


def trend(history: Sequence[float], figure: float) -> str:
    """Return how a figure of which less is better compares with earlier ones, in words: `worse` first where it
    is. It is worse beyond the median of the last five by a fifth and by three median deviations."""
    recent = history[-LAST_RUNS:]
    if len(recent) < LEAST_RUNS:
        return TOO_FEW_RUNS
    usual = median(recent)
    spread = median(abs(number - usual) for number in recent)
    is_worse = figure > WORSE * usual and figure > usual + SPREADS * spread
    return f"worse than the usual {usual:g}" if is_worse else f"as usual ({usual:g})"
