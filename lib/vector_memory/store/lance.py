"""The LanceDB table of one store and one embedding model: words, filters, many vectors."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vector_memory.errors import StoreDamagedError
from vector_memory.model import Candidate, IndexRow, Scope, unique
from vector_memory.store import table as form
from vector_memory.store.columns import Batch, WordColumn, storable
from vector_memory.store.failures import translated
from vector_memory.store.lance_table import LanceTable

if TYPE_CHECKING:
    from vector_memory.model import Vectors
    from vector_memory.store.matrix import Chunk

Found = Callable[[], list[Candidate]]
"""Waits for a search that was begun, and returns its candidates, best first."""
UNINDEXED_ROWS = 1_000
"""Rows outside the indexes from which on searches become noticeably slower."""
LOOSE_BATCHES = 30
"""Batches in files of their own from which on searches become noticeably slower."""
OLD_VERSION_AGE = timedelta(seconds=10)
"""Age from which on `optimize` drops old versions: longer than any search takes."""
TIDY_PASSES = 3
"""Calls of `optimize`, after one that wrote much, until the last file that it replaced is gone, at most: each may
replace some itself."""
_IDS_AT_ONCE = 1_000
_ROWS_AT_ONCE = 4_096
_COLUMNS_AT_ONCE = 65_536


class LanceIndex:
    """A store's rows in LanceDB, searched by their words. Open one with `LanceIndex.open`; there is one writer."""

    def __init__(self, table: LanceTable) -> None:
        self._table = table
        self._write_lock = threading.Lock()
        self._unindexed = 0
        self._loose = 0
        self._untidy = 0
        self._tidy_at_s = 0.0

    @classmethod
    def open(cls, store: str, model: str, dim: int) -> LanceIndex:
        """Open the store's table for a model's vectors; make an empty one where there is none.

        A table that cannot be read is set aside by a rename, and `damage` says why.

        Args:
            store: the store's folder.
            model: the embedding model and its version.
            dim: the vectors' dimension.

        Raises:
            StoreFullError: the folder cannot be written.
        """
        table = LanceTable(os.path.realpath(store), model, dim)
        try:
            table.open()
            index = cls(table)
            try:
                index._warm()
            except StoreDamagedError as error:
                # The table opens, but what it consists of cannot be read.
                table.set_aside(error.message)
                index._warm()
        except BaseException:
            table.close()
            raise
        return index

    def _warm(self) -> None:
        """Learn how worn the table is, and read ahead what searches need."""
        table = self._table
        with translated("opening", table.path):
            self._unindexed = table.run(table.missing_rows())["lexical"]
            self._loose = table.run(table.fragments())
            if self._has_replaced():
                # An earlier process ended before it could delete that.
                self._untidy = TIDY_PASSES
            table.run(table.warm())

    # -- what is there ------------------------------------------------------------------------

    @property
    def damage(self) -> str:
        """Why the table was last set aside, "" if it never was; it started from 0 then."""
        return self._table.damage

    def reached(self) -> int:
        """Return the journal's sequence number up to which the table is complete."""
        return self._table.reached

    def rows(self) -> int:
        """Return how many memories the table holds."""
        count = int(self._table.ask("counting", self._handle.count_rows()))
        # The mark of what is reached is a row, too.
        return max(0, count - (self._table.reached > 0))

    def begin_matching(self, terms: Sequence[str], scope: Scope, k: int) -> Found:
        """Begin to look for the k best by BM25 for any of these analysed terms: LanceDB searches in threads of its own,
        and something else can be done meanwhile.

        Returns:
            What waits for the search, and returns candidates, best first, of equal ones the newest first; scores
            compare within one answer alone. It raises StoreDamagedError where the table cannot be read.
        """
        words = storable(" ".join(unique(terms)))
        if not words or k < 1 or scope.projects == ():
            return list
        query = self._handle.query().nearest_to_text(_match(words))
        query = _in_scope(query, scope).limit(k).select(["seq", "_score"])
        # LanceDB would read the schema first, to see whether a column holds blobs: none does, and every
        # prompt would wait half a millisecond.
        query._table = None
        with translated("searching", self._table.path):
            search = self._table.start(query.to_arrow())

        def candidates() -> list[Candidate]:
            with translated("searching", self._table.path):
                rows = search.result()
            return _best_first(rows["seq"].to_pylist(), rows["_score"].to_pylist())

        return candidates

    def shares(self, rows: int) -> dict[str, float]:
        """Return in what share of some rows each term stands.

        Args:
            rows: how many rows are looked at.

        Returns:
            Term → share, above 0 and up to 1; terms of none of these rows are absent.
        """
        query = self._handle.query().select(["lexical"]).limit(rows)
        texts = self._table.ask("reading", query.to_arrow())["lexical"].to_pylist()
        counts = Counter(term for text in texts if text for term in set(text.split(" ")))
        return {term: count / len(texts) for term, count in counts.items()}

    def seqs(self) -> NDArray[np.int64]:
        """Return the sequence numbers of all memories, (n,) int64, ascending."""
        query = self._handle.query().select(["seq", "kind"])
        rows = self._table.ask("reading", query.to_arrow())
        seqs = np.asarray(rows["seq"].to_numpy(), np.int64)
        # The mark has no kind.
        return np.sort(seqs[np.asarray(rows["kind"].is_valid())])

    def seqs_of(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """Return the sequence numbers that these ids have in the table.

        Returns:
            (m,) int64 in no order; m is smaller than the number of ids where some are unknown.
        """
        pieces = [np.empty(0, np.int64)]
        for where in _any_of("id", list(map(storable, ids))):
            query = self._handle.query().where(where).select(["seq"])
            pieces.append(self._table.ask("searching", query.to_arrow())["seq"].to_numpy())
        return np.concatenate(pieces)

    def iter_columns(self) -> Iterator[Batch]:
        """Yield what stands beside words and vectors of all memories, in pieces and in no order."""
        numbers = ("seq", "created_at", "turn", "size", "marks")
        words = ("project", "session", "speaker", "kind")
        query = self._handle.query().select([*numbers, *words])
        with translated("reading", self._table.path):
            for batch in self._batches(query, _COLUMNS_AT_ONCE):
                batch = batch.filter(batch["kind"].is_valid())
                if any(batch[name].null_count for name in (*numbers, *words)):
                    # Every memory has all of them: LanceDB has read what is damaged, and noticed nothing.
                    raise ValueError("values are missing")
                if batch.num_rows:
                    seqs, created, turns, sizes, marks = (
                        batch[name].to_numpy() for name in numbers
                    )
                    word_columns: dict[str, WordColumn] = {
                        name: form.dictionary(batch[name]) for name in words
                    }
                    yield Batch(seqs, created, turns, sizes, marks, word_columns)

    def embedded_seqs(self) -> NDArray[np.int64]:
        """Return the sequence numbers of all memories that have a vector, (n,) int64, in no order."""
        from lancedb.expr import col, lit

        query = self._handle.query().where(col("embedded") == lit(True)).select(["seq"])
        return np.asarray(self._table.ask("reading", query.to_arrow())["seq"].to_numpy(), np.int64)

    def iter_vectors(self, seqs: NDArray[np.int64] | None = None) -> Iterator[Chunk]:
        """Yield what has a vector, in pieces and in no order.

        Args:
            seqs: only these sequence numbers; everything for None.

        Yields:
            Sequence numbers (n,) int64, their n projects, and (n, dim) float32. The vectors are
            stored as float16, which leaves their lengths within 0.001 of 1.
        """
        from lancedb.expr import col, lit

        if seqs is None:
            yield from self._iter_vectors_where(col("embedded") == lit(True))
            return
        for where in _any_of("seq", seqs.tolist()):
            yield from self._iter_vectors_where(where)

    # -- changing it --------------------------------------------------------------------------

    def apply(
        self, rows: Sequence[IndexRow], removed_ids: Sequence[str], reached: int
    ) -> NDArray[np.int64]:
        """Insert or replace `rows` by id, remove `removed_ids`, make it durable, and only then
        count `reached` as reached. Applying the same batch again changes nothing.

        Returns:
            (m,) int64, in no order: the sequence numbers that were replaced or removed.

        Raises:
            StoreFullError: the disk is full; what was reached before still stands.
            StoreDamagedError: the table is damaged.
        """
        newest = {row.memory.id: row for row in rows}
        # What is removed and comes again in the same batch stays.
        removed = [row_id for row_id in unique(removed_ids) if row_id not in newest]
        with self._write_lock:
            # A batch that is applied again must not take the mark back.
            reached = max(reached, self._table.reached)
            # Asked before they are gone: the matrix and the columns know rows by number alone.
            gone_seqs = self.seqs_of([*newest, *removed])
            with translated("writing", self._table.path), self._table.guard.writing():
                for where in _any_of("id", list(map(storable, removed))) if len(gone_seqs) else ():
                    self._table.run(self._handle.delete(where))
                self._merge(list(newest.values()), reached)
            # Only now: the files are synced, and a crash before this applies the batch again.
            self._table.reached = reached
            self._unindexed += len(newest)
            self._loose += 1
        return gone_seqs

    def needs_optimize(self) -> bool:
        """Whether enough was written since the last time that searches suffer, or whether files
        that were replaced then can be deleted now."""
        return self._is_worn() or (self._untidy > 0 and time.monotonic() >= self._tidy_at_s)

    @property
    def tidies_later(self) -> bool:
        """Whether there are files that were replaced and still have to be deleted."""
        return self._untidy > 0

    def optimize(self) -> None:
        """Compact the files, bring the indexes up to date, and drop old versions. What is replaced now only the
        next time can delete."""
        with self._changing("optimizing"):
            self._table.run(self._handle.optimize(cleanup_older_than=OLD_VERSION_AGE))
            # Else the deleted files stay open, and their place on the disk taken.
            self._table.run(self._table.renew())
            self._plan_tidying()

    def rebuild(self) -> None:
        """Delete the table, and what was set aside earlier, and start from 0.

        Raises:
            StoreFullError: the folder cannot be written.
        """
        with self._write_lock, translated("rebuilding", self._table.path):
            self._table.remake()
            self._untidy = self._unindexed = self._loose = 0

    def rewrite(self, kept_seqs: NDArray[np.int64]) -> None:
        """Write the table anew with these of its rows, so that nothing else is left in any file; tables
        of other models and earlier damaged copies are deleted.

        Args:
            kept_seqs: (n,) int64 sequence numbers; those that the table does not have are left out.

        Raises:
            StoreFullError: the disk is full; the table goes on as it was.
            StoreDamagedError: it cannot be read.
        """
        with self._changing("rewriting"):
            self._table.rewrite(kept_seqs)
            self._table.run(self._table.warm())
            self._untidy = self._unindexed = self._loose = 0

    def set_aside(self, reason: str) -> None:
        """Rename a damaged table out of the way and start from 0.

        Raises:
            StoreFullError: the folder cannot be written.
        """
        with self._write_lock:
            self._table.set_aside(reason)
            self._untidy = self._unindexed = self._loose = 0

    def close(self) -> None:
        """Release files, memory and the thread."""
        self._table.close()

    def unindexed(self) -> dict[str, int]:
        """Return how many rows each index lacks.

        Returns:
            Column → rows, 0 for an index that is up to date, -1 for one that is missing.
        """
        return self._table.ask("reading the indexes", self._table.missing_rows())

    # -- small parts --------------------------------------------------------------------------

    @property
    def _handle(self) -> Any:
        return self._table.handle

    @contextlib.contextmanager
    def _changing(self, doing: str) -> Iterator[None]:
        """Give the table to one writer, durably."""
        with self._write_lock, translated(doing, self._table.path), self._table.guard.writing():
            yield

    def _batches(self, query: Any, most: int = _ROWS_AT_ONCE) -> Iterator[Any]:
        """Yield what a query finds as Arrow record batches of so many rows at most."""
        with translated("reading", self._table.path):
            reader = self._table.run(query.to_batches(max_batch_length=most))
            while (batch := self._table.run(_next(reader))) is not None:
                yield batch

    def _merge(self, rows: Sequence[IndexRow], reached: int) -> None:
        """Insert or replace rows and the mark in one commit."""
        builder = self._handle.merge_insert("id").when_matched_update_all()
        builder = builder.when_not_matched_insert_all()
        data = form.arrow_table(rows, reached, self._table.dim)
        # The mark has no vector, which LanceDB refuses unless told that null is meant.
        self._table.run(builder.execute(data, on_bad_vectors="null"))

    def _iter_vectors_where(self, where: Any) -> Iterator[Chunk]:
        query = self._handle.query().where(where).select(["seq", "project", "vector"])
        # What is read of a damaged table may be of no shape.
        with translated("reading", self._table.path):
            for batch in self._batches(query):
                batch = batch.filter(batch["vector"].is_valid())
                if batch.num_rows:
                    yield batch["seq"].to_numpy(), batch["project"].to_pylist(), self._floats(batch)

    def _floats(self, batch: Any) -> Vectors:
        flat = batch["vector"].flatten().to_numpy(zero_copy_only=False)
        return np.asarray(flat, np.float32).reshape(-1, self._table.dim)

    def _is_worn(self) -> bool:
        return self._unindexed >= UNINDEXED_ROWS or self._loose >= LOOSE_BATCHES

    def _has_replaced(self) -> bool:
        """Whether there are files of rows that were replaced."""
        return self._table.data_files() > self._table.run(self._table.fragments())

    def _plan_tidying(self) -> None:
        """Plan when to call `optimize` again: what it replaced may still be read for a while."""
        wrote_much = self._is_worn() or (self._loose > 0 and not self._untidy)
        passes_left = TIDY_PASSES if wrote_much else max(0, self._untidy - 1)
        self._untidy = passes_left if self._has_replaced() else 0
        self._tidy_at_s = time.monotonic() + OLD_VERSION_AGE.total_seconds()
        self._unindexed = self._loose = 0


def _match(words: str) -> Any:
    """Return the query for any of these words: an object, not a string that is parsed."""
    from lancedb.query import FullTextOperator, MatchQuery

    make: Any = MatchQuery
    return make(words, "lexical", operator=FullTextOperator.OR)


def _any_of(column: str, words: Sequence[Any]) -> Iterator[Any]:
    """Yield conditions that a column holds one of these values, for so many at once."""
    from lancedb.expr import col, lit

    for start in range(0, len(words), _IDS_AT_ONCE):
        yield col(column).isin([lit(word) for word in words[start : start + _IDS_AT_ONCE]])


def _in_scope(query: Any, scope: Scope) -> Any:
    where = form.expression(scope)
    return query if where is None else query.where(where)


def _best_first(seqs: Sequence[int], scores: Sequence[float]) -> list[Candidate]:
    """Return candidates by falling score; of equal ones the newest first."""
    candidates = [Candidate(seq, score) for seq, score in zip(seqs, scores, strict=True)]
    return sorted(candidates, key=lambda candidate: (-candidate.score, -candidate.seq))


async def _next(reader: Any) -> Any:
    """Return a reader's next record batch, None at its end."""
    return await anext(aiter(reader), None)


# -- reading it whole -----------------------------------------------------------------------
#
# LanceDB keeps no checksums of its data and counts rows without reading them, so a health check reads every row and
# compares it with the checksum that was stored beside it.


def problems(index: LanceIndex, read_data: bool) -> list[str]:
    """Return what is wrong, one sentence each; [] when all is well.

    Args:
        index: the table.
        read_data: read every file, then every row, and compare them with their checksums.
    """
    try:
        missing = [
            f"The index of column {column!r} is missing."
            for column, rows in index.unindexed().items()
            if rows < 0
        ]
        # Where files differ the table is set aside anyway, and its rows say no more.
        return missing + (_file_problems(index) or _data_problems(index) if read_data else [])
    except StoreDamagedError as error:
        return [error.message]


def _file_problems(index: LanceIndex) -> list[str]:
    """Compare every file with what was synced: manifests and indexes have no checksums within."""
    table = index._table
    with index._write_lock, translated("reading", table.path):
        wrong = table.guard.differing()
    if not wrong:
        return []
    return [f"{len(wrong)} files differ from what was written, among them {wrong[0]}."]


def _data_problems(index: LanceIndex) -> list[str]:
    ids: set[str] = set()
    marks, rows, wrong = 0, 0, 0
    for batch in index._batches(index._handle.query()):
        for row in _rows(batch):
            rows += 1
            marks += row["id"] == form.REACHED_ID
            wrong += row["id"] != form.REACHED_ID and not _is_sound(row)
            ids.add(row["id"])
    sentences = []
    if wrong:
        sentences.append(f"{wrong} of {rows} rows differ from their checksums.")
    if len(ids) < rows:
        sentences.append(f"{rows - len(ids)} rows stand there twice.")
    if index.reached() and not marks:
        sentences.append("The mark of what is reached is missing.")
    return sentences


def _rows(batch: Any) -> list[dict[str, Any]]:
    """Return a record batch's rows; the vector as an array, which is quicker than a list."""
    plain = batch.drop_columns(["vector"]).to_pylist()
    dim = batch.schema.field("vector").type.list_size
    vectors = batch["vector"]
    if vectors.null_count:
        # Without it the missing vectors would shift all that come behind them.
        vectors = vectors.fill_null([0.0] * dim)
    flat = vectors.flatten().to_numpy(zero_copy_only=False).reshape(-1, dim)
    for row, vector in zip(plain, flat, strict=True):
        row["vector"] = vector
    return list(plain)


def _is_sound(row: dict[str, Any]) -> bool:
    vector = row.pop("vector")
    expected = row.pop("checksum")
    values = [row[name] for name in form.CHECKED]
    return bool(expected == form.checksum(values, form.vector_bytes(vector)))
