"""What a second import of the same notes means: which drafts are stored, moved, changed or new.

A draft's key says file, headings and words. The same key is the same note; the same words under
other headings were moved; other words under the same headings, when most of them are the same,
are the note as it reads now.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

ALIKE = 0.5
"""The share of two texts' words that must be common (Jaccard) for one to be the other, changed."""
MOST_COMPARED = 300
"""Drafts without a match below one heading, beyond which changed ones count as new and gone."""

_WORD = re.compile(r"\w+")


@dataclass
class ReimportPlan:
    """By position of the draft, the key of the stored note that it is (`same`, `moved`) or takes the
    place of (`changed`); positions of `new` drafts; the keys of what is `gone` from the file."""

    same: dict[int, str] = field(default_factory=dict)
    moved: dict[int, str] = field(default_factory=dict)
    changed: dict[int, str] = field(default_factory=dict)
    new: list[int] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)


def plan(drafts: Sequence[tuple[str, str]], stored: Mapping[str, str]) -> ReimportPlan:
    """Match drafts with what earlier imports of the same file stored.

    Args:
        drafts: (key, text) of what the file says now, keys distinct.
        stored: the texts stored from this file, by key.
    """
    made = ReimportPlan()
    left = dict(stored)
    rest: list[int] = []
    for position, (key, _) in enumerate(drafts):
        if key in left:
            made.same[position] = key
            del left[key]
        else:
            rest.append(position)
    rest = _move(drafts, rest, left, made)
    made.new = _change(drafts, rest, left, made)
    made.gone = list(left)
    return made


def _move(
    drafts: Sequence[tuple[str, str]], rest: list[int], left: dict[str, str], made: ReimportPlan
) -> list[int]:
    """Match what says the same below other headings; return what is left of the drafts."""
    places: dict[str, list[str]] = {}
    for key in left:
        places.setdefault(words_of(key), []).append(key)
    remaining = []
    for position in rest:
        same = places.get(words_of(drafts[position][0]))
        if same:
            made.moved[position] = same.pop()
            del left[made.moved[position]]
        else:
            remaining.append(position)
    return remaining


def _change(
    drafts: Sequence[tuple[str, str]], rest: list[int], left: dict[str, str], made: ReimportPlan
) -> list[int]:
    """Match what reads differently now, the most alike first; return the drafts that are new."""
    below: dict[str, list[str]] = {}
    for key in left:
        below.setdefault(_headings_of(key), []).append(key)
    pairs: list[tuple[float, int, str]] = []
    for position in rest:
        key, text = drafts[position]
        candidates = below.get(_headings_of(key), [])
        if len(candidates) * len(rest) <= MOST_COMPARED * MOST_COMPARED:
            pairs += [(-alike(text, left[old]), position, old) for old in candidates]
    for score, position, old in sorted(pairs):
        if -score >= ALIKE and position not in made.changed and old in left:
            made.changed[position] = old
            del left[old]
    return [position for position in rest if position not in made.changed]


def alike(one: str, other: str) -> float:
    """Return the share of common words of two texts, from 0 to 1 (Jaccard)."""
    first, second = set(_WORD.findall(one.casefold())), set(_WORD.findall(other.casefold()))
    return len(first & second) / len(first | second) if first | second else 0.0


def words_of(key: str) -> str:
    """Return the part of a key that says the words."""
    return key.rpartition(":")[2]


def _headings_of(key: str) -> str:
    return key.rpartition(":")[0]
