"""The journal of one store: what is committed here is remembered."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from vector_memory.errors import StoreDamagedError
from vector_memory.journal import schema, tiers, writes
from vector_memory.journal.cold_reads import ColdReads
from vector_memory.journal.connection import Connections
from vector_memory.journal.failures import (
    closing_on_error,
    full_disk,
    is_damage,
    translated,
)
from vector_memory.journal.figures import FigureReads
from vector_memory.journal.opening import connect
from vector_memory.journal.readonly import JOURNAL
from vector_memory.journal.reads import Reader, Reading
from vector_memory.journal.repair import swap, upkeep
from vector_memory.journal.repair.copying import copy_database
from vector_memory.journal.review_reads import ReviewReads
from vector_memory.journal.rows import text_hash
from vector_memory.journal.surroundings import Surroundings
from vector_memory.journal.vectors import VectorCache
from vector_memory.model import Memory, Tier
from vector_memory.system import tampering

if TYPE_CHECKING:
    from vector_memory.journal.repair.salvage import Salvaged

__all__ = ["Journal", "text_hash"]

Clock = Callable[[], datetime]


def _utc_now() -> datetime:
    return datetime.now(timezone.utc)


class Journal(Reading, ReviewReads, ColdReads, FigureReads, VectorCache, Surroundings):
    """A store's memories. Any thread may call any method; writers take turns.

    `folder` is the store's folder, `store_id` the random id that the store got when it was made,
    `given_at_open` the highest sequence number that had been given when it was opened. Use `open` and
    `close`.
    """

    def __init__(self, folder: str, connections: Connections, clock: Clock) -> None:
        self.folder = folder
        self.connections = connections
        self.reader = Reader()
        self.now = clock
        self.store_id = ""
        self._load()
        self.given_at_open = self.given_seq()

    # -- life -------------------------------------------------------------------------------------

    @classmethod
    def open(cls, folder: str, clock: Clock = _utc_now) -> Journal:
        """Open a store's journal, making or migrating it if needed. What can be read of a damaged one
        is put in its place: `set_aside` tells.

        Args:
            folder: the store's folder; made (0700) if missing. Where it cannot be written, the
                journal opens for reading, and writing raises StoreFullError.
            clock: what time it is, as an aware UTC datetime.

        Returns:
            The journal, migrated to this version and ready for any thread.

        Raises:
            StoreDamagedError: the file is from a newer version or another program, or damaged and
                not to be written.
            StoreFullError: there is none and it cannot be made.
            StoreTamperedError: something in the folder leads elsewhere.
        """
        tampering.require_intact(folder)
        path = os.path.join(folder, JOURNAL)
        # Beside an index that was made of one, an empty journal would mean that all was forgotten.
        if swap.is_gone(path) and os.access(folder, os.W_OK):
            cls._mend(path, "It was missing")
        try:
            return cls._open(folder, path, clock)
        except StoreDamagedError as error:
            if not is_damage(error) or not cls._mend(path, str(error.__cause__)):
                raise
            return cls._open(folder, path, clock)

    @classmethod
    def _open(cls, folder: str, path: str, clock: Clock) -> Journal:
        with translated(path):
            connections = connect(path, schema.MIGRATIONS)
            version = connections.number("PRAGMA user_version")
            if version < schema.SCHEMA_VERSION:
                # It cannot be written, so it was not migrated.
                connections.read_as(schema.OLDER)
            with closing_on_error(connections):
                return cls(folder, connections, clock)

    @staticmethod
    def _mend(path: str, why: str) -> bool:
        if not os.access(os.path.dirname(path), os.W_OK):
            return False
        # Nothing is damaged, most of the time.
        from vector_memory.journal.repair import mending

        with translated(path), full_disk(path):
            return mending.mend_journal(path, why) is not None

    def _load(self) -> None:
        """Read what is kept in memory."""
        with self.connections.reading() as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = 'store_id'").fetchone()
            # Most reads need the models' names, and there are a handful.
            self.reader.load_models(connection)
        if row is None:
            raise StoreDamagedError(f"{self.connections.path} has no id.", "Restore a backup.")
        self.store_id = str(row[0])

    @property
    def writable(self) -> bool:
        """Whether this journal can be written."""
        return self.connections.writable

    @property
    def is_in_place(self) -> bool:
        """Whether its file is still where it was opened: what is written to another one is lost."""
        return self.connections.is_in_place

    @property
    def damaged(self) -> frozenset[int]:
        """The sequence numbers whose rows were found damaged when read; they are not served."""
        return frozenset(self.reader.damaged)

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        self.connections.close()

    # -- writing ----------------------------------------------------------------------------------

    def add(self, memories: Sequence[Memory]) -> list[Memory]:
        """Store memories in one transaction, durably.

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
            return writes.add(connection, memories, self.now())

    def update(self, memory: Memory) -> Memory:
        """Replace the memory of that id. Usage, `stored_at` and, while the text is the same, the model
        stay; if nothing differs, nothing is written.

        Returns:
            The memory as it is stored now, with a new `seq`, or as it was where nothing differs.

        Raises:
            NotFoundError: there is none of that id.
        """
        with self.connections.writing() as connection:
            return writes.update(self.reader, connection, memory, self.now())

    def write(
        self, added: Sequence[Memory], changed: Sequence[Memory], dropped: Sequence[str]
    ) -> None:
        """Add, update and purge in one transaction: all of it is durable, or nothing.

        Raises:
            TypeError: a text or title is no CleanText.
            BadInputError: an id to add is stored already.
            NotFoundError: one to change is not.
        """
        if not (added or changed or dropped):
            return
        with self.connections.writing() as connection:
            writes.add(connection, added, self.now())
            for memory in changed:
                writes.update(self.reader, connection, memory, self.now())
            writes.purge(connection, dropped)
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
        with self.connections.writing() as connection:
            return writes.forget(self.reader, connection, ids, self.now())

    def purge(self, ids: Sequence[str]) -> int:
        """Delete rows physically, and what they left in the full-text index and the write-ahead log.

        Returns:
            How many rows there were. Unknown ids are left out.
        """
        with self.connections.writing() as connection:
            purged = writes.purge(connection, ids)
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
        with self.connections.writing() as connection:
            return writes.supersede(self.reader, connection, old_id, new_id, at or self.now(), why)

    def touch(self, uses: Mapping[str | int, int], at: datetime) -> None:
        """Count uses of memories, by id or sequence number, the last at a time. Gives no new
        `seq`."""
        with self.connections.writing() as connection:
            writes.touch(connection, uses, at)

    def apply(self, ids: Sequence[str], session: str, at: datetime) -> None:
        """Note that memories were of use in a session: once, however often they were, and never for a time
        before the last. Gives no new `seq`."""
        with self.connections.writing() as connection:
            tiers.apply(connection, ids, session, at)

    def restore_uses(self, memories: Sequence[Memory]) -> None:
        """Note how memories were of use elsewhere, as they say, where nothing was noted."""
        with self.connections.writing() as connection:
            tiers.restore_uses(connection, memories)

    def move_to_tiers(self, moved: Mapping[str, Tier]) -> list[Memory]:
        """Put memories, by id, into other tiers, in one transaction. Only what becomes cold or was so gets
        a new `seq`: the index follows.

        Returns:
            Those that were moved, as they are stored now. What is there already, forgotten or unknown is
            left out.
        """
        with self.connections.writing() as connection:
            return tiers.move(self.reader, connection, moved)

    @property
    def is_reanalysed(self) -> bool:
        """Whether rows were analysed anew since an index was made of them, which holds their old words."""
        return bool(self.connections.rows("SELECT 1 FROM meta WHERE key = ?", (schema.REANALYSED,)))

    def note_renewed_index(self) -> None:
        """Note that the index is made anew, and holds the words that the rows have now."""
        with self.connections.writing() as connection:
            connection.execute("DELETE FROM meta WHERE key = ?", (schema.REANALYSED,))

    # -- upkeep -----------------------------------------------------------------------------------

    def check(self, read_data: bool) -> list[str]:
        """Look for what is wrong with the file.

        Returns:
            At most 100 sentences for people, [] if nothing is wrong. `mend_problems` takes them.
        """
        return upkeep.check(self.connections, read_data)

    def mend_problems(self, problems: list[str]) -> Salvaged | None:
        """Mend what `check` found: with what is in the file, if that is enough, else as `mend` does.

        Returns:
            What became of the memories; None where nothing can be done.

        Raises:
            StoreFullError: it cannot be written; everything stays as it was.
        """
        # The full text is made of the rows: as long as these are sound, nothing is lost.
        if problems != [upkeep.WRONG_LEXICON]:
            return self.mend(problems[0])
        from vector_memory.journal.repair.salvage import Salvaged

        self.rebuild_lexical()
        return Salvaged(upkeep.WRONG_LEXICON, self.count())

    def mend(self, why: str) -> Salvaged | None:
        """Put all that can be read into a new file in the place of this one, which is set aside; None
        where nothing can be done. Reading goes on, writing waits.

        Raises:
            StoreFullError: it cannot be written; everything stays as it was.

        Returns:
            What could be saved, and where the old file lies.
        """
        from vector_memory.journal.repair import salvage

        path = self.connections.path
        with self.connections.holding(), translated(path), full_disk(path):
            done = salvage.prepare(path, why)
            if done is None:
                return None
            try:
                self.connections.replace_file(
                    lambda: salvage.report(done, swap.finish(path)), "FULL"
                )
            except BaseException:
                # Writing goes on in the old file: the next start must not replace that.
                swap.cancel(path)
                raise
            # The models' numbers may be others in the new file.
            self.reader = Reader()
            self._load()
        return done

    def set_aside(self) -> list[dict[str, object]]:
        """Return what is known of the damaged copies of this journal that are still there.

        Returns:
            Reports, the oldest first, each with `at` (ISO), `why`, `kept`, `doubtful`, `lost` (ids),
            `lost_count` and `aside` (the copy's folder).
        """
        return swap.reports(self.connections.path)

    def backup_to(self, path: str, without_vectors: bool = False) -> None:
        """Write a whole copy of the journal as one file, complete or not at all; without its cached
        vectors, if they are not wanted."""
        copy_database(self.connections, path, without_vectors)

    def rebuild_lexical(self) -> None:
        """Analyse all texts anew and make the full-text index from them."""
        upkeep.rebuild_lexical(self.connections, self.reader)

    def scrub(self) -> None:
        """Overwrite what forgotten memories left in the full-text index and the write-ahead log.
        `purge` does it by itself; after `forget` call it when nobody waits."""
        upkeep.scrub(self.connections)

    def drop_leftovers(self, projects: Sequence[str] = ()) -> None:
        """Remove vectors of texts that no memory has, and what is known of projects that have none; then
        write the file anew."""
        upkeep.drop_leftovers(self.connections, projects)
