"""What the counters mean, in words."""

from __future__ import annotations

import os
from collections.abc import Mapping

from vector_memory.cli.answers import Row
from vector_memory.text import tables

TROUBLE = tables.pairs("troubles", os.path.dirname(__file__))
USUAL = tables.pairs("counters", os.path.dirname(__file__))
_HOOK = "hook_"


def nonzero_counts(counters: Mapping[str, object], names: Mapping[str, str]) -> list[str]:
    """Return the counters of these names that count anything, in words."""
    return [
        with_count(number(counters[name]), words)
        for name, words in names.items()
        if number(counters.get(name))
    ]


def usual(counters: Mapping[str, object]) -> list[str]:
    """Return what happens all the time, in words: the hooks together, then the rest, counters that no
    word is known for by their names."""
    hooks = sum(
        number(count)
        for name, count in counters.items()
        if name.startswith(_HOOK) and name not in TROUBLE
    )
    unknown = {
        name: name
        for name in counters
        if name not in TROUBLE and name not in USUAL and not name.startswith(_HOOK)
    }
    hook_lines = [with_count(hooks, "[hook was/hooks were] answered")] if hooks else []
    return hook_lines + nonzero_counts(counters, USUAL) + nonzero_counts(counters, unknown)


def uses(counts: Row) -> str:
    """Return in words how much of what was shown was used; "" where nothing is known."""
    shown, used, days = counts.count("shown"), counts.count("used"), counts.count("days")
    if not shown:
        return ""
    notes = with_count(shown, "[note/notes] that sessions were shown")
    share = f"{100 * used / shown:.0f} %, in the last {days} days"
    return f"{used:,} of {notes} {'was' if used == 1 else 'were'} used ({share})"


def with_count(count: int, words: str) -> str:
    """Return a count with its words, of which `[one/several]` is what is said of one, or of any other number."""
    parts = words.replace("]", "[").split("[")
    parts[1::2] = [forms.partition("/")[0 if count == 1 else 2] for forms in parts[1::2]]
    return f"{count:,} " + "".join(parts)


def number(value: object) -> int:
    """Return a count, 0 for what is none."""
    return value if isinstance(value, int) else 0
