"""Links between memories of one store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from vector_memory.journal.rows import microseconds, moment
from vector_memory.journal.scopes import as_array
from vector_memory.model import Link, Relation


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


def remove(
    connection: sqlite3.Connection, from_id: str, to_id: str, relation: Relation | None
) -> int:
    """Remove the links from one memory to another, of one relation or of all; return how many there were."""
    return connection.execute(
        "DELETE FROM links WHERE from_id = ? AND to_id = ? AND relation = ifnull(?, relation)",
        (from_id, to_id, None if relation is None else str(relation)),
    ).rowcount


def remove_of(connection: sqlite3.Connection, ids: Iterable[str]) -> None:
    """Remove all links from and to these memories."""
    connection.executemany(
        "DELETE FROM links WHERE from_id = ? OR to_id = ?", ((id, id) for id in ids)
    )


def links_of(connection: sqlite3.Connection, ids: Sequence[str]) -> list[Link]:
    """Return all links from and to these memories, each once, by from, to and relation."""
    # Two searches by index; UNION gives a link between two of these memories once.
    rows = connection.execute(
        """WITH wanted AS (SELECT value FROM json_each(?))
           SELECT * FROM links WHERE from_id IN wanted
           UNION SELECT * FROM links WHERE to_id IN wanted
           ORDER BY 1, 2, 3""",
        (as_array(ids),),
    )
    return [
        Link(from_id, to_id, Relation(relation), weight, None if at is None else moment(at))
        for from_id, to_id, relation, weight, at in rows
    ]
