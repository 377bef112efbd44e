"""Many patterns looked for in one pass over a text, by RE2's automaton: its time does not depend on how
many there are. It knows no lookaround; patterns that have one are looked for without it, and what is
found then is looked at again, by itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

import re2

from vector_memory.text import tables

AUTOMATON_BYTES = 16 * 2**20
"""What one set may take; RE2 makes its states as it needs them, and starts over when they are too many: with
half of it a hundred cues take twice as long."""

_LOOKAROUNDS = ("(?=", "(?!", "(?<=", "(?<!")


class PatternSet:
    """Patterns that are found together, whatever their case.

    Args:
        patterns: as `re` has them, without backreferences. `\\b`, `\\w` and `\\d` mean ASCII alone.

    Raises:
        ValueError: RE2 does not know such a pattern.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        options = re2.Options()
        options.case_sensitive = False
        options.log_errors = False
        options.max_mem = AUTOMATON_BYTES
        self._set = re2.Set.SearchSet(options)
        self._exact: dict[int, re.Pattern[str]] = {}
        self._count = len(patterns)
        for place, pattern in enumerate(patterns):
            loose = without_lookaround(pattern)
            if loose != pattern:
                self._exact[place] = re.compile(pattern, re.IGNORECASE)
            try:
                self._set.Add(loose)
            except re2.error as error:
                raise ValueError(f"{pattern}: {error}") from error
        self._set.Compile()

    def found(self, text: str) -> list[int]:
        """Return the places of the patterns that a text holds, in their order."""
        # A lone surrogate has no UTF-8, which RE2 reads.
        places = self._set.Match(text.encode("utf-8", "replace").decode("utf-8")) or ()
        exact = self._exact
        return sorted(place for place in places if place not in exact or exact[place].search(text))


class PatternTable:
    """The expressions of a table that lies beside the code which reads it, all looked for in one pass.

    Args:
        name: the file's name, without its ending; its parts stand below their names in brackets.
        folder: where it lies.
    """

    def __init__(self, name: str, folder: str) -> None:
        parts = tables.sections(name, folder)
        self._names = [part for part, patterns in parts.items() for _ in patterns]
        self._set = PatternSet([pattern for patterns in parts.values() for pattern in patterns])

    def found(self, text: str) -> list[str]:
        """Return the names of the parts of which a text holds something, in the order of the table."""
        return list(dict.fromkeys(self._names[place] for place in self._set.found(text)))


def without_lookaround(pattern: str) -> str:
    """Return a pattern without its lookarounds: it finds all that the whole one finds, and more."""
    kept: list[str] = []
    place = 0
    while place < len(pattern):
        if pattern.startswith(_LOOKAROUNDS, place):
            place = _closing(pattern, place) + 1
            continue
        size = 2 if pattern[place] == "\\" else 1
        kept.append(pattern[place : place + size])
        place += size
    return "".join(kept)


def _closing(pattern: str, place: int) -> int:
    """Return where the group that opens at a place is closed."""
    depth, in_class = 0, False
    while place < len(pattern):
        char = pattern[place]
        if char == "\\":
            place += 1
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
        elif char in "()":
            depth += 1 if char == "(" else -1
            if not depth:
                break
        place += 1
    return place
