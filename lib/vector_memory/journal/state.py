"""What belongs to no store, in one file: its parts are modules of their own."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from datetime import datetime, timedelta

from vector_memory.errors import StoreDamagedError, VectorMemoryError
from vector_memory.journal import audit, job_rows, use_labels
from vector_memory.journal.audit import AuditEntry
from vector_memory.journal.audit_log import AuditLog
from vector_memory.journal.connection import open_reader
from vector_memory.journal.failures import error_words, full_disk, is_damage, on_error, translated
from vector_memory.journal.job_rows import JobRow, JobRows
from vector_memory.journal.opening import connect
from vector_memory.journal.repair import swap
from vector_memory.journal.repair.copying import copy_database, flaws
from vector_memory.journal.rows import microseconds, utc_now
from vector_memory.journal.state_rows import OF_A_DAY, StateRows
from vector_memory.journal.state_schema import MIGRATIONS
from vector_memory.journal.use_labels import UseLabels

KEPT_FOR = {
    "shown": timedelta(days=30),
    "sessions": timedelta(days=90),
    "use_labels": use_labels.KEPT_FOR,
}
NEEDED = ("trusted", "due", "jobs", "counters")
"""Small tables that a daemon reads whole before it can answer, a check as well: a text there that is no UTF-8 has to be
found before."""
DAYS_FOR = timedelta(days=30)
"""How long the counters of single days are kept."""


def _mend(path: str, why: str) -> None:
    # Nothing is damaged, most of the time.
    from vector_memory.journal.repair.mending import mend_state

    mend_state(path, why)


class State(AuditLog, JobRows, UseLabels, StateRows):
    """`state.db` of one data home. Any thread may call any method.

    What a power cut may take (the last things shown, sessions, counters) is committed without
    waiting for the disk; cursors, trust and what `audit` notes wait.
    """

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
                _mend(path, error_words(error.__cause__))
            return cls._open(path, clock)

    @classmethod
    def _open(cls, path: str, clock: Callable[[], datetime]) -> State:
        connections = connect(path, MIGRATIONS, synchronous="NORMAL")
        state = cls(connections, clock)
        with on_error(connections.close):
            if connections.writable:
                # Now, when it can be mended: a daemon that comes to a damaged page later ends there. The pages
                # that are read for that are kept in no cache.
                with translated(path), closing(open_reader(path)) as connection:
                    for flaw in flaws(connection, False, 1):
                        raise sqlite3.DatabaseError(f"malformed ({' '.join(flaw.split())})")
                    for table in NEEDED:
                        connection.execute(f"SELECT * FROM {table}").fetchall()
                state._sweep()
        return state

    def check(self, read_data: bool) -> list[str]:
        """Look for what is wrong with the file.

        Returns:
            A sentence for each problem, at most 10; [] when all is well.
        """
        from vector_memory.journal.repair.mending import unreadable

        try:
            with self._connections.reading() as connection:
                problems = flaws(connection, read_data, 10)
                return problems or (unreadable(connection) if read_data else [])
        except VectorMemoryError as error:
            return [error.message]

    def mend(self, why: str) -> None:
        """Put all that can be read into a new file in the place of this one, which is set aside.

        Raises:
            StoreFullError: it cannot be written.
        """
        path = self._connections.path
        with full_disk(path):
            self._connections.replace_file(lambda: _mend(path, why), "NORMAL")

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

    def flush(self) -> None:
        """Write the counters and what was noted for the audit log."""
        self._write_events()
        self._write_counts()

    def close(self) -> None:
        """Write the counters and close the file."""
        try:
            if self._connections.writable:
                self.flush()
        finally:
            self._connections.close()

    def put_jobs(
        self,
        rows: Iterable[JobRow],
        entries: Sequence[tuple[str, Sequence[str], Mapping[str, object]]] = (),
    ) -> None:
        """Note how jobs stand, with what goes into the audit log, in one transaction. Durable.

        Args:
            entries: (action, ids, detail) of what jobs did.
        """
        job_events = [
            AuditEntry(0, self._now(), name, "job", list(ids), {**detail})
            for name, ids, detail in entries
        ]
        with self._noting, self._taken() as events, self._durably() as connection:
            job_rows.write(connection, rows)
            audit.append(connection, [*events, *job_events])

    def scrub(self, whole: bool = False) -> None:
        """Fold the write-ahead log into the file, where what was deleted is overwritten; with `whole` the
        file is written anew, too."""
        with self._connections.maintaining() as connection:
            if whole:
                connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _sweep(self) -> None:
        """Remove what is long over, and the oldest of too many."""
        now = self._now()
        with self._connections.writing() as connection:
            for table, kept_for in KEPT_FOR.items():
                cutoff_us = microseconds(now - kept_for)
                connection.execute(f"DELETE FROM {table} WHERE at < ?", (cutoff_us,))
            connection.execute(
                "DELETE FROM use_labels WHERE at <"
                " (SELECT at FROM use_labels ORDER BY at DESC LIMIT 1 OFFSET ?)",
                (use_labels.MOST_KEPT - 1,),
            )
            connection.execute(
                f"DELETE FROM counters WHERE name GLOB '{OF_A_DAY}' AND substr(name, -10) < ?",
                (f"{now - DAYS_FOR:%Y-%m-%d}",),
            )
