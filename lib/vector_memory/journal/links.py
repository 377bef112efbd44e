"""Links between memories of one store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from vector_memory.journal.rows import microseconds
from vector_memory.model import Link


def put(connection: sqlite3.Connection, links: Iterable[Link]) -> None:
    """Store links; one that is there already gets the new weight."""
    connection.executemany(
        "INSERT INTO links VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (from_id, to_id, relation) DO UPDATE SET weight = excluded.weight",
        (
            (
                link.from_id,
                link.to_id,
                str(link.relation),
                float(link.weight),
                microseconds(link.created_at) if link.created_at else None,
            )
            for link in links
        ),
    )


def remove_of(connection: sqlite3.Connection, ids: Iterable[str]) -> None:
    """Remove all links from and to these memories."""
    connection.executemany(
        "DELETE FROM links WHERE from_id = ? OR to_id = ?", ((id, id) for id in ids)
    )
