"""Counters, which are written now and then."""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from fnmatch import fnmatchcase

from vector_memory.journal.connection import Connections
from vector_memory.journal.state_tables import StateTables

DAYS_FOR = timedelta(days=30)
"""How long the counters of single days are kept."""
_DAY = "*_[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
"""What the names of the counters of single days look like."""
_OF_A_DAY = f"name GLOB '{_DAY}'"


class CountRows(StateTables):
    """Counters: a part of `State`."""

    def __init__(self, connections: Connections, clock: Callable[[], datetime]) -> None:
        super().__init__(connections, clock)
        self._counts: Counter[str] = Counter()
        self._counting = threading.Lock()

    def count(self, name: str, by: int = 1) -> None:
        """Add to a counter. It is written by `flush` and `close`."""
        # In memory: a hook must not wait for the disk to be counted.
        with self._counting:
            self._counts[name] += by

    def counters(self) -> dict[str, int]:
        """Return all counters by name, with what is not written yet."""
        # Under the lock, so that nothing is in neither place while `flush` carries it over.
        with self._counting:
            totals = Counter(dict(self._connections.rows("SELECT name, value FROM counters")))
            totals.update(self._counts)
            return dict(totals)

    def totals(self) -> dict[str, int]:
        """Return the counters by name, but for those of single days, whose names end in a date."""
        return {name: n for name, n in self.counters().items() if not fnmatchcase(name, _DAY)}

    def _write_counts(self) -> None:
        with self._counting:
            if not self._counts or not self._connections.writable:
                return
            with self._connections.writing() as connection:
                connection.executemany(
                    "INSERT INTO counters VALUES (?, ?)"
                    " ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
                    list(self._counts.items()),
                )
            self._counts.clear()


def sweep(connection: sqlite3.Connection, now: datetime) -> None:
    """Remove the counters of days that are long over."""
    connection.execute(
        f"DELETE FROM counters WHERE {_OF_A_DAY} AND substr(name, -10) < ?",
        (f"{now - DAYS_FOR:%Y-%m-%d}",),
    )
