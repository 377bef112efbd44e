"""Writing memories: the statements behind the journal's writing methods. All of them run inside
the transaction of the connection that they are given."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from vector_memory.errors import BadInputError
from vector_memory.journal import links, vectors
from vector_memory.journal.reads import Reader
from vector_memory.journal.rows import INSERT, UPDATE, microseconds, text_hash, to_row
from vector_memory.journal.vectors import model_id
from vector_memory.model import GAVE_WAY, CleanText, Link, Memory, Relation, Source, Status, Tier

MAX_CHAIN = 64
"""Steps after which a chain of successors is taken for a circle."""


def source_id(connection: sqlite3.Connection, source: Source) -> int:
    """Return the number of a session and its transcript's path, giving one if they are new."""
    values = (source.session, source.path)
    connection.execute("INSERT OR IGNORE INTO sources(session, path) VALUES (?, ?)", values)
    sql = "SELECT id FROM sources WHERE session = ? AND path = ?"
    return int(connection.execute(sql, values).fetchone()[0])


def next_seqs(connection: sqlite3.Connection, count: int) -> range:
    """Take `count` new sequence numbers and return them, ascending; none is ever given twice, not even
    after its row is gone."""
    # Kept apart from the rows: of a row that was purged the index may still know the number.
    last = int(connection.execute("SELECT value FROM meta WHERE key = 'last_seq'").fetchone()[0])
    connection.execute("UPDATE meta SET value = ? WHERE key = 'last_seq'", (last + count,))
    return range(last + 1, last + count + 1)


def add(connection: sqlite3.Connection, memories: Sequence[Memory], at: datetime) -> list[Memory]:
    """Insert memories and return them as stored, with `seq` and `stored_at`, in the same order.

    Raises:
        BadInputError: an id is there already.
        TypeError: a text did not go through the redactor.
    """
    try:
        return _insert(connection, memories, at, f"INSERT {INSERT}")
    except sqlite3.IntegrityError as error:
        raise BadInputError(
            "A memory with one of these ids is stored already, or a value is missing.",
            "Give each memory an id of its own; to change one, use `vector-memory edit`.",
        ) from error


def add_missing(connection: sqlite3.Connection, memories: Sequence[Memory], at: datetime) -> None:
    """Insert those memories whose ids are not there yet."""
    _insert(connection, memories, at, f"INSERT OR IGNORE {INSERT}")


def _insert(
    connection: sqlite3.Connection,
    memories: Sequence[Memory],
    at: datetime,
    statement: str,
) -> list[Memory]:
    numbers = {name: model_id(connection, name) for name in {m.model for m in memories}}
    stored = [
        replace(memory, seq=seq, stored_at=memory.stored_at or at)
        for memory, seq in zip(memories, next_seqs(connection, len(memories)), strict=True)
    ]
    sources = {(m.source.session, m.source.path): source_id(connection, m.source) for m in stored}
    connection.executemany(
        statement,
        [to_row(m, sources[m.source.session, m.source.path], numbers[m.model]) for m in stored],
    )
    return stored


def update(reader: Reader, connection: sqlite3.Connection, memory: Memory, at: datetime) -> Memory:
    """Replace a memory by its id and return it as stored; without a change nothing is written."""
    old = reader.get(connection, memory.id)
    same_text = memory.embedded == old.embedded
    new = replace(
        memory,
        seq=old.seq,
        stored_at=old.stored_at,
        updated_at=old.updated_at,
        uses=old.uses,
        last_used_at=old.last_used_at,
        tier=old.tier,
        applied=old.applied,
        applied_at=old.applied_at,
        model=old.model if same_text else "",
    )
    # A text that is no CleanText must reach `to_row`, which refuses it.
    if new == old and isinstance(memory.text, CleanText):
        return old
    if old.tier is Tier.COLD:
        # What is changed is in use.
        connection.execute("UPDATE memories SET tier = 'warm' WHERE id = ?", (old.id,))
        new = replace(new, tier=Tier.WARM)
    new = _replace(connection, replace(new, updated_at=at))
    if not same_text:
        # Else the old words could be told from a vector that nothing needs any more.
        vectors.drop_unused(connection, [text_hash(old.embedded)])
    return new


def forget(
    reader: Reader, connection: sqlite3.Connection, ids: Sequence[str], at: datetime
) -> list[Memory]:
    """Turn memories into tombstones.

    Returns:
        The new tombstones in the order of `ids`, each once, without those that were ones already.

    Raises:
        NotFoundError: an id is unknown.
    """
    found = [reader.get(connection, id) for id in dict.fromkeys(ids)]
    living = [memory for memory in found if memory.status is not Status.FORGOTTEN]
    stones = [_replace(connection, _tombstone(memory, at)) for memory in living]
    # A link says what two memories have to do with each other: it goes with either.
    links.remove_of(connection, [memory.id for memory in living])
    vectors.drop_unused(connection, [text_hash(memory.embedded) for memory in living])
    return stones


def supersede(
    reader: Reader,
    connection: sqlite3.Connection,
    old_id: str,
    new_id: str,
    at: datetime,
    why: str = "",
) -> Memory:
    """Let a memory give way to another; return the old one as it is stored now.

    Raises:
        NotFoundError: one of them is unknown.
        BadInputError: the new one is forgotten, or the old one itself, or was superseded by it.
    """
    old, new = reader.get(connection, old_id), reader.get(connection, new_id)
    following, steps = new, 0
    # A circle would leave neither of them active, and both would be gone from every answer.
    while following.superseded_by and following.id != old.id and steps < MAX_CHAIN:
        following, steps = reader.get(connection, following.superseded_by), steps + 1
    if following.id == old.id:
        raise BadInputError(
            f"Memory {new_id!r} gave way to {old_id!r} itself.", "Name the older one first."
        )
    if Status.FORGOTTEN in (old.status, new.status):
        raise BadInputError("A forgotten memory cannot take part.", "Name memories that are there.")
    gone = _replace(
        connection,
        replace(
            old,
            status=Status.SUPERSEDED,
            superseded_by=new.id,
            valid_until=at,
            updated_at=at,
            extra={**old.extra, GAVE_WAY: why} if why else old.extra,
        ),
    )
    links.put(connection, [Link(new.id, old.id, Relation.SUPERSEDES, created_at=at)])
    return gone


def _tombstone(memory: Memory, at: datetime) -> Memory:
    return replace(
        memory, status=Status.FORGOTTEN, text=CleanText(""), title="", files=(), tags=(),
        extra={}, model="", updated_at=at,
    )  # fmt: skip


def _replace(connection: sqlite3.Connection, memory: Memory) -> Memory:
    """Write a memory over the row of its id under a new sequence number."""
    (seq,) = next_seqs(connection, 1)
    new = replace(memory, seq=seq)
    row = to_row(new, source_id(connection, new.source), model_id(connection, new.model))
    connection.execute(UPDATE, (*row, new.id))
    return new


def renumber(connection: sqlite3.Connection, memory: Memory) -> None:
    """Give a memory a new sequence number, and nothing else: what follows the journal looks at it anew."""
    _replace(connection, memory)


def purge(connection: sqlite3.Connection, ids: Iterable[str]) -> int:
    """Delete rows with their links, their usage and vectors that nothing else needs; return how
    many rows there were."""
    hashes: list[bytes] = []
    sources: set[int] = set()
    for id in dict.fromkeys(ids):
        row = connection.execute("SELECT hash, source FROM memories WHERE id = ?", (id,)).fetchone()
        # What hangs on the row goes by the schema: links, usage, full text.
        if row:
            hashes.append(row[0])
            sources.add(row[1])
            connection.execute("DELETE FROM memories WHERE id = ?", (id,))
    vectors.drop_unused(connection, hashes)
    connection.executemany(
        # A transcript's path and a session's name are words, too.
        "DELETE FROM sources WHERE id = :id AND id != 0"
        " AND NOT EXISTS (SELECT 1 FROM memories WHERE source = :id)",
        [{"id": source} for source in sources],
    )
    return len(hashes)


def touch(connection: sqlite3.Connection, uses: Mapping[str | int, int], at: datetime) -> None:
    """Add to the uses of memories, given by id or by sequence number; unknown ones are left."""
    # A table of its own: a use must change no row, or the index would have to follow it.
    connection.executemany(
        """INSERT INTO usage(seq, uses, last_used_at) SELECT seq, :uses, :at FROM memories
           WHERE seq = CASE typeof(:key) WHEN 'integer' THEN :key
                       ELSE (SELECT seq FROM memories WHERE id = :key) END
           ON CONFLICT (seq) DO UPDATE SET
               uses = uses + excluded.uses, last_used_at = excluded.last_used_at""",
        [{"key": key, "uses": count, "at": microseconds(at)} for key, count in uses.items()],
    )
