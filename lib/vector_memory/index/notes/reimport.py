"""What a second import of the same notes means: which drafts are stored, moved, changed or new.

A draft's key says file, headings and words. The same key is the same note; the same words under
other headings were moved; other words under the same headings, when most of them are the same,
are the note as it reads now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from vector_memory.text.words import names_in

ALIKE = 0.5
"""The share of two texts' words that must be common (Jaccard) for one to be the other, changed."""
MOST_COMPARED = 300
"""Drafts without a match below one heading, beyond which changed ones count as new and gone."""


class ReimportPlan(NamedTuple):
    """By position of the draft, the key of the stored note that it is (`same`, `moved`) or takes the
    place of (`changed`); positions of `new` drafts; the keys of what is `gone` from the file."""

    same: dict[int, str]
    moved: dict[int, str]
    changed: dict[int, str]
    new: list[int]
    gone: list[str]


def plan(drafts: Sequence[tuple[str, str]], stored: Mapping[str, str]) -> ReimportPlan:
    """Match drafts with what earlier imports of the same file stored.

    Args:
        drafts: (key, text) of what the file says now, keys distinct.
        stored: the texts stored from this file, by key.
    """
    same = {position: key for position, (key, _) in enumerate(drafts) if key in stored}
    unmatched = [position for position in range(len(drafts)) if position not in same]
    same_keys = set(same.values())
    remaining = {key: text for key, text in stored.items() if key not in same_keys}
    by_words = _keys_by_part(remaining, words_of)
    moved: dict[int, str] = {}
    for position in unmatched:
        if keys := by_words.get(words_of(drafts[position][0])):
            moved[position] = keys.pop()
            del remaining[moved[position]]
    unmatched = [position for position in unmatched if position not in moved]
    changed = _changed_notes({position: drafts[position] for position in unmatched}, remaining)
    new = [position for position in unmatched if position not in changed]
    changed_keys = set(changed.values())
    gone = [key for key in remaining if key not in changed_keys]
    return ReimportPlan(same, moved, changed, new, gone)


def _changed_notes(
    unmatched: Mapping[int, tuple[str, str]], remaining: Mapping[str, str]
) -> dict[int, str]:
    """Match what reads differently now below the same headings, the most alike first."""
    below = _keys_by_part(remaining, _headings_of)
    pairs: list[tuple[float, int, str]] = []
    for position, (key, text) in unmatched.items():
        candidates = below.get(_headings_of(key), [])
        if len(candidates) * len(unmatched) <= MOST_COMPARED * MOST_COMPARED:
            pairs += [
                (-alike(text, remaining[stored_key]), position, stored_key)
                for stored_key in candidates
            ]
    changed: dict[int, str] = {}
    taken_keys: set[str] = set()
    for score, position, stored_key in sorted(pairs):
        if -score >= ALIKE and position not in changed and stored_key not in taken_keys:
            changed[position] = stored_key
            taken_keys.add(stored_key)
    return changed


def _keys_by_part(keys: Iterable[str], part_of: Callable[[str], str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for key in keys:
        groups.setdefault(part_of(key), []).append(key)
    return groups


def alike(one: str, other: str) -> float:
    """Return the share of common words of two texts, from 0 to 1 (Jaccard)."""
    first, second = set(names_in(one.casefold())), set(names_in(other.casefold()))
    return len(first & second) / len(first | second) if first | second else 0.0


def words_of(key: str) -> str:
    """Return the part of a key that says the words."""
    return key.rpartition(":")[2]


def _headings_of(key: str) -> str:
    return key.rpartition(":")[0]
