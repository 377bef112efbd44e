"""The search index of a store: LanceDB for words and filters, a matrix for vectors.

It comes up in stages, since importing LanceDB takes long and stops other threads meanwhile:
`Index.open` maps the saved matrix, so that vectors are searched at once; `load_lance` brings the
rest when nobody waits. The matrix is made from LanceDB's rows and kept equal to them.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vector_memory.errors import StoreDamagedError, StoreFullError, StoreTamperedError
from vector_memory.model import Candidate, IndexRow, Scope
from vector_memory.store import table as form
from vector_memory.store.columns import Columns
from vector_memory.store.failures import translated
from vector_memory.store.lance import LanceIndex, problems
from vector_memory.store.matrix import Matrix
from vector_memory.store.matrix_file import EXACT_ROWS
from vector_memory.system import removal, tampering

if TYPE_CHECKING:
    from vector_memory.model import Vector, Vectors
    from vector_memory.store.matrix import Chunk

WRONG_MATRIX = "The matrix differs from its checksums."
_MOSTLY_NEW = 0.2
RENEWING_S = 5.0
"""How long after files were replaced a search may still fail for that reason."""
SELECTIVE_ROWS = 200_000
"""Rows from which on a question's commonest terms are left out: reading what they match would take
most of the time, and says next to nothing."""
SAMPLE_ROWS = 6_000
COMMON_SHARE = 0.02
ENOUGH_TERMS = 8


class Index:
    """What follows a journal and can be rebuilt from it: LanceDB and an exact matrix. Make one with `Index.open`.

    Args:
        store: the store's folder.
        model: the embedding model and its version.
        dim: the vectors' dimension.
        exact_rows: memories up to which vectors are compared exactly.
    """

    def __init__(self, store: str, model: str, dim: int, exact_rows: int = EXACT_ROWS) -> None:
        # Before the first path in it is followed.
        tampering.require_intact(store)
        self.store = os.path.realpath(store)
        self.model = model
        self.dim = dim
        self.exact_rows = exact_rows
        self.matrix_folder = os.path.join(self.store, "matrix", form.slug(model, dim))
        self._lance: LanceIndex | None = None
        self._matrix: Matrix | None = None
        self._columns: Columns | None = None
        self._ahead = False
        self._common: dict[str, float] = {}
        self.renewed_at_s = float("-inf")
        self._write_lock = threading.RLock()

    @classmethod
    def open(cls, store: str, model: str, dim: int, exact_rows: int = EXACT_ROWS) -> Index:
        """Open what can be opened at once: the saved matrix, if there is a sound one.

        Returns:
            An index that answers `nearest` where `vectors_ready` says so, and nothing by words until
            `load_lance`.

        Raises:
            StoreTamperedError: something in the folder leads elsewhere.
        """
        index = cls(store, model, dim, exact_rows)
        index._matrix = Matrix.load(index.matrix_folder, model, dim, exact_rows)
        return index

    # -- what is there ------------------------------------------------------------------------

    @property
    def lexical_ready(self) -> bool:
        """Whether `begin_matching` finds anything: LanceDB is loaded."""
        return self._lance is not None

    @property
    def vectors_ready(self) -> bool:
        """Whether `nearest` answers."""
        return self._matrix is not None

    def reached(self) -> int:
        """Return the sequence number up to which LanceDB is complete; 0 until it is loaded."""
        return self._lance.reached() if self._lance is not None else 0

    def matrix_reached(self) -> int:
        """Return the sequence number up to which the matrix is complete; 0 without one."""
        return self._matrix.reached() if self._matrix is not None else 0

    def rows(self) -> int:
        """Return how many memories the index holds; 0 until LanceDB is loaded."""
        return self._lance.rows() if self._lance is not None else 0

    def seqs(self) -> NDArray[np.int64]:
        """Return the sequence numbers of all memories in LanceDB, (n,) int64, ascending."""
        return (self._lance or self._loaded()).seqs()

    def begin_matching(
        self, terms: Sequence[str], scope: Scope, k: int
    ) -> Callable[[], list[Candidate]]:
        """Begin to look for the k best by BM25 for any of these analysed terms.

        Returns:
            What waits for the search and returns its candidates, best first, of equal ones the newest first; [] until
            LanceDB is loaded. Scores compare within one answer of one store alone. It raises StoreDamagedError where
            LanceDB cannot read its table: `set_aside` helps.
        """
        if self._lance is None:
            return list
        return self._lance.begin_matching(self._selective(terms), scope, k)

    def nearest(
        self,
        vector: Vector,
        scope: Scope,
        k: int,
        allowed: NDArray[np.int64] | None = None,
        copies: int = 1,
    ) -> list[Candidate]:
        """Return the k nearest by cosine similarity.

        Args:
            vector: (dim,) float32, L2-normalised.
            scope: only its projects are looked at.
            k: how many at most.
            allowed: the ascending sequence numbers of all that is in the scope, where it is of more than projects.
            copies: more than 1 for the newest alone of copies of one text, where there is a matrix.

        Returns:
            Candidates with scores from -1 to 1, best first, of equal ones the newest first. Beyond
            `exact_rows` memories vectors are coded: scores are a little off, and one in a hundred of the
            k may be another one (see `rows`).
        """
        matrix = self._matrix
        # A question embedded by another model has no place among these vectors.
        if matrix is None or not len(form.usable([vector], self.dim)[0]):
            return []
        return matrix.nearest(vector, scope, k, allowed, copies)

    def within(self, scope: Scope) -> NDArray[np.int64] | None:
        """Return the sequence numbers of a scope, (n,) int64, ascending, where they are at hand; else None."""
        return self._columns.within(scope) if self._columns is not None else None

    def vectors(self, seqs: NDArray[np.int64]) -> Vectors | None:
        """Return the vectors of memories.

        Args:
            seqs: (n,) int64 sequence numbers.

        Returns:
            (n, dim) float32 in the order of `seqs`, of length 1 but for rounding, all zeros where there
            is none; None without a matrix, which alone has them at hand.
        """
        return self._matrix.vectors(seqs) if self._matrix is not None else None

    @property
    def columns(self) -> Columns | None:
        """What stands beside words and vectors; None until LanceDB is loaded."""
        return self._columns

    # -- coming up ----------------------------------------------------------------------------

    def load_lance(self) -> str:
        """Import LanceDB, open its table, and bring the matrix up to it. Call it when nobody
        waits: the first time takes half a second.

        Returns:
            Why a damaged table was set aside, "" if none was. The index then starts from 0.

        Raises:
            StoreFullError: the folder cannot be written.
        """
        return self._loaded().damage

    def _loaded(self) -> LanceIndex:
        with self._writing():
            if self._lance is None:
                lance = LanceIndex.open(self.store, self.model, self.dim)
                try:
                    self._build_derived(lance)
                except StoreDamagedError as error:
                    lance.set_aside(error.message)
                    self._build_derived(lance)
                # Last: from here on searches use it, so everything that belongs to it must be
                # there.
                self._lance = lance
            return self._lance

    def _build_derived(self, lance: LanceIndex) -> None:
        """Make everything that is made of LanceDB's rows."""
        try:
            self._align_matrix(lance)
            self._columns = Columns.build(lance.iter_columns())
            self._learn_common(lance)
        except (ArithmeticError, LookupError, TypeError) as error:
            # Nothing else of it is ours: the rows are not what was written.
            raise StoreDamagedError(
                f"The search index in {self.store} cannot be used: {error!r}.",
                "Run `vector-memory rebuild`: it is made anew from the journal.",
            ) from error

    def build_matrix(self, chunks: Iterable[Chunk], reached: int) -> None:
        """Make the matrix of vectors that come from elsewhere, before LanceDB is loaded.

        Args:
            chunks: sequence numbers (n,) int64, their projects, and (n, dim) float32 vectors,
                in any order.
            reached: the journal's sequence number up to which they are complete.

        Raises:
            StoreFullError: it cannot be written.
        """
        with self._writing(), translated("building the matrix", self.matrix_folder):
            self._matrix = Matrix.build(
                self.matrix_folder, self.model, self.dim, chunks, reached, self.exact_rows
            )
            self._ahead = self._lance is not None and self._lance.reached() < reached

    # -- changing it --------------------------------------------------------------------------

    def apply(self, rows: Sequence[IndexRow], removed_ids: Sequence[str], reached: int) -> None:
        """Insert or replace `rows` by id, remove `removed_ids`, make it durable, and only then
        count `reached` as reached. LanceDB is loaded if it is not yet.

        Raises:
            StoreFullError: the disk is full; what was reached before still stands.
            StoreDamagedError: LanceDB cannot use its table; `set_aside` helps.
        """
        with self._writing():
            lance = self._loaded()
            gone_seqs = lance.apply(rows, removed_ids, reached)
            # After the commit: what is in memory alone must not be ahead of what is on the disk.
            # A batch may bring a memory twice: the last one counts, as in the table.
            newest = list({row.memory.id: row for row in rows}.values())
            self._update_columns(newest, gone_seqs)
            if self._matrix is None:
                return
            self._update_matrix(self._matrix, newest, gone_seqs)
            # A matrix that is ahead of the table keeps the mark that it has.
            if not self._ahead:
                self._matrix.mark_reached(lance.reached())
            elif lance.reached() >= self._matrix.reached():
                self._align_matrix(lance)

    def needs_optimize(self) -> bool:
        """Whether enough was written since the last time that searches suffer."""
        lance, matrix = self._lance, self._matrix
        return (lance is not None and lance.needs_optimize()) or (
            matrix is not None and matrix.needs_save()
        )

    @property
    def tidies_later(self) -> bool:
        """Whether `needs_optimize` will be true without another write: what was replaced can be deleted
        after a while."""
        return self.needs_optimize() or (self._lance is not None and self._lance.tidies_later)

    def optimize(self) -> None:
        """Compact LanceDB and save the matrix. Called when nobody waits.

        Raises:
            StoreFullError: the disk is full; everything goes on as it was.
            StoreDamagedError: LanceDB cannot use its table; `set_aside` helps.
        """
        with self._writing():
            if self._lance is not None:
                self._lance.optimize()
                self._learn_common(self._lance)
            self._save_matrix()

    def rebuild(self, of_words: bool = False) -> None:
        """Drop everything, earlier damaged copies among it, and start from 0.

        Args:
            of_words: nothing but the words has changed: the matrix serves on, and is made equal to the table once
                that has caught up.

        Raises:
            StoreFullError: the folder cannot be written.
        """
        with self._writing():
            lance = self._loaded()
            lance.rebuild()
            self._columns = Columns()
            if of_words and self._matrix is not None:
                self._ahead = True
                return
            if self._matrix is not None:
                self._matrix.delete()
            # Even where there was none: an empty one answers, and grows with the batches to come.
            self._matrix = Matrix(self.matrix_folder, self.model, self.dim, self.exact_rows)
            self._ahead = False

    def purge(self, living: Sequence[int]) -> None:
        """Keep these memories alone, and leave nothing of the others' words and vectors in any file:
        LanceDB's table is written anew with its indexes, the matrix as well, and what other models and
        earlier damage left is deleted.

        Searches go on meanwhile; one that is under way at the very end may fail (`is_renewing`).

        Args:
            living: the sequence numbers of all memories that are to stay; those that the index has not
                reached are of no matter.

        Raises:
            StoreFullError: the disk is full; `rebuild` helps when there is room.
            StoreDamagedError: LanceDB cannot use its table; `rebuild` helps.
        """
        kept_seqs = np.unique(np.array(list(living), np.int64))
        with self._writing():
            lance = self._loaded()
            gone_seqs = np.setdiff1d(lance.seqs(), kept_seqs)
            if self._columns is not None:
                self._columns.remove(gone_seqs)
            # From now until the files are in place no failed search means damage.
            self.renewed_at_s = float("inf")
            try:
                lance.rewrite(kept_seqs)
            finally:
                self.renewed_at_s = time.monotonic()
            if self._matrix is not None:
                self._matrix.remove(np.setdiff1d(self._matrix.seqs(), kept_seqs))
            self._save_matrix()
            self._delete_other_matrices()

    @property
    def is_renewing(self) -> bool:
        """Whether files were replaced a moment ago, so that a search that failed says nothing."""
        return time.monotonic() - self.renewed_at_s < RENEWING_S

    def _delete_other_matrices(self) -> None:
        """Delete the matrices of other models."""
        folder, own_name = os.path.split(self.matrix_folder)
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            if name != own_name:
                removal.remove(os.path.join(folder, name))

    def set_aside(self, reason: str) -> None:
        """Rename LanceDB's table out of the way and start an empty one, from 0. The matrix serves
        on and is made equal to the table once that has caught up."""
        with self._writing():
            if self._lance is not None:
                self._lance.set_aside(reason)
                self._ahead = self._matrix is not None

    def check(self, read_data: bool = False) -> list[str]:
        """Return what is wrong with the index, one sentence each; [] when all is well.

        Args:
            read_data: read everything and compare it with its checksums.

        Returns:
            Sentences for people, which are also what `mend` takes.
        """
        wrong = problems(self._lance, read_data) if self._lance is not None else []
        if read_data and self._matrix is not None and not self._matrix.sound():
            wrong.append(WRONG_MATRIX)
        return wrong

    def mend(self, problems: Sequence[str]) -> None:
        """Set aside what these answers of `check` are about; `apply` makes it anew from there on.

        Raises:
            StoreFullError: the folder cannot be written.
        """
        with self._writing():
            if WRONG_MATRIX in problems and self._matrix is not None:
                self._matrix.set_aside()
                self._matrix = Matrix(self.matrix_folder, self.model, self.dim, self.exact_rows)
            about_table = [problem for problem in problems if problem != WRONG_MATRIX]
            if about_table:
                self.set_aside(about_table[0])
            elif self._lance is not None:
                self._rebuild_matrix(self._lance, len(self._lance.embedded_seqs()))

    def close(self, save: bool = True) -> None:
        """Save the matrix, release files and memory.

        Args:
            save: write what is not saved; not where somebody else has changed the files.
        """
        with self._write_lock:
            # What cannot be saved is derived: the next start takes it from LanceDB.
            with contextlib.suppress(StoreFullError, StoreTamperedError):
                if save:
                    self._save_matrix()
            if self._lance is not None:
                self._lance.close()
            self._lance = self._matrix = self._columns = None

    # -- small parts --------------------------------------------------------------------------

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Keep other threads from writing, and see that nothing in the store leads elsewhere: LanceDB opens
        and deletes files by their paths.

        Raises:
            StoreTamperedError: something does.
        """
        with self._write_lock:
            tampering.require_intact(self.store)
            yield

    def _selective(self, terms: Sequence[str]) -> Sequence[str]:
        """Return the terms that are worth asking for among many rows: all rare ones, and of the
        common ones the rarest until there are enough."""
        if len(terms) <= ENOUGH_TERMS or not self._common:
            return terms
        ordered = sorted(terms, key=lambda term: self._common.get(term, 0.0))
        rare = sum(term not in self._common for term in terms)
        return ordered[: max(ENOUGH_TERMS, rare)]

    def _learn_common(self, lance: LanceIndex) -> None:
        """Learn which terms are common, by a sample, where there are many rows."""
        if lance.rows() >= SELECTIVE_ROWS:
            shares = lance.shares(SAMPLE_ROWS)
            self._common = {term: share for term, share in shares.items() if share >= COMMON_SHARE}

    def _update_columns(self, newest: Sequence[IndexRow], gone_seqs: NDArray[np.int64]) -> None:
        """Do in the columns what was done in LanceDB."""
        if self._columns is None:
            return
        added = form.batch(newest)
        # A row that keeps its number, having been given its vector, is not taken out.
        self._columns.remove(np.setdiff1d(gone_seqs, added.seqs))
        if newest:
            self._columns.add(added)

    def _update_matrix(
        self, matrix: Matrix, newest: Sequence[IndexRow], gone_seqs: NDArray[np.int64]
    ) -> None:
        """Do in the matrix what was done in LanceDB."""
        places, vectors = form.usable([row.vector for row in newest], self.dim)
        embedded = [newest[place].memory for place in places]
        seqs = np.array([memory.seq for memory in embedded], np.int64)
        matrix.remove(np.setdiff1d(gone_seqs, seqs))
        if embedded:
            matrix.add(seqs, [memory.project for memory in embedded], vectors)

    def _align_matrix(self, lance: LanceIndex) -> None:
        """Make the matrix equal to LanceDB's rows, or see that it waits for them."""
        matrix = self._matrix
        if matrix is not None and matrix.reached() > lance.reached():
            self._ahead = True
            return
        self._ahead = False
        table_seqs = lance.embedded_seqs()
        if matrix is None:
            self._rebuild_matrix(lance, len(table_seqs))
            return
        # Only the difference is read: at a start that is next to nothing.
        matrix_seqs = matrix.seqs()
        missing = np.setdiff1d(table_seqs, matrix_seqs)
        # So much in the tail would slow each search; writing everything in order is quicker.
        if len(missing) > _MOSTLY_NEW * max(len(table_seqs), 1_000):
            self._rebuild_matrix(lance, len(table_seqs))
            return
        matrix.remove(np.setdiff1d(matrix_seqs, table_seqs))
        for seqs, projects, vectors in lance.iter_vectors(missing):
            matrix.add(seqs, projects, vectors)
        matrix.mark_reached(lance.reached())

    def _rebuild_matrix(self, lance: LanceIndex, rows: int) -> None:
        if not rows:
            self._matrix = Matrix(self.matrix_folder, self.model, self.dim, self.exact_rows)
            self._matrix.mark_reached(lance.reached())
            return
        self.build_matrix(lance.iter_vectors(), lance.reached())

    def _save_matrix(self) -> None:
        if self._matrix is not None:
            tampering.require_intact(self.store)
            with translated("saving the matrix", self.matrix_folder):
                self._matrix.save()
