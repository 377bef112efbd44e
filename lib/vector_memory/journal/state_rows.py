"""What `state.db` notes in tables of a few columns: how far transcripts have been read, and what is due then; sessions,
and what each was given; the folders that are trusted; the names of what was purged; records; and counters, which are
written now and then."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any, Literal

from vector_memory.errors import StoreFullError
from vector_memory.journal.connection import Connections
from vector_memory.journal.rows import microseconds, moment, text_hash
from vector_memory.system.json_in import Record

Task = Literal["topics", "summary", "mining", "lessons", "purge"]
"""What may be due, each for what its key names: a session's id, for `lessons` a transcript's path, for `purge` a
store's folder."""
MOST_UNWRITTEN = 1_000
OF_A_DAY = "*_[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
"""What the names of the counters of single days look like."""

_PROJECTS, _SUBAGENTS = "projects", "subagents"
"""In which folder the client keeps those of projects, and in which of a session's the transcripts of its subagents."""


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


def _sessions_in(path: str) -> list[str]:
    """Return the sessions that a transcript's path names: its own, and that in whose folder it lies, however far below:
    the folder in a project's, and the one that has the subagents'."""
    *above, name = path.removesuffix(".jsonl").split(os.sep)
    project = len(above) - above[::-1].index(_PROJECTS) if _PROJECTS in above else len(above)
    agents = above.index(_SUBAGENTS) if _SUBAGENTS in above else 0
    return [name, *above[project + 1 : project + 2], *above[:agents][-1:]]


class StateRows(StateTables):
    """The small tables: a part of `State`."""

    def __init__(self, connections: Connections, clock: Callable[[], datetime]) -> None:
        super().__init__(connections, clock)
        self._unwritten: dict[str, dict[str, datetime]] = {}
        self._counts: Counter[str] = Counter()
        self._counting = threading.Lock()

    def shown_ids(self, session: str) -> set[str]:
        """Return the ids of the memories that a session has been given."""
        return set(self.shown_at(session))

    def shown_at(self, session: str) -> dict[str, datetime]:
        """Return when a session was given each memory: id → aware UTC time."""
        sql = "SELECT memory, at FROM shown WHERE session = ?"
        stored = {memory: moment(at) for memory, at in self._connections.rows(sql, (session,))}
        # On a full disk a session must still not be told everything twice.
        return {**stored, **self._unwritten.get(session, {})}

    def add_shown(self, session: str, ids: Iterable[str], at: datetime) -> None:
        """Note that a session has been given memories; where that cannot be written, as long as this
        process lives."""
        memory_ids = list(ids)
        rows = [(session, id, microseconds(at)) for id in memory_ids]
        try:
            self._connections.write("INSERT OR REPLACE INTO shown VALUES (?, ?, ?)", rows)
        except StoreFullError:
            if len(self._unwritten) > MOST_UNWRITTEN:
                self._unwritten.clear()
            self._unwritten.setdefault(session, {}).update(dict.fromkeys(memory_ids, at))

    def take_back_shown(self, session: str, ids: Iterable[str], at: datetime) -> None:
        """Note that a session was not given memories after all that were noted at a time; what it was given
        since stays."""
        memory_ids = list(ids)
        unwritten = self._unwritten.get(session, {})
        for id in memory_ids:
            if unwritten.get(id) == at:
                del unwritten[id]
        sql = "DELETE FROM shown WHERE session = ? AND memory = ? AND at = ?"
        with contextlib.suppress(StoreFullError):
            self._connections.write(sql, [(session, id, microseconds(at)) for id in memory_ids])

    def clear_shown(self, session: str) -> None:
        """Forget what a session has been given: after a compaction it may be given again."""
        # Both places, or what could not be written would stay hidden.
        self._unwritten.pop(session, None)
        self._connections.write("DELETE FROM shown WHERE session = ?", [(session,)])

    def remember_session(self, session: str, project: str, root: str, at: datetime) -> None:
        """Note which project a session belongs to, if that can be written."""
        row = (session, project, root, microseconds(at))
        with contextlib.suppress(StoreFullError):
            self._connections.write("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?)", [row])

    def latest_session(self, project: str) -> str:
        """Return the session that began last in a project, "" without one."""
        sql = "SELECT session FROM sessions WHERE project = ? ORDER BY at DESC LIMIT 1"
        row = self._row(sql, project)
        return str(row[0]) if row else ""

    def forget_sessions(
        self, sessions: Iterable[str], project: str = "", transcripts: Collection[str] = ()
    ) -> None:
        """Remove what is noted of sessions, and of all sessions of a project: its folder, what was shown
        there, what is due; and what is of their `transcripts` and of further ones, by their paths or sessions."""
        with self._durably() as connection:
            rows = [(session,) for session in sessions]
            if project:
                sql = "SELECT session FROM sessions WHERE project = ?"
                rows += connection.execute(sql, (project,)).fetchall()
            names = {*transcripts, *(session for (session,) in rows)} - {""}
            known_paths = [str(path) for (path,) in connection.execute("SELECT path FROM cursors")]
            gone_paths = {
                path for path in known_paths if not names.isdisjoint((path, *_sessions_in(path)))
            }
            rows += [(path,) for path in gone_paths]
            for table in ("sessions", "shown", "due", "use_labels"):
                connection.executemany(f"DELETE FROM {table} WHERE session = ?", rows)
            connection.executemany("DELETE FROM cursors WHERE path = ?", rows)
            # A folder with other transcripts that are known keeps its stamps: those need not be read again.
            folders = {os.path.dirname(path) for path in gone_paths}
            folders -= {os.path.dirname(path) for path in known_paths if path not in gone_paths}
            sql = "DELETE FROM followed WHERE folder IN (?, 'unended:' || ?)"
            connection.executemany(sql, [(folder, folder) for folder in folders])

    def trust(self, folder: str, store_id: str = "") -> None:
        """Trust the marker in a folder, known by its real path. Durable.

        Args:
            store_id: the id of the store that is trusted there; "" for the one that is opened next.
        """
        row = (os.path.realpath(folder), microseconds(self._now()), store_id)
        with self._durably() as connection:
            connection.execute("INSERT OR REPLACE INTO trusted VALUES (?, ?, ?)", row)

    def store_trusted(self, folder: str) -> str:
        """Return the id of the store that is trusted in a folder, "" where it was not opened yet."""
        row = self._row("SELECT store_id FROM trusted WHERE folder = ?", os.path.realpath(folder))
        return str(row[0]) if row else ""

    def trusted(self, folder: str) -> bool:
        """Whether the marker in a folder is trusted."""
        sql = "SELECT 1 FROM trusted WHERE folder = ?"
        return self._row(sql, os.path.realpath(folder)) is not None

    def trusted_folders(self) -> list[str]:
        """Return the folders whose markers are trusted, in the order of their names."""
        rows = self._connections.rows("SELECT folder FROM trusted ORDER BY folder")
        return [row[0] for row in rows]

    def untrust(self, folder: str) -> None:
        """Stop trusting the marker in a folder. Durable."""
        with self._durably() as connection:
            connection.execute("DELETE FROM trusted WHERE folder = ?", (os.path.realpath(folder),))

    def block_names(self, names: Iterable[str], at: datetime) -> None:
        """Note names of what was purged, so that it is not captured again. Only their hashes are kept.
        Durable."""
        rows = [(text_hash(name), microseconds(at)) for name in set(names)]
        # Each reading of a transcript may ask for it, mostly with nothing: the disk is not waited for then.
        if not rows:
            return
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

    def due_keys(self, task: Task, most: int = -1) -> list[str]:
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

    def mark_done(self, task: Task, keys: Iterable[str]) -> None:
        """Note that a task is done for these keys. What a power cut takes of this is done again."""
        rows = [(task, key) for key in keys]
        self._connections.write("DELETE FROM due WHERE task = ? AND session = ?", rows)

    def put_record(
        self, sort: str, id: str, body: Mapping[str, object] | None, is_durable: bool = True
    ) -> None:
        """Write a small record (a contract, a proof, a lease, a vote) in the place of the one of its sort and id;
        None removes it. What need not be durable does not wait for the disk."""
        with self._durably() if is_durable else self._connections.writing() as connection:
            connection.execute("DELETE FROM records WHERE sort = ? AND id = ?", (sort, id))
            if body is not None:
                values = (sort, id, json.dumps(dict(body)))
                connection.execute("INSERT INTO records VALUES (?, ?, ?)", values)

    def records(self, sort: str) -> dict[str, Record]:
        """Return the small records of a sort by their ids, in the order of these."""
        sql = "SELECT id, body FROM records WHERE sort = ? ORDER BY id"
        return {id: Record(json.loads(body)) for id, body in self._connections.rows(sql, (sort,))}

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
        return {name: n for name, n in self.counters().items() if not fnmatchcase(name, OF_A_DAY)}

    def _write_counts(self) -> None:
        with self._counting:
            if not self._counts or not self._connections.writable:
                return
            self._connections.write(
                "INSERT INTO counters VALUES (?, ?)"
                " ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
                list(self._counts.items()),
            )
            self._counts.clear()
