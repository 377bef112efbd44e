"""Figures with what they stand on: shares with their interval, medians with theirs, two groups compared. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, comb, floor, sqrt
from statistics import median

from vector_memory.service.think.proportion import LEAST as LEAST
from vector_memory.service.think.proportion import proportion

NOT_ENOUGH = "not enough evidence"
LAST_RUNS, LEAST_RUNS = 5, 3
TOO_FEW_RUNS = "too few runs to compare with"
WORSE, SPREADS = 1.2, 3.0
"""What is worse than usual is so many times the median of the last runs, and so many spreads from it."""
_Z = 1.96
"""Of the normal distribution: 95 of 100 lie within so many deviations."""
_DOUBT = 0.05


@dataclass(frozen=True)
class Share:
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


def share(k: int, n: int) -> Share:
    """Return a share with its interval, which is 0 to 1 where there is no case."""
    if not n:
        return Share(0, 0, 0.0, 1.0, False, f"{NOT_ENOUGH}: no case")
    found = proportion(k, n)
    told = f"{k} of {n} ({100 * found.low:.0f}-{100 * found.high:.0f} %)"
    told = told if n >= LEAST else f"{told}, too few to go by"
    return Share(k, n, found.low, found.high, n >= LEAST, told)


@dataclass(frozen=True)
class Middle:
    """The median of `n` numbers, and between which of them the true one lies with 95 of 100; of fewer than
    six between the least and the most."""

    n: int
    median: float
    low: float
    high: float


def middle(numbers: Sequence[float]) -> Middle:
    """Return the median with its interval, all zero without numbers."""
    if not numbers:
        return Middle(0, 0.0, 0.0, 0.0)
    ordered, n = sorted(numbers), len(numbers)
    reach = _Z * sqrt(n) / 2
    first, last = max(0, floor(n / 2 - reach)), min(n - 1, ceil(n / 2 + reach) - 1)
    found = (median(ordered), ordered[first], ordered[last])
    return Middle(n, *(round(one, 2) for one in found))


@dataclass(frozen=True)
class Comparison:
    """Two groups by the share of what went well in each.

    Attributes:
        p: how likely chance alone makes them differ so much (Fisher's exact test, two sides).
        verdict: which is better, that it cannot be told, or that there is not enough evidence.
    """

    first: Share
    second: Share
    p: float
    verdict: str


def compare(first: Share, second: Share, names: tuple[str, str]) -> Comparison:
    """Return how two groups compare.

    Args:
        names: what they are called in the verdict.
    """
    p = fisher(first.k, first.n, second.k, second.n)
    if not (first.is_enough and second.is_enough):
        verdict = f"{NOT_ENOUGH}: each group needs {LEAST} cases whose end is known"
    elif p >= _DOUBT:
        verdict = f"no difference that chance would not explain (p = {p:.2f})"
    else:
        better = names[0] if first.k / first.n > second.k / second.n else names[1]
        verdict = f"{better} went better (p = {p:.3f})"
    return Comparison(first, second, round(p, 4), verdict)


def fisher(k: int, n: int, other_k: int, other_n: int) -> float:
    """Return how likely two groups differ at least so much by chance.

    Source: R. A. Fisher, The Design of Experiments, 1935, chapter 2 (the exact test).
    """
    good, total = k + other_k, n + other_n
    if not (n and other_n):
        return 1.0
    ways = comb(total, good)

    def chance(here: int) -> float:
        return comb(n, here) * comb(other_n, good - here) / ways

    seen = chance(k) * (1 + 1e-9)
    span = range(max(0, good - other_n), min(n, good) + 1)
    return min(1.0, sum(one for one in map(chance, span) if one <= seen))


def compared(history: Sequence[float], now: float) -> str:
    """Return how a figure of which less is better compares with earlier ones, in words: `worse` first where it
    is. It is worse beyond the median of the last five by a fifth and by three median deviations."""
    last = history[-LAST_RUNS:]
    if len(last) < LEAST_RUNS:
        return TOO_FEW_RUNS
    usual = median(last)
    spread = median(abs(one - usual) for one in last)
    is_worse = now > WORSE * usual and now > usual + SPREADS * spread
    return f"worse than the usual {usual:g}" if is_worse else f"as usual ({usual:g})"
