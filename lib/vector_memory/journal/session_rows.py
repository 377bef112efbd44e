"""What is noted of sessions: which project each belongs to, and what it has been given."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from datetime import datetime

from vector_memory.errors import StoreFullError
from vector_memory.journal.connection import Connections
from vector_memory.journal.rows import microseconds, moment
from vector_memory.journal.state_tables import StateTables

MOST_UNWRITTEN = 1_000


class SessionRows(StateTables):
    """What is noted of sessions: a part of `State`."""

    def __init__(self, connections: Connections, clock: Callable[[], datetime]) -> None:
        super().__init__(connections, clock)
        self._unwritten: dict[str, dict[str, datetime]] = {}

    def shown(self, session: str) -> set[str]:
        """Return the ids of the memories that a session has been given."""
        return set(self.shown_at(session))

    def shown_at(self, session: str) -> dict[str, datetime]:
        """Return when a session was given each memory: id → aware UTC time."""
        sql = "SELECT memory, at FROM shown WHERE session = ?"
        written = {memory: moment(at) for memory, at in self._connections.rows(sql, (session,))}
        # On a full disk a session must still not be told everything twice.
        return {**written, **self._unwritten.get(session, {})}

    def add_shown(self, session: str, ids: Iterable[str], at: datetime) -> None:
        """Note that a session has been given memories; where that cannot be written, as long as this
        process lives."""
        given = list(ids)
        rows = [(session, id, microseconds(at)) for id in given]
        try:
            with self._connections.writing() as connection:
                connection.executemany("INSERT OR REPLACE INTO shown VALUES (?, ?, ?)", rows)
        except StoreFullError:
            if len(self._unwritten) > MOST_UNWRITTEN:
                self._unwritten.clear()
            self._unwritten.setdefault(session, {}).update(dict.fromkeys(given, at))

    def take_back_shown(self, session: str, ids: Iterable[str], at: datetime) -> None:
        """Note that a session was not given memories after all that were noted at a time; what it was given
        since stays."""
        given = list(ids)
        unwritten = self._unwritten.get(session, {})
        for id in given:
            if unwritten.get(id) == at:
                del unwritten[id]
        rows = [(session, id, microseconds(at)) for id in given]
        with contextlib.suppress(StoreFullError), self._connections.writing() as connection:
            connection.executemany(
                "DELETE FROM shown WHERE session = ? AND memory = ? AND at = ?", rows
            )

    def clear_shown(self, session: str) -> None:
        """Forget what a session has been given: after a compaction it may be given again."""
        # Both places, or what could not be written would stay hidden.
        self._unwritten.pop(session, None)
        with self._connections.writing() as connection:
            connection.execute("DELETE FROM shown WHERE session = ?", (session,))

    def remember_session(self, session: str, project: str, root: str, at: datetime) -> None:
        """Note which project a session belongs to, if that can be written."""
        with contextlib.suppress(StoreFullError), self._connections.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?)",
                (session, project, root, microseconds(at)),
            )

    def latest_session(self, project: str) -> str:
        """Return the session that began last in a project, "" without one."""
        sql = "SELECT session FROM sessions WHERE project = ? ORDER BY at DESC LIMIT 1"
        row = self._row(sql, project)
        return str(row[0]) if row else ""

    def forget_sessions(self, sessions: Iterable[str], project: str = "") -> None:
        """Remove what is noted of sessions, and of all sessions of a project: its folder, what was shown
        there, what is due."""
        with self._durably() as connection:
            rows = [(session,) for session in sessions]
            if project:
                sql = "SELECT session FROM sessions WHERE project = ?"
                rows += connection.execute(sql, (project,)).fetchall()
            for table in ("sessions", "shown", "due", "use_labels"):
                connection.executemany(f"DELETE FROM {table} WHERE session = ?", rows)
