"""Near-duplicates collapse when shown: the best of them stands for all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")
SAME = 0.85
"""The share of words that two texts have in common when one stands for both."""


def collapse(
    items: Iterable[Item],
    terms_of: Callable[[Item], frozenset[str]],
    k: int,
    apart: Callable[[Item, Item], bool] = lambda one, other: False,
) -> list[Item]:
    """Return at most k items in their order, without those that say again what stands before.

    Args:
        apart: whether two items are known to speak against each other: then each is shown, however
            alike their words are.
    """
    kept: list[tuple[Item, frozenset[str]]] = []
    for item in items:
        if len(kept) == k:
            break
        terms = terms_of(item)
        if not any(jaccard(terms, seen) >= SAME and not apart(item, other) for other, seen in kept):
            kept.append((item, terms))
    return [item for item, _ in kept]


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of common elements, 1 for two empty sets."""
    union = len(one | other)
    return len(one & other) / union if union else 1.0
