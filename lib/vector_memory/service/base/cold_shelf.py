"""The cold memories of a store, as a search asks for them: found by their words in the journal, and weighed like
all others by what stands around them and by their cached vectors. Nothing of them is kept in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from vector_memory.model import Around, Candidate, IndexRow, Link, Memory, Scope
from vector_memory.service.base.shelf import Shelf

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vector_memory.model import Vector, Vectors
    from vector_memory.store.columns import Columns

MOST = 50
"""How many are found for one question: each is read from the disk."""


class ColdShelf:
    """A `CandidateSource` of a shelf's cold memories, for one question."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._columns: Columns | None = None

    def begin_matching(
        self, terms: Sequence[str], scope: Scope, k: int
    ) -> Callable[[], list[Candidate]]:
        """Return what finds the best by words."""
        return lambda: self._shelf.journal.matching(terms, scope, min(k, MOST), cold=True)

    def nearest(self, vector: Vector, scope: Scope, k: int) -> list[Candidate]:
        """Return nothing: cold memories are not searched by meaning."""
        return []

    def around(self, seqs: Sequence[int], spread: Sequence[int]) -> Around | None:
        """Return what stands around memories, as far as it is among these."""
        if self._shelf.index is None or not seqs:
            return None
        from vector_memory.store import table
        from vector_memory.store.columns import Columns

        rows = [IndexRow(*row[:2], None) for row in self._shelf.journal.with_terms(seqs)]
        self._columns = Columns()
        self._columns.add(table.batch(rows))
        return self._columns.around([row.memory.seq for row in rows])

    def vectors(self, seqs: NDArray[np.int64]) -> Vectors | None:
        """Return the cached vectors of memories, zeros where there is none."""
        index = self._shelf.index
        known = index and self._shelf.journal.vectors_of(seqs.tolist(), index.model)
        if not index or not known:
            return None
        import numpy as np

        found = np.zeros((len(seqs), index.dim), np.float32)
        found[seqs.searchsorted(known[0])] = known[1]
        return found

    def codes(self, column: str, words: Iterable[str]) -> list[int]:
        """Return the numbers that stand for words in `around`."""
        return self._columns.codes(column, words) if self._columns is not None else []

    def between(self, scope: Scope, start: float, end: float, k: int) -> list[int]:
        """Return nothing: they are found by their words alone."""
        return []

    def load(self, seqs: Sequence[int]) -> dict[int, Memory]:
        """Return memories by their sequence numbers; what stands in the place of one comes for it."""
        return self._shelf.load(seqs)

    def linked(self, ids: Sequence[str]) -> list[tuple[Link, Memory | None]]:
        """Return the links of memories, as their store knows them."""
        return self._shelf.linked(ids)
