"""Tiers and use as rows: what changes of a memory while its words stay as they are. All of it runs inside the
transaction of the connection that it is given."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from vector_memory.journal import writes
from vector_memory.journal.reads import Reader
from vector_memory.journal.rows import microseconds
from vector_memory.model import Memory, Status, Tier


def move(reader: Reader, connection: sqlite3.Connection, moved: Mapping[str, Tier]) -> list[Memory]:
    """Put memories, by id, into other tiers and return those that were moved, as they are stored now."""
    done = []
    for id, tier in moved.items():
        for memory in reader.memories(connection, "WHERE m.id = ?", (id,)):
            if memory.tier is tier or memory.status is Status.FORGOTTEN:
                continue
            place(connection, id, tier)
            # The index holds all but cold ones: what crosses that line it must follow.
            if Tier.COLD in (tier, memory.tier):
                writes.renumber(connection, memory)
            done.append(reader.get(connection, id))
    return done


def place(connection: sqlite3.Connection, id: str, tier: Tier) -> None:
    """Put a memory into a tier, in place."""
    connection.execute("UPDATE memories SET tier = ? WHERE id = ?", (str(tier), id))


def apply(connection: sqlite3.Connection, ids: Sequence[str], session: str, at: datetime) -> None:
    """Count a use of memories in a session, unless their last one was in it or was later."""
    connection.executemany(
        """INSERT INTO usage SELECT seq, 0, :at, 1, :at, :session FROM memories WHERE id = :id
           ON CONFLICT (seq) DO UPDATE SET
               applied = applied + (applied_in != excluded.applied_in),
               applied_at = excluded.applied_at, applied_in = excluded.applied_in
           WHERE excluded.applied_at > applied_at""",
        [{"id": id, "session": session, "at": microseconds(at)} for id in ids],
    )


def restore_uses(connection: sqlite3.Connection, memories: Iterable[Memory]) -> None:
    """Note how memories were of use elsewhere, where nothing was noted."""
    connection.executemany(
        """INSERT INTO usage SELECT seq, 0, :at, :applied, :at, '' FROM memories WHERE id = :id
           ON CONFLICT (seq) DO UPDATE SET applied = excluded.applied, applied_at = excluded.applied_at
           WHERE applied = 0""",
        [
            {"id": one.id, "at": microseconds(one.applied_at), "applied": one.applied}
            for one in memories
            if one.applied and one.applied_at
        ],
    )
