"""What belongs to no store: cursors, what is due, trust, counters, and beside them the audit log, sessions and jobs."""

from __future__ import annotations

import json
import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal

from vector_memory.errors import StoreDamagedError, VectorMemoryError
from vector_memory.journal import audit, job_rows, use_labels
from vector_memory.journal.audit import AuditEvent
from vector_memory.journal.audit_log import AuditLog
from vector_memory.journal.connection import Connections
from vector_memory.journal.failures import (
    closing_on_error,
    full_disk,
    is_damage,
    translated,
)
from vector_memory.journal.job_rows import JobRow, JobRows
from vector_memory.journal.opening import connect
from vector_memory.journal.repair import swap
from vector_memory.journal.repair.copying import copy_database, flaws
from vector_memory.journal.rows import microseconds, moment, text_hash, utc_now
from vector_memory.journal.session_rows import SessionRows
from vector_memory.journal.state_schema import MIGRATIONS
from vector_memory.journal.use_labels import UseLabels
from vector_memory.system.json_in import Record

Task = Literal["topics", "summary", "mining", "lessons", "purge"]
"""What may be due, each for what its key names: a session's id, for `lessons` a transcript's path, for `purge` a
store's folder."""
SHOWN_FOR = timedelta(days=30)
SESSIONS_FOR = timedelta(days=90)
DAYS_FOR = timedelta(days=30)
"""How long the counters of single days are kept."""
_OF_A_DAY = "name GLOB '*_[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'"


def _mend(path: str, why: str) -> None:
    # Nothing is damaged, most of the time.
    from vector_memory.journal.repair.mending import mend_state

    mend_state(path, why)


class State(AuditLog, SessionRows, JobRows, UseLabels):
    """`state.db` of one data home. Any thread may call any method.

    What a power cut may take (the last things shown, sessions, counters) is committed without
    waiting for the disk; cursors, trust and what `audit` notes wait.
    """

    def __init__(self, connections: Connections, clock: Callable[[], datetime]) -> None:
        super().__init__(connections, clock)
        self._counts: Counter[str] = Counter()
        self._counting = threading.Lock()

    @classmethod
    def open(cls, path: str, clock: Callable[[], datetime] = utc_now) -> State:
        """Open `state.db`, making or migrating it if needed, and sweep what is too old. What can be
        read of a damaged one is put in its place: `set_aside` tells.

        Raises:
            StoreDamagedError: the file is from a newer version, or damaged and not to be written.
            StoreFullError: the disk is full or read-only.

        Returns:
            The open state, at this version's schema.
        """
        path = os.path.abspath(path)
        try:
            return cls._open(path, clock)
        except StoreDamagedError as error:
            if not is_damage(error) or not os.access(os.path.dirname(path), os.W_OK):
                raise
            with translated(path), full_disk(path):
                _mend(path, str(error.__cause__))
            return cls._open(path, clock)

    @classmethod
    def _open(cls, path: str, clock: Callable[[], datetime]) -> State:
        connections = connect(path, MIGRATIONS, synchronous="NORMAL")
        state = cls(connections, clock)
        with closing_on_error(connections):
            if connections.writable:
                state._sweep()
        return state

    def check(self, read_data: bool) -> list[str]:
        """Look for what is wrong with the file.

        Returns:
            A sentence for each problem, at most 10; [] when all is well.
        """
        try:
            with self._connections.reading() as connection:
                return flaws(connection, read_data, 10)
        except VectorMemoryError as error:
            return [error.message]

    def mend(self, why: str) -> None:
        """Put all that can be read into a new file in the place of this one, which is set aside.

        Raises:
            StoreFullError: it cannot be written.
        """
        path = self._connections.path
        with full_disk(path):
            try:
                self._connections.replace_file(lambda: _mend(path, why), "NORMAL")
            except BaseException:
                swap.cancel(path)
                raise

    def set_aside(self) -> list[dict[str, object]]:
        """Return what is known of the damaged copies of this file that are still there, as
        `Journal.set_aside` does."""
        return swap.reports(self._connections.path)

    @property
    def writable(self) -> bool:
        """Whether this file can be written."""
        return self._connections.writable

    def backup_to(self, path: str) -> None:
        """Write a whole copy as one file, complete or not at all."""
        self.flush()
        copy_database(self._connections, path)

    def close(self) -> None:
        """Write the counters and close the file."""
        try:
            if self._connections.writable:
                self.flush()
        finally:
            self._connections.close()

    # -- cursors ----------------------------------------------------------------------------------

    def cursor(self, path: str) -> Record | None:
        """Return how far a transcript has been read, as `Cursor.to_dict` gives it, or None if it has not."""
        row = self._one("SELECT cursor FROM cursors WHERE path = ?", path)
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

    # -- what is due ------------------------------------------------------------------------------

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

    # -- jobs -------------------------------------------------------------------------------------

    def put_jobs(
        self,
        rows: Iterable[JobRow],
        entries: Sequence[tuple[str, Sequence[str], Mapping[str, object]]] = (),
    ) -> None:
        """Note how jobs stand, with what goes into the audit log, in one transaction. Durable.

        Args:
            entries: (action, ids, detail) of what jobs did.
        """
        told = [
            AuditEvent(self._now(), name, "job", list(ids), more) for name, ids, more in entries
        ]
        with self._noting, self._taken() as events, self._durably() as connection:
            job_rows.write(connection, rows)
            audit.append(connection, [*events, *told])

    # -- small records ----------------------------------------------------------------------------

    def put_record(self, sort: str, id: str, body: Mapping[str, object] | None) -> None:
        """Write a small record (a contract, a proof, a lease, a vote) in the place of the one of its sort and id;
        None removes it. Durable."""
        with self._durably() as connection:
            connection.execute("DELETE FROM records WHERE sort = ? AND id = ?", (sort, id))
            if body is not None:
                values = (sort, id, json.dumps(dict(body)))
                connection.execute("INSERT INTO records VALUES (?, ?, ?)", values)

    def records(self, sort: str) -> dict[str, Record]:
        """Return the small records of a sort by their ids, in the order of these."""
        sql = "SELECT id, body FROM records WHERE sort = ? ORDER BY id"
        return {id: Record(json.loads(body)) for id, body in self._connections.rows(sql, (sort,))}

    # -- trust ------------------------------------------------------------------------------------

    def trust(self, folder: str, store_id: str = "") -> None:
        """Trust the marker in a folder, known by its real path. Durable.

        Args:
            store_id: the id of the store that is trusted there; "" for the one that is opened next.
        """
        with self._durably() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO trusted VALUES (?, ?, ?)",
                (os.path.realpath(folder), microseconds(self._now()), store_id),
            )

    def store_trusted(self, folder: str) -> str:
        """Return the id of the store that is trusted in a folder, "" where it was not opened yet."""
        row = self._one("SELECT store_id FROM trusted WHERE folder = ?", os.path.realpath(folder))
        return str(row[0]) if row else ""

    def trusted(self, folder: str) -> bool:
        """Whether the marker in a folder is trusted."""
        row = self._one("SELECT 1 FROM trusted WHERE folder = ?", os.path.realpath(folder))
        return row is not None

    def trusted_folders(self) -> list[str]:
        """Return the folders whose markers are trusted, in the order of their names."""
        rows = self._connections.rows("SELECT folder FROM trusted ORDER BY folder")
        return [row[0] for row in rows]

    def untrust(self, folder: str) -> None:
        """Stop trusting the marker in a folder. Durable."""
        with self._durably() as connection:
            connection.execute("DELETE FROM trusted WHERE folder = ?", (os.path.realpath(folder),))

    # -- counters ---------------------------------------------------------------------------------

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
        day = re.compile(r"_\d{4}-\d\d-\d\d\Z")
        return {name: n for name, n in self.counters().items() if not day.search(name)}

    def flush(self) -> None:
        """Write the counters and what was noted for the audit log."""
        self._write_events()
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

    # -- what was purged --------------------------------------------------------------------------

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
        found: dict[str, datetime] = {}
        with self._connections.reading() as connection:
            # Most people never purge: nothing is hashed for them.
            if connection.execute("SELECT 1 FROM purged LIMIT 1").fetchone() is None:
                return found
            for name in set(names):
                sql = "SELECT at FROM purged WHERE name = ?"
                row = connection.execute(sql, (text_hash(name),)).fetchone()
                if row is not None:
                    found[name] = moment(row[0])
        return found

    def scrub(self, whole: bool = False) -> None:
        """Fold the write-ahead log into the file, where what was deleted is overwritten; with `whole` the
        file is written anew, too."""
        with self._connections.maintaining() as connection:
            if whole:
                connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _sweep(self) -> None:
        now = self._now()
        with self._connections.writing() as connection:
            for table, kept_for in (("shown", SHOWN_FOR), ("sessions", SESSIONS_FOR)):
                until = microseconds(now - kept_for)
                connection.execute(f"DELETE FROM {table} WHERE at < ?", (until,))
            use_labels.sweep(connection, now)
            connection.execute(
                f"DELETE FROM counters WHERE {_OF_A_DAY} AND substr(name, -10) < ?",
                (f"{now - DAYS_FOR:%Y-%m-%d}",),
            )
