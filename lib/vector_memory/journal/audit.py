"""The audit log: each entry holds the digest of the one before, so that a change shows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any

from vector_memory.journal.rows import microseconds, moment

Entry = dict[str, Any]
_COLUMNS = "number, at, action, actor, ids, detail, previous, digest"


def append(
    connection: sqlite3.Connection,
    at: datetime,
    action: str,
    actor: str,
    ids: Sequence[str],
    detail: dict[str, Any],
) -> None:
    """Add an entry at the end of the chain."""
    row = connection.execute("SELECT digest FROM audit ORDER BY number DESC LIMIT 1").fetchone()
    previous = row[0] if row else b""
    values = (microseconds(at), action, actor, _json(list(ids)), _json(detail))
    connection.execute(
        "INSERT INTO audit(at, action, actor, ids, detail, previous, digest)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (*values, previous, _digest(previous, values)),
    )


def entries(connection: sqlite3.Connection, k: int, since: datetime | None) -> list[Entry]:
    """Return the last k entries (at or after `since`), newest first, as dicts of number, at,
    action, actor, ids and detail."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM audit WHERE at >= ? ORDER BY number DESC LIMIT ?",
        (microseconds(since) if since else 0, k),
    )
    return [
        {
            "number": number,
            "at": moment(at),
            "action": action,
            "actor": actor,
            "ids": json.loads(ids),
            "detail": json.loads(detail),
        }
        for number, at, action, actor, ids, detail, _, _ in rows
    ]


def is_whole(connection: sqlite3.Connection) -> bool:
    """Whether no entry was changed, taken out or cut off at the end."""
    expected, previous = 1, b""
    for number, *values, before, digest in connection.execute(
        f"SELECT {_COLUMNS} FROM audit ORDER BY number"
    ):
        if number != expected or before != previous or digest != _digest(previous, values):
            return False
        expected, previous = number + 1, digest
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'audit'").fetchone()
    return expected - 1 == (row[0] if row else 0)


def _digest(previous: bytes, values: Sequence[Any]) -> bytes:
    return blake2b(previous + _json(list(values)).encode(), digest_size=16).digest()


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
