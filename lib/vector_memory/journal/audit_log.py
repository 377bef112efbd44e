"""The audit log as `state.db` and the files beside it hold it."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import islice

from vector_memory.errors import StoreDamagedError
from vector_memory.journal import audit, audit_files
from vector_memory.journal.audit import AuditEntry, AuditRow
from vector_memory.journal.connection import Connections
from vector_memory.journal.rows import DAY_US, microseconds
from vector_memory.journal.state_rows import StateTables

MOST_NOTED = 256
LOOK_AFTER = 500
"""Entries of the audit log after which it is looked whether there are too many."""


class AuditLog(StateTables):
    """What was done, and by whom: a part of `State`."""

    def __init__(self, connections: Connections, clock: Callable[[], datetime]) -> None:
        super().__init__(connections, clock)
        self._events: deque[AuditEntry] = deque()
        self._noting = threading.Lock()
        self._appended = LOOK_AFTER
        self._audit_folder = os.path.join(os.path.dirname(connections.path), audit_files.FOLDER)

    def audit(
        self, action: str, actor: str, ids: Sequence[str], detail: Mapping[str, object]
    ) -> None:
        """Add an entry to the audit log, behind what was noted before. Durable."""
        with self._noting:
            self.note(action, actor, ids, detail)
            with self._taken() as events, self._durably() as connection:
                audit.append(connection, events)

    def note(
        self, action: str, actor: str, ids: Sequence[str], detail: Mapping[str, object]
    ) -> None:
        """Note an entry for the audit log without waiting for anything: `flush` writes it. A process that
        is killed before loses it."""
        # Not behind the lock: that is held while the disk is waited for.
        self._events.append(AuditEntry(0, self._now(), action, actor, list(ids), {**detail}))

    @property
    def notes_due(self) -> bool:
        """Whether so much was noted that it is time for `flush`."""
        return len(self._events) >= MOST_NOTED

    def audit_entries(
        self, k: int, since: datetime | None = None, action: str = "", but: str = ""
    ) -> list[AuditEntry]:
        """Return the last entries of the audit log, those of older files among them.

        Args:
            k: how many at most.
            since: only entries of this time or later.
            action: only entries of this action; "" for all.
            but: no entries of this action.

        Returns:
            Newest first.

        Raises:
            StoreDamagedError: an older file was asked for and cannot be read.
        """
        self._write_events()
        start = microseconds(since) if since else 0
        fitting = (
            audit.to_entry(row)
            for row in self._audit_backwards(start)
            if row.at >= start and action in ("", row.action) and row.action != but
        )
        return list(islice(fitting, k))

    def audit_break(self, whole: bool = False) -> str:
        """Return what is wrong with the audit log, in a sentence; "" for nothing.

        Args:
            whole: verify all its older files, too, not only the newest of them.
        """
        self._write_events()
        try:
            with self._connections.reading() as connection:
                # One moment for both: an entry between them would look like one that is missing.
                connection.execute("BEGIN")
                try:
                    last = audit.last_number(connection)
                    table = audit.rows(connection)
                finally:
                    connection.execute("COMMIT")
            files = audit_files.files(self._audit_folder)
            read_paths = files if whole else files[-1:]
            older = [row for path in read_paths for row in audit_files.read(path)]
            return audit.break_in([*older, *table], last, bool(files) and not whole)
        except StoreDamagedError as error:
            return error.message

    def audit_rows(self) -> list[AuditRow]:
        """Return the whole audit log as it is stored, the oldest first, each entry once.

        Raises:
            StoreDamagedError: an older file cannot be read.
        """
        self._write_events()
        return list(self._audit_backwards(0))[::-1]

    def rotate_audit(self) -> str:
        """Move older entries to a file where there are many; return its path, "" for none.

        Raises:
            OSError: the file cannot be written; the entries stay where they are.
        """
        if self._appended < LOOK_AFTER:
            return ""
        # Nobody adds an entry between reading the oldest and removing them.
        with self._connections.writes_paused():
            self._appended = 0
            with self._connections.reading() as connection:
                moving = audit.oldest(connection) if audit.is_full(connection) else []
            if not moving:
                return ""
            # First the file, durably, then the rows: after a crash both have them, and none is
            # lost.
            path = audit_files.write(self._audit_folder, moving)
            with self._durably() as connection:
                audit.remove_up_to(connection, moving[-1].number)
        return path

    def audit_files(self) -> list[str]:
        """Return the paths of the files that hold older entries, in their order. They never change."""
        return audit_files.files(self._audit_folder)

    def _audit_backwards(self, start: int) -> Iterator[AuditRow]:
        """Yield entries, newest first, back to a time at least; a day further, since a clock may have been put
        back."""
        with self._connections.reading() as connection:
            table = audit.rows(connection)[::-1]
        yield from table
        oldest_number = table[-1].number if table else audit.LARGEST
        older = (row for path in self.audit_files()[::-1] for row in audit_files.read(path)[::-1])
        for row in older:
            # So far a clock may have been put back between two entries.
            if row.at < start - DAY_US:
                return
            if row.number < oldest_number:
                oldest_number = row.number
                yield row

    def _write_events(self) -> None:
        """Write what was noted; a power cut may take the last of it."""
        # On a disk that cannot be written they wait in memory.
        if not self._events or not self._connections.writable:
            return
        with self._noting, self._taken() as events, self._connections.writing() as connection:
            audit.append(connection, events)

    @contextmanager
    def _taken(self) -> Iterator[list[AuditEntry]]:
        """Give what was noted; where the body fails, it stays noted."""
        events: list[AuditEntry] = []
        try:
            while self._events:
                events.append(self._events.popleft())
            yield events
            self._appended += len(events)
        except BaseException:
            # In their old order, before what was noted meanwhile.
            self._events.extendleft(reversed(events))
            raise
