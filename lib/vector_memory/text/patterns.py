"""Many patterns looked for in one pass over a text, by RE2's automaton: its time does not depend on how
many there are. It knows no lookaround."""

from __future__ import annotations

from collections.abc import Sequence

import re2

from vector_memory.text import tables

AUTOMATON_BYTES = 16 * 2**20
"""What one set may take; RE2 makes its states as it needs them, and starts over when they are too many: with
half of it a hundred cues take twice as long."""


class PatternSet:
    """Patterns that are found together, whatever their case.

    Args:
        patterns: as `re` has them, without backreferences and lookaround. `\\b`, `\\w` and `\\d` mean ASCII alone.

    Raises:
        ValueError: RE2 does not know such a pattern.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        options = re2.Options()
        options.case_sensitive = False
        options.log_errors = False
        options.max_mem = AUTOMATON_BYTES
        self._set = re2.Set.SearchSet(options)
        for pattern in patterns:
            try:
                self._set.Add(pattern)
            except re2.error as error:
                raise ValueError(f"{pattern}: {error}") from error
        self._set.Compile()

    def found(self, text: str) -> list[int]:
        """Return the places of the patterns that a text holds, in their order."""
        # A lone surrogate has no UTF-8, which RE2 reads.
        return sorted(self._set.Match(text.encode("utf-8", "replace").decode("utf-8")) or ())


class PatternTable:
    """The expressions of a table that lies beside the code which reads it, all looked for in one pass.

    Args:
        name: the file's name, without its ending; its parts stand below their names in brackets.
        folder: where it lies.
    """

    def __init__(self, name: str, folder: str) -> None:
        parts = tables.sections(name, folder)
        self.parts = tuple(parts)
        self._names = [part for part, patterns in parts.items() for _ in patterns]
        self._set = PatternSet([pattern for patterns in parts.values() for pattern in patterns])

    def found(self, text: str) -> list[str]:
        """Return the names of the parts of which a text holds something, in the order of the table."""
        return list(dict.fromkeys(self._names[place] for place in self._set.found(text)))
