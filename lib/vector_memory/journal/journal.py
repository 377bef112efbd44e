"""The journal of one store: what is committed here is remembered."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from vector_memory.errors import StoreDamagedError
from vector_memory.journal import schema
from vector_memory.journal.connection import Connections
from vector_memory.journal.failures import error_words, full_disk, is_damage, on_error, translated
from vector_memory.journal.lexical import QuestionReads
from vector_memory.journal.links_and_projects import Surroundings
from vector_memory.journal.listing import Listing
from vector_memory.journal.opening import connect
from vector_memory.journal.readonly import JOURNAL
from vector_memory.journal.reads import Reader
from vector_memory.journal.repair import swap
from vector_memory.journal.repair.copying import copy_database
from vector_memory.journal.repair.upkeep import WRONG_LEXICON
from vector_memory.journal.review_reads import ReviewReads
from vector_memory.journal.rows import text_hash, utc_now
from vector_memory.journal.vectors import VectorCache
from vector_memory.journal.writes import MemoryWrites
from vector_memory.system import tampering

if TYPE_CHECKING:
    from vector_memory.journal.repair.salvage import Salvaged

__all__ = ["Journal", "text_hash"]

Clock = Callable[[], datetime]


class Journal(
    Listing,
    QuestionReads,
    ReviewReads,
    VectorCache,
    Surroundings,
    MemoryWrites,
):
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
    def open(cls, folder: str, clock: Clock = utc_now) -> Journal:
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
            if not is_damage(error) or not cls._mend(path, error_words(error.__cause__)):
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
            with on_error(connections.close):
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

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        self.connections.close()

    @property
    def is_reanalysed(self) -> bool:
        """Whether rows were analysed anew since an index was made of them, which holds their old words."""
        return bool(self.connections.rows("SELECT 1 FROM meta WHERE key = ?", (schema.REANALYSED,)))

    def note_renewed_index(self) -> None:
        """Note that the index is made anew, and holds the words that the rows have now."""
        self.connections.write("DELETE FROM meta WHERE key = ?", [(schema.REANALYSED,)])

    # -- upkeep -----------------------------------------------------------------------------------

    def mend_problems(self, problems: list[str]) -> Salvaged | None:
        """Mend what `check` found: with what is in the file, if that is enough, else as `mend` does.

        Returns:
            What became of the memories; None where nothing can be done.

        Raises:
            StoreFullError: it cannot be written; everything stays as it was.
        """
        # The full text is made of the rows: as long as these are sound, nothing is lost.
        if problems != [WRONG_LEXICON]:
            return self.mend(problems[0])
        from vector_memory.journal.repair.salvage import Salvaged

        self.rebuild_lexical()
        return Salvaged(WRONG_LEXICON, self.count())

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
        with self.connections.writes_paused(), translated(path), full_disk(path):
            saved = salvage.prepare(path, why)
            if saved is None:
                return None
            self.connections.replace_file(lambda: salvage.report(saved, swap.finish(path)), "FULL")
            # The models' numbers may be others in the new file.
            self.reader = Reader()
            self._load()
        return saved

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
