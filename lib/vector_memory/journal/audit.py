"""The audit log: each entry holds the digest of the one before, so that a change shows.

The newest entries are rows of `state.db`; older ones move to files (`audit_files`), and the chain goes
on over the seam. An entry holds ids and numbers, never what a memory says.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any, NamedTuple

from vector_memory.journal.rows import microseconds, moment

MOST_ROWS, ROWS_KEPT = 20_000, 10_000
MOST_BYTES = 8_000_000
"""Entries and their size above which the older ones move to a file, and how many stay."""
MOST_IDS = 200
"""Ids that one entry names; `ids_left_out` tells how many more there were."""
LARGEST = 2**62
"""A number that no entry has."""
_COLUMNS = "number, at, action, actor, ids, detail, previous, digest"


class AuditRow(NamedTuple):
    """An entry as it is stored: `at` in microseconds since 1970 (UTC), `ids` and `detail` as JSON."""

    number: int
    at: int
    action: str
    actor: str
    ids: str
    detail: str
    previous: bytes
    digest: bytes

    @property
    def is_sound(self) -> bool:
        """Whether the entry says what was written."""
        return self.digest == _digest(self.previous, self[1:6])


@dataclass(frozen=True)
class AuditEntry:
    """Something that was done, `at` an aware time (UTC), to which memories, and what else is known of it; `number` is 0
    on its way into the log."""

    number: int
    at: datetime
    action: str
    actor: str
    ids: list[str]
    detail: dict[str, object]


def append(connection: sqlite3.Connection, events: Iterable[AuditEntry]) -> None:
    """Add entries at the end of the chain."""
    row = connection.execute("SELECT digest FROM audit ORDER BY number DESC LIMIT 1").fetchone()
    previous = row[0] if row else b""
    for event in events:
        values = _values(event)
        digest = _digest(previous, values)
        connection.execute(
            "INSERT INTO audit(at, action, actor, ids, detail, previous, digest)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (*values, previous, digest),
        )
        # The next one seals this one: to change it, all that follow would have to be made anew.
        previous = digest


def _values(event: AuditEntry) -> tuple[Any, ...]:
    ids, detail = event.ids, event.detail
    # An import of a million memories is one entry, and has to stay a small one.
    if len(ids) > MOST_IDS:
        detail = {**detail, "ids_left_out": len(ids) - MOST_IDS}
        ids = ids[:MOST_IDS]
    return microseconds(event.at), event.action, event.actor, as_json(ids), as_json(detail)


def rows(connection: sqlite3.Connection, most: int = -1) -> list[AuditRow]:
    """Return the entries of the table, in their order, so many at most; all for -1."""
    sql = f"SELECT {_COLUMNS} FROM audit ORDER BY number LIMIT ?"
    return list(map(AuditRow._make, connection.execute(sql, (most,))))


def to_entry(row: AuditRow) -> AuditEntry:
    """Return an entry of the log as it is told."""
    ids, detail = json.loads(row.ids), json.loads(row.detail)
    return AuditEntry(row.number, moment(row.at), row.action, row.actor, ids, detail)


def last_number(connection: sqlite3.Connection) -> int:
    """Return the number that was given last, 0 before the first: it tells whether the end was cut off."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'audit'").fetchone()
    return int(row[0]) if row else 0


def is_full(connection: sqlite3.Connection) -> bool:
    """Whether it is time to move older entries to a file."""
    count, size = connection.execute(
        "SELECT count(*), ifnull(sum(length(ids) + length(detail) + 100), 0) FROM audit"
    ).fetchone()
    return bool(count > MOST_ROWS or (size > MOST_BYTES and count > 2))


def oldest(connection: sqlite3.Connection) -> list[AuditRow]:
    """Return the entries that are to move to a file, at least half of them, the oldest first."""
    count = int(connection.execute("SELECT count(*) FROM audit").fetchone()[0])
    # At least half: a few huge entries must not be moved one by one.
    return rows(connection, max(count - ROWS_KEPT, count // 2))


def remove_up_to(connection: sqlite3.Connection, number: int) -> None:
    """Take entries out of the table that stand in a file."""
    connection.execute("DELETE FROM audit WHERE number <= ?", (number,))


def break_in(entries: Sequence[AuditRow], last: int, begins_later: bool = False) -> str:
    """Return what is wrong with a chain from its first entry to the number given last, "" for nothing.

    Args:
        begins_later: earlier entries are known to be there and are not looked at.

    Returns:
        A sentence about the first break, or "".

    Source: S. Haber and W. S. Stornetta, "How to Time-Stamp a Digital Document", CRYPTO 1990 (a chain of
    digests shows what was changed).
    """
    number, previous = 0, b""
    # The first one is believed: what it is chained to is not looked at.
    if begins_later and entries:
        number, previous = entries[0].number - 1, entries[0].previous
    for row in entries:
        if row.number <= number:
            # It was written to a file, and the machine went down before it left the table.
            continue
        if row.number != number + 1:
            return f"Entries {number + 1} to {row.number - 1} are missing."
        if row.previous != previous or not row.is_sound:
            return f"Entry {row.number} was changed."
        number, previous = row.number, row.digest
    return "" if number == last else f"Entries {number + 1} to {last} are missing."


def _digest(previous: bytes, values: Sequence[Any]) -> bytes:
    return blake2b(previous + as_json(list(values)).encode(), digest_size=16).digest()


def as_json(value: Any) -> str:
    """Return a part of an entry as it is stored: the same value is always the same text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
