"""What the parts of `state.db` share: its connections, and transactions that are on the disk when they end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from vector_memory.journal.connection import Connections

if TYPE_CHECKING:
    import sqlite3


class StateTables:
    """Some tables of `state.db`: a part of `State`."""

    def __init__(self, connections: Connections, clock: Callable[[], datetime]) -> None:
        self._connections = connections
        self._now = clock

    def _row(self, sql: str, value: str) -> tuple[Any, ...] | None:
        rows = self._connections.rows(sql, (value,))
        return rows[0] if rows else None

    @contextmanager
    def _durably(self) -> Iterator[sqlite3.Connection]:
        """Give the writer within a transaction that is on the disk when it ends."""
        with self._connections.maintaining() as connection:
            # For this transaction alone: the others do not wait for the disk.
            connection.execute("PRAGMA synchronous = FULL")
            try:
                with self._connections.writing() as writer:
                    yield writer
            finally:
                connection.execute("PRAGMA synchronous = NORMAL")
