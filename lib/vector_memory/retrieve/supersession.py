"""Near-duplicates collapse when shown: the best of them stands for all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")
SAME = 0.85
"""The share of words that two texts have in common when one stands for both."""
WITHIN = 0.75
"""The same for an idea and the passage that it was said in."""


def collapse(
    items: Iterable[Item],
    terms_of: Callable[[Item], frozenset[str]],
    k: int,
    turn_of: Callable[[Item], object] = lambda item: None,
) -> list[Item]:
    """Return at most k items in their order, without those that say again what stands before: nearly
    the same words, or, of one turn (not None), words that the other contains."""
    kept: list[Item] = []
    seen: list[tuple[frozenset[str], object]] = []
    for item in items:
        if len(kept) == k:
            break
        terms, turn = terms_of(item), turn_of(item)
        if not any(
            jaccard(terms, other) >= SAME
            or (turn is not None and turn == there and contained(terms, other) >= WITHIN)
            for other, there in seen
        ):
            kept.append(item)
            seen.append((terms, turn))
    return kept


def contained(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of the smaller set that the other holds, 1 for an empty one."""
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller else 1.0


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of common elements, 1 for two empty sets."""
    union = len(one | other)
    return len(one & other) / union if union else 1.0
