"""How far transcripts have been read, and what is due then."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Literal

from vector_memory.journal.state_tables import StateTables
from vector_memory.system.json_in import Record

Task = Literal["topics", "summary", "mining", "lessons", "purge"]
"""What may be due, each for what its key names: a session's id, for `lessons` a transcript's path, for `purge` a
store's folder."""


class DueRows(StateTables):
    """How far transcripts have been read, and what is due: a part of `State`."""

    def cursor(self, path: str) -> Record | None:
        """Return how far a transcript has been read, as `Cursor.to_dict` gives it, or None if it has not."""
        row = self._row("SELECT cursor FROM cursors WHERE path = ?", path)
        return Record(json.loads(row[0])) if row else None

    def set_cursor(self, path: str, cursor: Mapping[str, object]) -> None:
        """Note how far a transcript has been read. Durable."""
        self.set_cursors({path: cursor})

    def set_cursors(
        self, cursors: Mapping[str, Mapping[str, object]], due: Iterable[tuple[Task, str]] = ()
    ) -> None:
        """Note how far transcripts have been read, and which tasks are due then, in one transaction. Durable.

        Args:
            due: (task, key) pairs.
        """
        rows = [(path, json.dumps(cursor)) for path, cursor in cursors.items()]
        with self._durably() as connection:
            connection.executemany("INSERT OR REPLACE INTO cursors VALUES (?, ?)", rows)
            # With the cursor or not at all: what is read once is not read again for its topics.
            connection.executemany("INSERT OR IGNORE INTO due VALUES (?, ?)", list(due))

    def cursors(self) -> dict[str, Record]:
        """Return all cursors by transcript path, sorted by it."""
        rows = self._connections.rows("SELECT path, cursor FROM cursors ORDER BY path")
        return {path: Record(json.loads(cursor)) for path, cursor in rows}

    def add_due(self, task: Task, key: str) -> None:
        """Note that a task is due for what its key names. Durable."""
        self.set_cursors({}, [(task, key)])

    def due(self, task: Task, most: int = -1) -> list[str]:
        """Return the keys for which a task is due, sorted, so many at most; all for -1."""
        sql = "SELECT session FROM due WHERE task = ? ORDER BY session LIMIT ?"
        return [row[0] for row in self._connections.rows(sql, (task, most))]

    def has_due(self) -> bool:
        """Whether anything is due."""
        return bool(self._connections.rows("SELECT 1 FROM due LIMIT 1"))

    def is_due(self, task: Task, key: str) -> bool:
        """Whether a task is due for what its key names."""
        sql = "SELECT 1 FROM due WHERE task = ? AND session = ?"
        return bool(self._connections.rows(sql, (task, key)))

    def done(self, task: Task, keys: Iterable[str]) -> None:
        """Note that a task is done for these keys. What a power cut takes of this is done again."""
        with self._connections.writing() as connection:
            rows = [(task, key) for key in keys]
            connection.executemany("DELETE FROM due WHERE task = ? AND session = ?", rows)
