"""The journal of one store: what is committed here is remembered."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Literal

from vector_memory.errors import StoreDamagedError
from vector_memory.journal import lexical, reads, vectors, writes
from vector_memory.journal.cache import VectorCache
from vector_memory.journal.connection import Connections
from vector_memory.journal.failures import full_disk, is_damage, translated
from vector_memory.journal.opening import connect
from vector_memory.journal.readonly import JOURNAL
from vector_memory.journal.repair import swap, upkeep
from vector_memory.journal.repair.copying import copy_database
from vector_memory.journal.rows import text_hash
from vector_memory.journal.schema import MIGRATIONS
from vector_memory.journal.surroundings import Surroundings
from vector_memory.model import Candidate, Memory, Scope, Source, Status
from vector_memory.system import tampering

if TYPE_CHECKING:
    from vector_memory.journal.repair.salvage import Salvaged

__all__ = ["Journal", "text_hash"]

Clock = Callable[[], datetime]


def _utc_now() -> datetime:
    return datetime.now(timezone.utc)


class Journal(VectorCache, Surroundings):
    """A store's memories. Any thread may call any method; writers take turns.

    `folder` is the store's folder, `store_id` the random id that the store got when it was made,
    `given_at_open` the highest sequence number that had been given when it was opened. Use `open` and
    `close`.
    """

    def __init__(self, folder: str, connections: Connections, clock: Clock) -> None:
        self.folder = folder
        self.connections = connections
        self.reader = reads.Reader()
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
            connections = connect(path, MIGRATIONS)
            try:
                return cls(folder, connections, clock)
            except BaseException:
                connections.close()
                raise

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

    # -- reading ----------------------------------------------------------------------------------

    def get(self, memory_id: str) -> Memory:
        """Return one memory, whatever its status.

        Raises:
            NotFoundError: there is none of that id.
            StoreDamagedError: its checksum is wrong.
        """
        with self.connections.reading() as connection:
            return reads.get(self.reader, connection, memory_id)

    def find(self, prefix: str) -> list[Memory]:
        """Return at most 5 memories, not forgotten, whose ids start so, by id; [] for an empty beginning."""
        if not prefix:
            return []
        with self.connections.reading() as connection:
            return self.reader.memories(
                connection,
                # A range, which the index answers; LIKE would read every row.
                "WHERE m.id >= ? AND m.id < ? AND m.status != 'forgotten' ORDER BY m.id LIMIT 5",
                # The highest character there is: whatever begins so lies below it.
                (prefix, prefix + "\U0010ffff"),
            )

    def by_seqs(
        self, seqs: Sequence[int], statuses: Sequence[Status] = (Status.ACTIVE,)
    ) -> dict[int, Memory]:
        """Return the memories of these sequence numbers that have one of these statuses.

        Returns:
            Sequence number → memory. Numbers that are outdated, unknown or of damaged rows are absent.
        """
        with self.connections.reading() as connection:
            return reads.by_seqs(self.reader, connection, seqs, statuses)

    def facts(self, seqs: Sequence[int]) -> dict[int, reads.Facts]:
        """Return what candidates are weighed by. Checksums are not verified: read what is served with
        `by_seqs`.

        Returns:
            Sequence number → facts, of the active ones among `seqs`.
        """
        with self.connections.reading() as connection:
            return reads.facts(connection, seqs)

    def by_ids(self, ids: Sequence[str]) -> dict[str, Memory]:
        """Return memories by their ids, whatever their status; unknown and damaged ones are absent."""
        with self.connections.reading() as connection:
            return reads.by_ids(self.reader, connection, ids)

    def successors(self, memories: Sequence[Memory]) -> dict[str, Memory]:
        """Return what stands in the place of superseded memories.

        Returns:
            The id of a superseded memory → the active one at the end of its chain. A chain that ends in
            a forgotten memory or in itself has none.
        """
        with self.connections.reading() as connection:
            return reads.successors(self.reader, connection, memories)

    def last_seq(self) -> int:
        """Return the highest sequence number of any row, 0 without one."""
        with self.connections.reading() as connection:
            return int(connection.execute("SELECT max(seq) FROM memories").fetchone()[0] or 0)

    def given_seq(self) -> int:
        """Return the highest sequence number ever given. An index that has reached more follows
        another history of this store (a backup was restored) and must be rebuilt."""
        with self.connections.reading() as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = 'last_seq'").fetchone()
            return int(row[0])

    def changes(self, after_seq: int, limit: int) -> list[reads.Change]:
        """Return what an index has to follow.

        Args:
            after_seq: the sequence number that it has reached.
            limit: how many at most.

        Returns:
            (memory, analysed text, hash of the text), of every status, ascending by `seq`. A
            tombstone's hash is empty.
        """
        with self.connections.reading() as connection:
            tail = "WHERE m.seq > ? ORDER BY m.seq LIMIT ?"
            return self.reader.changes(connection, tail, (after_seq, limit))

    def count(self, scope: Scope | None = None, status: Status = Status.ACTIVE) -> int:
        """Return how many memories of a status there are in a scope; everywhere for None."""
        with self.connections.reading() as connection:
            return reads.count(connection, scope, status)

    def count_entities(self, scope: Scope, k: int) -> dict[str, int]:
        """Count the active memories of a scope by the entities that they name.

        Returns:
            `kind:name` → how many memories, the k commonest first.
        """
        with self.connections.reading() as connection:
            return reads.count_entities(connection, scope, k)

    def count_after(self, seq: int) -> int:
        """Return how many rows, of every status, changed after a sequence number."""
        with self.connections.reading() as connection:
            sql = "SELECT count(*) FROM memories WHERE seq > ?"
            return int(connection.execute(sql, (seq,)).fetchone()[0])

    def count_by(
        self, column: Literal["kind", "project", "collection"], scope: Scope
    ) -> dict[str, int]:
        """Count the active memories of a scope by one of their words.

        Returns:
            Word → how many memories, the commonest first. The words' counts add up to `count`.
        """
        with self.connections.reading() as connection:
            return reads.count_by(connection, column, scope)

    def iter_memories(
        self,
        scope: Scope,
        *,
        newest_first: bool = False,
        limit: int | None = None,
        offset: int = 0,
        statuses: Sequence[Status] = (Status.ACTIVE,),
    ) -> Iterator[Memory]:
        """Yield memories, read in pieces. What changes while this runs may be left out.

        Yields:
            The memories of a scope, by `created_at`, the oldest first unless `newest_first`.
        """
        with self.connections.reading() as connection:
            seqs = reads.ordered_seqs(connection, scope, statuses, newest_first, limit, offset)
        # Between two pieces nobody is kept from writing, however slowly they are taken.
        for part in vectors.parts(seqs):
            found = self.by_seqs(part, statuses)
            yield from (found[seq] for seq in part if seq in found)

    def seqs(self, scope: Scope) -> list[int]:
        """Return the active memories' sequence numbers in a scope, ascending."""
        with self.connections.reading() as connection:
            return reads.seqs(connection, scope)

    def living_seqs(self) -> list[int]:
        """Return the sequence numbers of all memories that are not forgotten, ascending."""
        sql = "SELECT seq FROM memories WHERE status != 'forgotten' ORDER BY seq"
        with self.connections.reading() as connection:
            return [row[0] for row in connection.execute(sql)]

    def matching(
        self, terms: Sequence[str], scope: Scope, k: int, after_seq: int = 0
    ) -> list[Candidate]:
        """Return the active memories that match any of the analysed terms best.

        Args:
            terms: as `text.analysis` makes them.
            scope: what the answer is limited to.
            k: how many at most.
            after_seq: only rows with higher sequence numbers.

        Returns:
            Candidates, best first. Scores are BM25, higher is better, and compare within one answer
            alone.
        """
        with self.connections.reading() as connection:
            return lexical.matching(connection, terms, scope, k, after_seq)

    def neighbours(self, seq: int) -> tuple[Memory | None, Memory | None]:
        """Return the active memories right before and after in the same session, by turn.

        Returns:
            (before, after); None for what is not there.
        """
        with self.connections.reading() as connection:
            found = reads.by_seqs(self.reader, connection, [seq], tuple(Status))
            if seq not in found:
                return None, None
            before, after = (
                reads.neighbour(self.reader, connection, found[seq], one) for one in (False, True)
            )
            return before, after

    def of_turn(
        self, source: Source, project: str, statuses: Sequence[Status] = (Status.ACTIVE,)
    ) -> list[Memory]:
        """Return a project's memories of one turn of a session's transcript, by `seq`."""
        with self.connections.reading() as connection:
            return reads.of_turn(self.reader, connection, source, project, statuses)

    def held(self, scope: Scope) -> list[Memory]:
        """Return the active memories of a scope that hooks hold back, or that are proposed to be more than
        they are, newest first."""
        with self.connections.reading() as connection:
            return reads.held(self.reader, connection, scope)

    def replaced_by(self, ids: Sequence[str]) -> list[Memory]:
        """Return the memories that gave way to these, by `seq`."""
        with self.connections.reading() as connection:
            return reads.replaced_by(self.reader, connection, ids)

    def holding(self, words: Sequence[str]) -> list[str]:
        """Find words in rows, whatever their case.

        Returns:
            The ids of all rows, of every status and damaged ones too, that hold any of these words in
            text, title, tags, files, `extra`, speaker, kind or external id.
        """
        with self.connections.reading() as connection:
            return reads.holding(connection, words)

    def find_by_hash(self, hash: bytes, project: str) -> Memory | None:
        """Return the newest active memory of a project whose text has this hash, or None."""
        return self._find("m.hash = ?", hash, project)

    def find_by_external_id(self, external_id: str, project: str) -> Memory | None:
        """Return the newest active memory of a project that was imported under this id, or None."""
        return self._find("m.external_id = ? AND m.external_id != ''", external_id, project)

    def find_imported(self, beginning: str, project: str) -> list[Memory]:
        """Return a project's memories of every status whose external id begins so, ascending by `seq`."""
        tail = "WHERE m.external_id != '' AND m.external_id >= ? AND m.external_id < ?"
        with self.connections.reading() as connection:
            return self.reader.memories(
                connection,
                f"{tail} AND m.project = ? ORDER BY m.seq",
                (beginning, beginning + "\U0010ffff", project),
            )

    def below(self, names: Sequence[str]) -> list[Memory]:
        """Return the memories of every status and project whose external id is one of these names, a
        colon, and something without one: the passages of exchanges. They come in the order of `names`."""
        with self.connections.reading() as connection:
            return [one for name in names for one in reads.below(self.reader, connection, name)]

    def recent(self, scope: Scope, k: int, kinds: Sequence[str] = ()) -> list[Memory]:
        """Return the k newest active memories (of these kinds), newest first."""
        with self.connections.reading() as connection:
            return reads.recent(self.reader, connection, scope, k, kinds)

    def important(self, scope: Scope, k: int) -> list[Memory]:
        """Return at most k active memories of priority CORE, then HIGH, each newest first."""
        with self.connections.reading() as connection:
            return reads.important(self.reader, connection, scope, k)

    def open_items(self, scope: Scope, k: int) -> list[Memory]:
        """Return the k newest questions, todos and problems whose `extra["done"]` is not set and that no
        memory answers, newest first."""
        with self.connections.reading() as connection:
            return reads.open_items(self.reader, connection, scope, k)

    def _find(self, where: str, value: bytes | str, project: str) -> Memory | None:
        # What waits for the user is nobody's memory yet: others are not merged into it.
        tail = (
            f"WHERE {where} AND m.project = ? AND m.status = 'active' AND NOT {reads.WAITING}"
            " ORDER BY m.seq DESC LIMIT 1"
        )
        with self.connections.reading() as connection:
            found = self.reader.memories(connection, tail, (value, project))
        return found[0] if found else None

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
            self.reader = reads.Reader()
            self._load()
        return done

    def set_aside(self) -> list[dict[str, Any]]:
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
