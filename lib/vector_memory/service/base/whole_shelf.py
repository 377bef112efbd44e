"""A store as somebody who asks sees it: cold memories among all others, found by their words, and every candidate
weighed by the same, whichever tier it is in. Half a store may be cold without any answer moving.

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

    from vector_memory.journal.cold_reads import Standpoint
    from vector_memory.journal.reads import Change
    from vector_memory.model import Vector, Vectors
    from vector_memory.service.base.embedding import Embedding

NOBODY = -1
MOST_COMPUTED = 32
"""Vectors that are made for one question at most: who asks waits for them."""


class WholeShelf:
    """A `CandidateSource` of all of a shelf's memories, for one question."""

    def __init__(self, shelf: Shelf, embedding: Embedding) -> None:
        self._shelf = shelf
        self._embedding = embedding
        self._read: dict[int, Change] = {}
        self._codes: dict[str, dict[str, int]] = {"speaker": {}, "kind": {}, "session": {}}

    def begin_matching(
        self, terms: Sequence[str], scope: Scope, k: int
    ) -> Callable[[], list[Candidate]]:
        """Return what finds the k best by words, of all tiers."""
        return lambda: self._shelf.journal.matching(terms, scope, k, cold=None)

    def nearest(self, vector: Vector, scope: Scope, k: int, copies: int = 1) -> list[Candidate]:
        """Return the nearest of those that the index holds; what is cold is found by its words."""
        return self._shelf.nearest(vector, scope, k, copies)

    def around(self, seqs: Sequence[int], spread: Sequence[int]) -> Around | None:
        """Return what stands around memories, warm or cold; None while the columns are not loaded."""
        if self._shelf.around([], []) is None:
            return None
        import numpy as np

        places = self._shelf.journal.places(seqs)
        before, after = _neighbours(places)
        asked = set(map(int, seqs))
        for seq in map(int, spread):
            after2 = after.get(after.get(seq, 0), 0)
            asked |= {before.get(seq, 0), after.get(seq, 0), after2} - {0}
        wanted = sorted(asked)
        of = {place.seq: place for place in places}
        rows = [of.get(seq) for seq in wanted]
        sizes, marks = self._sizes_and_marks(rows, wanted)
        return Around(
            seqs=np.array(wanted, np.int64),
            before=np.array([before.get(seq, 0) for seq in wanted], np.int64),
            before2=np.array([before.get(before.get(seq, 0), 0) for seq in wanted], np.int64),
            after=np.array([after.get(seq, 0) for seq in wanted], np.int64),
            session=self._coded("session", rows, lambda row: row.session and _talk(row)),
            speaker=self._coded("speaker", rows, lambda row: row.speaker),
            kind=self._coded("kind", rows, lambda row: row.kind),
            days=np.array([row.at if row else 0.0 for row in rows], np.float64),
            size=sizes,
            marks=marks,
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
        for seq, vector in self._computed(seqs[~vectors.any(axis=1)]).items():
            vectors[seqs.searchsorted(seq)] = vector
        return vectors

    def _computed(self, seqs: NDArray[np.int64]) -> dict[int, Vector]:
        """Return vectors of cold candidates that have none yet, such as what became cold before this model
        came; they are in the cache from then on."""
        asked = [seq for seq in seqs.tolist() if seq in self._read][:MOST_COMPUTED]
        changes = [self._read[seq] for seq in asked]
        made = vectors_for(self._shelf, self._embedding, changes)
        return {memory.seq: made[key] for memory, _, key in changes if key in made}

    def codes(self, column: str, words: Iterable[str]) -> list[int]:
        """Return the numbers that stand for words in `around`; unknown and empty ones have none."""
        numbers = self._codes[column]
        return [numbers[word] for word in words if word and word in numbers]

    def between(self, scope: Scope, start: float, end: float, k: int) -> list[int]:
        """Return the newest memories of a time, k of each part of the store."""
        cold = self._shelf.journal.cold_between(scope, start, end, k)
        return [*self._shelf.between(scope, start, end, k), *cold]

    def load(self, seqs: Sequence[int]) -> dict[int, Memory]:
        """Return memories by their sequence numbers; what stands in the place of one comes for it."""
        return self._shelf.load(seqs)

    def linked(self, ids: Sequence[str]) -> list[tuple[Link, Memory | None]]:
        """Return the links of memories, with the active one at the other end, cold or not."""
        return self._shelf.linked(ids, cold=True)

    def _coded(
        self, column: str, rows: Sequence[Standpoint | None], word_of: Callable[[Standpoint], str]
    ) -> NDArray[np.int32]:
        """Return a number for each row's word, `NOBODY` where it has none."""
        import numpy as np

        numbers = self._codes[column]
        words = [word_of(row) if row else "" for row in rows]
        return np.array(
            [numbers.setdefault(word, len(numbers)) if word else NOBODY for word in words], np.int32
        )

    def _sizes_and_marks(
        self, rows: Sequence[Standpoint | None], seqs: Sequence[int]
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Return how long texts are and what they are, as the columns know it; of what they do not hold it is
        worked out."""
        from vector_memory.store import table

        around = self._shelf.around(seqs, [])
        assert around is not None
        sizes, marks = around.size.copy(), around.marks.copy()
        lacking = [seq for seq, row in zip(seqs, rows, strict=True) if row and row.is_cold]
        self._read = {row[0].seq: row for row in self._shelf.journal.with_terms(lacking)}
        read = [IndexRow(*row[:2], None) for row in self._read.values()]
        if read:
            batch = table.batch(read)
            at = around.seqs.searchsorted(batch.seqs)
            sizes[at], marks[at] = batch.sizes, batch.marks
        return sizes, marks


def whole(shelf: Shelf, embedding: Embedding) -> Shelf | WholeShelf:
    """Return a shelf as who asks sees it: itself, where nothing is cold."""
    return WholeShelf(shelf, embedding) if shelf.journal.has_cold() else shelf


def _talk(place: Standpoint) -> str:
    return f"{place.project}\0{place.session}"


def _neighbours(places: Iterable[Standpoint]) -> tuple[dict[int, int], dict[int, int]]:
    """Return which memory stands before and which after each in its session, by sequence numbers."""
    in_order = sorted(
        (place for place in places if place.session),
        key=lambda place: (place.project, place.session, place.turn, place.order, place.seq),
    )
    before: dict[int, int] = {}
    after: dict[int, int] = {}
    for first, second in zip(in_order, in_order[1:], strict=False):
        if _talk(first) == _talk(second):
            before[second.seq], after[first.seq] = first.seq, second.seq
    return before, after
