"""A store as a question sees it: cold memories among all others, found by their words, and every candidate weighed in
the same way, whichever tier it is in. Half a store may be cold, and the answers stay the same.

What is cold has no place in the index. So where there is any, one full text answers for all (scores of two do not
compare), the order of what was said is read from the journal, and vectors that the index does not hold come from
the journal's cache. Nothing of it is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from vector_memory.model import Around, Candidate, IndexRow, Link, Memory, Scope
from vector_memory.service.base.follow_journal import vectors_for
from vector_memory.service.base.shelf import Shelf

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vector_memory.journal.lexical import Standpoint
    from vector_memory.journal.reads import Change
    from vector_memory.model import Vector, Vectors
    from vector_memory.service.base.embedding import Embedding
    from vector_memory.store.columns import Batch, Columns

MOST_COMPUTED = 32
"""Vectors that are made for one question at most: who asks waits for them."""


class WholeShelf:
    """A `CandidateSource` of all of a shelf's memories, for one question."""

    def __init__(self, shelf: Shelf, embedding: Embedding) -> None:
        self._shelf = shelf
        self._embedding = embedding
        self._read: dict[int, Change] = {}
        self._around: Columns | None = None

    def begin_matching(
        self, terms: Sequence[str], scope: Scope, k: int
    ) -> Callable[[], list[Candidate]]:
        """Return what finds the k best by words, of all tiers."""
        candidates = self._shelf.journal.matching(terms, scope, k, cold=True)
        return lambda: candidates

    def nearest(self, vector: Vector, scope: Scope, k: int, copies: int = 1) -> list[Candidate]:
        """Return the nearest of those that the index holds; what is cold is found by its words."""
        return self._shelf.nearest(vector, scope, k, copies)

    def around(self, seqs: Sequence[int], spread: Sequence[int]) -> Around | None:
        """Return what stands around memories, warm or cold; None while the columns are not loaded."""
        if self._shelf.around([], []) is None:
            return None
        from vector_memory.store.columns import Columns

        places = self._shelf.journal.places(seqs)
        self._around = Columns.build([_batch(places)])
        around = self._around.around(seqs, spread)
        cold = {place.seq for place in places if place.is_cold}
        return self._with_sizes_and_marks(
            around, [seq for seq in around.seqs.tolist() if seq in cold]
        )

    def vectors(self, seqs: NDArray[np.int64]) -> Vectors | None:
        """Return the vectors of memories, zeros where there is none: from the index, else from the cache, else
        made now."""
        vectors = self._shelf.vectors(seqs)
        index = self._shelf.index
        if vectors is None or index is None:
            return vectors
        lacking = seqs[~vectors.any(axis=1)]
        cached = self._shelf.journal.vectors_of(lacking.tolist(), index.model)
        if cached is not None:
            vectors[seqs.searchsorted(cached[0])] = cached[1]
        for seq, vector in self._compute_vectors(seqs[~vectors.any(axis=1)]).items():
            vectors[seqs.searchsorted(seq)] = vector
        return vectors

    def _compute_vectors(self, seqs: NDArray[np.int64]) -> dict[int, Vector]:
        """Return vectors of cold candidates that have none yet, such as what became cold before this model
        came; they are in the cache from then on."""
        cold_seqs = [seq for seq in seqs.tolist() if seq in self._read][:MOST_COMPUTED]
        changes = [self._read[seq] for seq in cold_seqs]
        vectors = vectors_for(self._shelf, self._embedding, changes)
        return {memory.seq: vectors[key] for memory, _, key in changes if key in vectors}

    def codes(self, column: str, words: Iterable[str]) -> list[int]:
        """Return the numbers that stand for words in `around`; unknown and empty ones have none."""
        return self._around.codes(column, words) if self._around is not None else []

    def between(self, scope: Scope, start: float, end: float, k: int) -> list[int]:
        """Return the newest memories of a time, k of each part of the store."""
        cold = self._shelf.journal.cold_between(scope, start, end, k)
        return [*self._shelf.between(scope, start, end, k), *cold]

    def load(self, seqs: Sequence[int]) -> dict[int, Memory]:
        """Return memories by their sequence numbers; instead of a superseded one comes its successor."""
        return self._shelf.load(seqs)

    def linked(self, ids: Sequence[str]) -> list[tuple[Link, Memory | None]]:
        """Return the links of memories, with the active one at the other end, cold or not."""
        return self._shelf.linked(ids, cold=True)

    def _with_sizes_and_marks(self, around: Around, cold: Sequence[int]) -> Around:
        """Return it with the sizes and marks of texts, from the index's columns; those of cold memories are computed."""
        from vector_memory.store import table

        warm = self._shelf.around(around.seqs.tolist(), [])
        assert warm is not None
        sizes, marks = warm.size.copy(), warm.marks.copy()
        self._read = {row[0].seq: row for row in self._shelf.journal.with_terms(cold)}
        rows = [IndexRow(*row[:2], None) for row in self._read.values()]
        if rows:
            batch = table.batch(rows)
            positions = around.seqs.searchsorted(batch.seqs)
            sizes[positions], marks[positions] = batch.sizes, batch.marks
        return around._replace(size=sizes, marks=marks)


def with_cold(shelf: Shelf, embedding: Embedding) -> Shelf | WholeShelf:
    """Return a shelf as a question sees it: itself, where nothing is cold."""
    return WholeShelf(shelf, embedding) if shelf.journal.has_cold() else shelf


def _batch(places: Sequence[Standpoint]) -> Batch:
    """Return places, in the order in which things were said, as rows of columns."""
    import numpy as np

    from vector_memory.store.columns import Batch, words_of

    count = len(places)
    return Batch(
        np.array([place.seq for place in places], np.int64),
        np.array([place.at_us for place in places], np.int64),
        np.arange(count, dtype=np.int64),
        np.zeros(count, np.uint8),
        np.zeros(count, np.uint8),
        {
            name: words_of([getattr(place, name) for place in places])
            for name in ("project", "session", "speaker", "kind")
        },
    )
