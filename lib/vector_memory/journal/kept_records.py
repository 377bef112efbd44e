"""Small records that belong to no store: contracts, proofs, leases, votes. Each is JSON under a sort and an id."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping

from vector_memory.system.json_in import Record

TABLE = (
    "CREATE TABLE records(sort TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL,"
    " PRIMARY KEY (sort, id)) WITHOUT ROWID"
)


def write(
    connection: sqlite3.Connection, sort: str, id: str, body: Mapping[str, object] | None
) -> None:
    """Write a record in the place of the one of its id; None removes it."""
    if body is None:
        connection.execute("DELETE FROM records WHERE sort = ? AND id = ?", (sort, id))
    else:
        connection.execute(
            "INSERT OR REPLACE INTO records VALUES (?, ?, ?)", (sort, id, json.dumps(dict(body)))
        )


def read(connection: sqlite3.Connection, sort: str) -> dict[str, Record]:
    """Return the records of a sort by their ids, in the order of these."""
    sql = "SELECT id, body FROM records WHERE sort = ? ORDER BY id"
    return {id: Record(json.loads(body)) for id, body in connection.execute(sql, (sort,))}
