"""The verbs that the daemon answers, as the table `daemon_verbs.txt` beside this module has them. Standard library only."""

from __future__ import annotations

import os
from typing import NamedTuple

from vector_memory.text import tables


class DaemonVerb(NamedTuple):
    """What is known of a verb before anything of it is imported.

    Attributes:
        answered_by: the module below `service` and its function, and the class of the request; `daemon` where the
            daemon has a function of its own.
        words: its act and its marks, as the table's head explains them.
    """

    answered_by: str
    words: tuple[str, ...]


def _read(line: str) -> tuple[str, DaemonVerb]:
    name, answered_by, words = f"{line} | ".split(" | ")[:3]
    return name, DaemonVerb(answered_by, tuple(words.split()))


def named(word: str) -> frozenset[str]:
    """Return the verbs that have an act or a mark."""
    return frozenset(name for name, verb in VERBS.items() if word in verb.words)


VERBS = dict(map(_read, tables.lines("daemon_verbs", os.path.dirname(__file__))))
"""The verbs by their names."""
LONG_ONES = named("long")
"""Those that tell how far they are."""
