"""The names of what was purged, as hashes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from vector_memory.journal.rows import microseconds, moment, text_hash
from vector_memory.journal.state_tables import StateTables


class PurgedRows(StateTables):
    """What was purged: a part of `State`."""

    def block(self, names: Iterable[str], at: datetime) -> None:
        """Note names of what was purged, so that it is not captured again. Only their hashes are kept.
        Durable."""
        rows = [(text_hash(name), microseconds(at)) for name in set(names)]
        with self._durably() as connection:
            connection.executemany(
                "INSERT INTO purged VALUES (?, ?)"
                " ON CONFLICT (name) DO UPDATE SET at = max(at, excluded.at)",
                rows,
            )

    def blocked(self, names: Iterable[str]) -> dict[str, datetime]:
        """Return those of these names that were purged.

        Returns:
            Name → when, an aware UTC time; names that were not purged are absent.
        """
        purged_at: dict[str, datetime] = {}
        with self._connections.reading() as connection:
            # Most people never purge: nothing is hashed for them.
            if connection.execute("SELECT 1 FROM purged LIMIT 1").fetchone() is None:
                return purged_at
            for name in set(names):
                sql = "SELECT at FROM purged WHERE name = ?"
                row = connection.execute(sql, (text_hash(name),)).fetchone()
                if row is not None:
                    purged_at[name] = moment(row[0])
        return purged_at
