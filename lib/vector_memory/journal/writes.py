"""Writing memories: the journal's methods that change rows, and the statements behind them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from datetime import datetime
from types import MappingProxyType

from vector_memory.errors import BadInputError, OvertakenError
from vector_memory.journal import vectors
from vector_memory.journal.links_and_projects import put_links, remove_links_of
from vector_memory.journal.repair.upkeep import Upkeep
from vector_memory.journal.rows import INSERT, UPDATE, microseconds, text_hash, to_row
from vector_memory.journal.vectors import model_id
from vector_memory.model import (
    GAVE_WAY,
    OF_ITS_STORE,
    CleanText,
    Link,
    Memory,
    Relation,
    Source,
    Status,
    Tier,
    strictest,
    unique,
)

MAX_CHAIN = 64
"""Steps after which a chain of successors is taken for a circle."""


class MemoryWrites(Upkeep):
    """What changes a store's memories: a part of `Journal`. Each method is one transaction; within another one of its
    thread it joins that."""

    now: Callable[[], datetime]

    def add(self, memories: Sequence[Memory]) -> list[Memory]:
        """Store memories, durably.

        Returns:
            They with `seq` and `stored_at`, in the order of `memories`.

        Raises:
            TypeError: a text or title is no CleanText.
            BadInputError: an id is stored already; nothing was stored.
            StoreFullError: the disk is full or read-only; nothing was stored.
        """
        if not memories:
            return []
        with self.connections.writing() as connection:
            try:
                return insert(connection, memories, self.now())
            except sqlite3.IntegrityError as error:
                raise BadInputError(
                    "A memory with one of these ids is stored already, or a value is missing.",
                    "Give each memory an id of its own; to change one, use `vector-memory edit`.",
                ) from error

    def update(self, memory: Memory, read: Memory | None = None) -> Memory:
        """Replace the memory of that id. Usage, `stored_at` and, while the text is the same, the model
        stay; if nothing differs, nothing is written.

        Args:
            read: the memory as it was read before it was changed. Where somebody else has changed it since, only what
                differs between the two is written: both changes hold. What was judged by other words than are stored now, or by
                who said them, does not.

        Returns:
            The memory as it is stored now, with a new `seq`, or as it was where nothing differs.

        Raises:
            NotFoundError: there is none of that id.
            OvertakenError: since it was read (its `seq`) it was forgotten, gave way or got other words, or it was changed
                and `read` is not given; nothing was written.
        """
        with self.connections.writing() as connection:
            old = self.reader.get(connection, memory.id)
            if (read or memory).seq not in (0, old.seq):
                # A memory that was replaced or forgotten is not brought back by a caller with an older copy.
                rebased = (
                    _rebased(memory, read, old) if read and old.status is read.status else None
                )
                if rebased is None:
                    raise OvertakenError(f"Memory {memory.id[:12]} was changed meanwhile.")
                memory = rebased
            same_text = memory.embedded == old.embedded
            store_fields = {name: getattr(old, name) for name in OF_ITS_STORE}
            new = replace(memory, **store_fields, model=old.model if same_text else "")
            # A text that is no CleanText must reach `to_row`, which refuses it.
            if new == old and isinstance(memory.text, CleanText):
                return old
            if old.tier is Tier.COLD:
                # What is changed is in use.
                place(connection, old.id, Tier.WARM)
                new = replace(new, tier=Tier.WARM)
            new = _replace(connection, replace(new, updated_at=self.now()))
            if not same_text:
                # Else the old words could be told from a vector that nothing needs any more.
                vectors.drop_unused(connection, [text_hash(old.embedded)])
            return new

    def write(
        self,
        added: Sequence[Memory],
        changed: Sequence[Memory],
        dropped: Sequence[str],
        read: Mapping[str, Memory] = MappingProxyType({}),
    ) -> None:
        """Add, update and purge in one transaction: all of it is durable, or nothing.

        Args:
            read: memories to change as they were read, by id, as `update` takes them. What is not among them and was
                changed since stays as it is.

        Raises:
            TypeError: a text or title is no CleanText.
            BadInputError: an id to add is stored already.
            NotFoundError: one to change is not.
        """
        if not (added or changed or dropped):
            return
        with self.connections.writing() as connection:
            self.add(added)
            for memory in changed:
                # What is gone since it was read stays gone, and the rest is written.
                with suppress(OvertakenError):
                    self.update(memory, read.get(memory.id))
            purge(connection, dropped)
        # After the commit: a log cannot be folded in while a transaction is open.
        if dropped:
            self.scrub()

    def forget(self, ids: Sequence[str]) -> list[Memory]:
        """Turn memories into tombstones: no text, title, files, tags, extra, links or vector.

        Returns:
            The new tombstones in the order of `ids`, without those forgotten before.

        Raises:
            NotFoundError: an id is unknown; nothing was forgotten.
        """
        at = self.now()
        with self.connections.writing() as connection:
            memories = [self.reader.get(connection, id) for id in dict.fromkeys(ids)]
            living = [memory for memory in memories if memory.status is not Status.FORGOTTEN]
            stones = [_replace(connection, _tombstone(memory, at)) for memory in living]
            # A link says what two memories have to do with each other: it goes with either.
            remove_links_of(connection, [memory.id for memory in living])
            vectors.drop_unused(connection, [text_hash(memory.embedded) for memory in living])
            return stones

    def purge(self, ids: Sequence[str]) -> int:
        """Delete rows physically, and what they left in the full-text index and the write-ahead log.

        Returns:
            How many rows there were. Unknown ids are left out.
        """
        with self.connections.writing() as connection:
            purged = purge(connection, ids)
        if purged:
            self.scrub()
        return purged

    def supersede(
        self, old_id: str, new_id: str, at: datetime | None = None, why: str = ""
    ) -> Memory:
        """Let a memory give way to another, with a link from the new one.

        Args:
            at: since when the new one holds; now by default.
            why: in a few words without secrets, for its history; "" keeps what was known of that.

        Returns:
            The old one as it is stored now, with `superseded_by` and `valid_until`.

        Raises:
            NotFoundError: one of them is unknown.
            BadInputError: one is forgotten, or the new one gave way to the old one.
        """
        at = at or self.now()
        with self.connections.writing() as connection:
            old, new = self.reader.get(connection, old_id), self.reader.get(connection, new_id)
            following, steps = new, 0
            # A circle would leave neither of them active, and both would be gone from every answer.
            while following.superseded_by and following.id != old.id and steps < MAX_CHAIN:
                following, steps = self.reader.get(connection, following.superseded_by), steps + 1
            if following.id == old.id:
                raise BadInputError(
                    f"Memory {new_id!r} gave way to {old_id!r} itself.", "Name the older one first."
                )
            if Status.FORGOTTEN in (old.status, new.status):
                raise BadInputError(
                    "A forgotten memory cannot take part.", "Name memories that are there."
                )
            superseded = _replace(
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
            put_links(connection, [Link(new.id, old.id, Relation.SUPERSEDES, created_at=at)])
            return superseded

    def touch(self, uses: Mapping[str | int, int], at: datetime) -> None:
        """Count uses of memories, by id or sequence number, the last one at a time; unknown ones are ignored. Gives
        no new `seq`."""
        # A table of its own: a use must change no row, or the index would have to follow it.
        self.connections.write(
            """INSERT INTO usage(seq, uses, last_used_at) SELECT seq, :uses, :at FROM memories
               WHERE seq = CASE typeof(:key) WHEN 'integer' THEN :key
                           ELSE (SELECT seq FROM memories WHERE id = :key) END
               ON CONFLICT (seq) DO UPDATE SET
                   uses = uses + excluded.uses, last_used_at = excluded.last_used_at""",
            [{"key": key, "uses": count, "at": microseconds(at)} for key, count in uses.items()],
        )

    def apply(self, ids: Sequence[str], session: str, at: datetime) -> None:
        """Note that memories were of use in a session: once, however often they were, and never for a time
        before the last. Gives no new `seq`."""
        self.connections.write(
            """INSERT INTO usage SELECT seq, 0, :at, 1, :at, :session FROM memories WHERE id = :id
               ON CONFLICT (seq) DO UPDATE SET
                   applied = applied + (applied_in != excluded.applied_in),
                   applied_at = excluded.applied_at, applied_in = excluded.applied_in
               WHERE excluded.applied_at > applied_at""",
            [{"id": id, "session": session, "at": microseconds(at)} for id in ids],
        )

    def restore_uses(self, memories: Iterable[Memory]) -> None:
        """Note how memories were used and of use elsewhere, as they say, where nothing was noted."""
        self.connections.write(
            """INSERT INTO usage SELECT seq, ?, ?, ?, ?, '' FROM memories WHERE id = ?
               ON CONFLICT (seq) DO UPDATE SET applied = excluded.applied, applied_at = excluded.applied_at
               WHERE applied = 0""",
            [
                (memory.uses, microseconds(used_at), memory.applied, at_us, memory.id)
                for memory in memories
                if (used_at := memory.last_used_at or memory.applied_at)
                for at_us in (microseconds(memory.applied_at) if memory.applied_at else 0,)
            ],
        )

    def move_to_tiers(self, moved: Mapping[str, Tier]) -> list[Memory]:
        """Put memories, by id, into other tiers. Only what becomes cold or was so gets a new `seq`: the index
        follows.

        Returns:
            Those that were moved, as they are stored now. What is there already, forgotten or unknown is
            left out.
        """
        moved_memories = []
        with self.connections.writing() as connection:
            for id, tier in moved.items():
                for memory in self.reader.memories(connection, "WHERE m.id = ?", (id,)):
                    if memory.tier is tier or memory.status is Status.FORGOTTEN:
                        continue
                    place(connection, id, tier)
                    # The index holds all but cold ones: what crosses that line it must follow.
                    if Tier.COLD in (tier, memory.tier):
                        _replace(connection, memory)
                    moved_memories.append(self.reader.get(connection, id))
        return moved_memories


_OF_ANY_WORDS = {"sensitivity", "jurisdiction", "project"}
"""What may be changed without having read a memory's present words."""


def _rebased(memory: Memory, read: Memory, stored: Memory) -> Memory | None:
    """Return the stored memory with what differs between a changed memory and the one that was read; None where that was
    judged by other words, or by who said them. Of two new levels the stricter one holds, and each tag, file and name in
    `extra` counts by itself."""
    mine = {
        field.name: value
        for field in fields(Memory)
        if field.name not in OF_ITS_STORE
        and (value := getattr(memory, field.name)) != getattr(read, field.name)
    }
    if (stored.text, stored.origin) != (read.text, read.origin) and mine.keys() - _OF_ANY_WORDS:
        return None
    if "sensitivity" in mine and stored.sensitivity is not read.sensitivity:
        mine["sensitivity"] = strictest(memory.sensitivity, stored.sensitivity)
    for name in {"tags", "files"} & mine.keys():
        before, now = getattr(read, name), mine[name]
        rest = [value for value in getattr(stored, name) if value in now or value not in before]
        mine[name] = unique((*rest, *(value for value in now if value not in before)))
    if "extra" in mine:
        removed = read.extra.keys() - memory.extra.keys()
        set_anew = {
            name: value
            for name, value in memory.extra.items()
            if name not in read.extra or read.extra[name] != value
        }
        mine["extra"] = {
            name: value for name, value in stored.extra.items() if name not in removed
        } | set_anew
    return replace(stored, **mine)


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
    last_seq = int(
        connection.execute("SELECT value FROM meta WHERE key = 'last_seq'").fetchone()[0]
    )
    connection.execute("UPDATE meta SET value = ? WHERE key = 'last_seq'", (last_seq + count,))
    return range(last_seq + 1, last_seq + count + 1)


def insert(
    connection: sqlite3.Connection,
    memories: Sequence[Memory],
    at: datetime,
    statement: str = "INSERT",
) -> list[Memory]:
    """Insert memories and return them as stored, with `seq` and `stored_at`, in the same order.

    Args:
        statement: `INSERT OR IGNORE` leaves out those whose ids are there.

    Raises:
        sqlite3.IntegrityError: an id is there already.
        TypeError: a text did not go through the redactor.
    """
    numbers = {name: model_id(connection, name) for name in {memory.model for memory in memories}}
    stored = [
        replace(memory, seq=seq, stored_at=memory.stored_at or at)
        for memory, seq in zip(memories, next_seqs(connection, len(memories)), strict=True)
    ]
    sources = {
        (memory.source.session, memory.source.path): source_id(connection, memory.source)
        for memory in stored
    }
    connection.executemany(
        f"{statement} {INSERT}",
        [
            to_row(
                memory, sources[memory.source.session, memory.source.path], numbers[memory.model]
            )
            for memory in stored
        ],
    )
    return stored


def _tombstone(memory: Memory, at: datetime) -> Memory:
    return replace(
        memory, status=Status.FORGOTTEN, text=CleanText(""), title="", files=(), tags=(),
        extra={}, model="", updated_at=at,
    )  # fmt: skip


def _replace(connection: sqlite3.Connection, memory: Memory) -> Memory:
    """Write a memory over the row of its id under a new sequence number."""
    (seq,) = next_seqs(connection, 1)
    renumbered = replace(memory, seq=seq)
    row = to_row(
        renumbered, source_id(connection, renumbered.source), model_id(connection, renumbered.model)
    )
    connection.execute(UPDATE, (*row, renumbered.id))
    return renumbered


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


def place(connection: sqlite3.Connection, id: str, tier: Tier) -> None:
    """Put a memory into a tier, in place."""
    connection.execute("UPDATE memories SET tier = ? WHERE id = ?", (str(tier), id))
