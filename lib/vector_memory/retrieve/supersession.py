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
    apart: Callable[[Item, Item], bool] = lambda one, other: False,
    turn_of: Callable[[Item], object] = lambda item: None,
    words_of: Callable[[Item], frozenset[str]] | None = None,
) -> list[Item]:
    """Return at most k items in their order, without those that say again what stands before: nearly
    the same words, or, of one turn, words that the other contains.

    Args:
        apart: whether two items are known to speak against each other: then each is shown, however
            alike their words are.
        turn_of: the turn that an item comes from, None for none.
        words_of: the words of an item without those that all of a turn have; its terms by default.
    """
    kept: list[tuple[Item, frozenset[str], object]] = []
    words_of = words_of or terms_of
    for item in items:
        if len(kept) == k:
            break
        # Only now, one by one: the terms of what is never reached are never made.
        terms, turn = terms_of(item), turn_of(item)
        if not any(
            (
                jaccard(terms, seen) >= SAME
                or (
                    turn is not None
                    and turn == there
                    and contained(words_of(item), words_of(other)) >= WITHIN
                )
            )
            and not apart(item, other)
            for other, seen, there in kept
        ):
            kept.append((item, terms, turn))
    return [item for item, _, _ in kept]


def contained(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of the smaller set that the other holds, 0 … 1; 1 for an empty one."""
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller else 1.0


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of common elements among all of two sets, 0 … 1; 1 for two empty sets."""
    union = len(one | other)
    return len(one & other) / union if union else 1.0
