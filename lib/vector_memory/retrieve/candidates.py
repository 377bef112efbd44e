"""Candidates: what each retriever of each shelf proposes, with what is known around it, before
anything is weighed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from vector_memory.model import Around, Candidate, Link, Memory, Scope
from vector_memory.retrieve.query import FAR_FUTURE, FAR_PAST, Query

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vector_memory.model import Vector, Vectors

    Floats = NDArray[np.float32]

Found = Callable[[], list[Candidate]]
"""Waits for a search that was begun."""
SPREAD = 50
"""Of how many of the best by words, and half as many by meaning, the neighbours come along: an answer
often shares no word with a question, but stands right after something that does."""
TIMELY = 50
"""How many of the newest memories of a time that is asked about come along."""
NAMED = 50
"""How many are looked up by the identifiers and files that a question names."""
MOST_COPIES = 32
"""How many times more are asked for at most where what is found says the same again and again."""
NEIGHBOUR_SHARE = 0.5
"""How much a neighbour's vector counts in a pooled one."""
NEAR = 100_000
"""Into so many parts of 1 cosines are counted: those of the same words are equal, however they are computed."""
_MIXED = 64


class CandidateSource(Protocol):
    """A shelf as recall needs it."""

    def begin_matching(self, terms: Sequence[str], scope: Scope, k: int) -> Found:
        """Begin a search for any of these analysed terms, and return what waits for the k best by
        BM25, best first."""
        ...

    def nearest(self, vector: Vector, scope: Scope, k: int) -> list[Candidate]:
        """Return the k nearest by cosine similarity (-1 to 1), best first; [] without an index.

        Args:
            vector: (dim,) float32, L2-normalised.
        """
        ...

    def around(self, seqs: Sequence[int], spread: Sequence[int]) -> Around | None:
        """Return what stands around these memories, and around the neighbours of `spread`, ascending
        by sequence number; None while the columns are not loaded."""
        ...

    def vectors(self, seqs: NDArray[np.int64]) -> Vectors | None:
        """Return (n, dim) float32 in the order of `seqs`, all zeros where there is none; None where
        none are at hand."""
        ...

    def codes(self, column: str, words: Iterable[str]) -> list[int]:
        """Return the numbers that stand for words in a column of `around`; unknown words have none."""
        ...

    def texts(self, seqs: Sequence[int]) -> dict[int, object]:
        """Return what is equal for memories of one text, kind and project, by their sequence numbers."""
        ...

    def between(self, scope: Scope, start: float, end: float, k: int) -> list[int]:
        """Return the sequence numbers of the k newest memories from `start` until before `end`, in
        days since 1970, newest first."""
        ...

    def load(self, seqs: Sequence[int]) -> dict[int, Memory]:
        """Return memories by the sequence numbers asked for. Outdated numbers are absent; for a
        superseded memory its successor comes."""
        ...

    def linked(self, ids: Sequence[str]) -> Sequence[tuple[Link, Memory | None]]:
        """Return the links from and to these memories, each with the active memory at its other end,
        None where that is one of them."""
        ...


@dataclass(frozen=True)
class Pool:
    """The candidates of one shelf, ascending by sequence number: arrays of n elements.

    `lexical` is BM25 of a memory's own words and `before`, `before2`, `after` that of its neighbours
    (0 where they do not match); `dense` the cosine of its vector with the question's and `pooled`
    that of its vector with its neighbours' mixed in (NaN without one); `exact` BM25 of nothing but
    the identifiers and files that the question names. `around` is None while the
    columns are not loaded.
    """

    shelf: int
    seqs: NDArray[np.int64]
    lexical: Floats
    before: Floats
    before2: Floats
    after: Floats
    dense: Floats
    pooled: Floats
    exact: Floats
    around: Around | None


class Begun(NamedTuple):
    """The searches by words that were begun on a shelf: by all terms, and by exact names alone."""

    words: Found
    named: Found


def begin(query: Query, shelves: Sequence[CandidateSource], k: int) -> list[Begun]:
    """Begin to search every shelf by words. The index does that in threads of its own, so that the
    question can be embedded meanwhile: together they take 7 ms instead of 11.

    Args:
        query: its terms and exact names are searched for; it needs no vector yet.
        shelves: the stores asked.
        k: how many each search may find.

    Returns:
        The searches of each shelf, in the order of `shelves`.
    """
    return [
        Begun(
            _begin_words(query, shelf, k),
            # Apart from the other words: a name that was typed as it stands weighs more than any of
            # them.
            shelf.begin_matching(query.exact, query.scope, NAMED) if query.exact else list,
        )
        for shelf in shelves
    ]


class ByWords(NamedTuple):
    """What the searches by words of a shelf found, the best first."""

    words: list[Candidate]
    named: list[Candidate]


def read(begun: Sequence[Begun]) -> list[ByWords]:
    """Wait for the searches by words of each shelf.

    Returns:
        What they found, in the order of the shelves.
    """
    return [ByWords(searches.words(), searches.named()) for searches in begun]


def _begin_words(query: Query, shelf: CandidateSource, k: int) -> Found:
    words = (*query.terms, *query.pieces)
    return shelf.begin_matching(words, query.scope, k) if query.terms else list


def gather(
    query: Query, shelves: Sequence[CandidateSource], k: int, found: Sequence[ByWords]
) -> list[Pool]:
    """Return the candidates of all shelves: k by words and k by meaning from each, the neighbours
    of the best, what is named exactly, and the newest of the time asked about.

    Args:
        found: what each shelf's searches by words found.

    Returns:
        One pool for each shelf that has any candidates, in the order of `shelves`; `Pool.shelf` is
        the place among them.
    """
    pools = [
        _pool(query, place, shelf, k, by_words)
        for place, (shelf, by_words) in enumerate(zip(shelves, found, strict=True))
    ]
    return [pool for pool in pools if len(pool.seqs)]


def _pool(query: Query, place: int, shelf: CandidateSource, k: int, by_words: ByWords) -> Pool:
    import numpy as np

    meaning = shelf.nearest(query.vector, query.scope, k) if query.vector is not None else []
    words, named = by_words.words, by_words.named
    if query.vector is not None and (copies := _copies(meaning, k)) > 1:
        meaning = shelf.nearest(query.vector, query.scope, k * copies)
        words = _begin_words(query, shelf, k * copies)()
        if not query.spans:
            meaning, words = _each_once(shelf, meaning, words)
    seqs = [one.seq for one in (*words, *meaning, *named)]
    # Neighbours are of the same project, but may be of another kind or time than asked for.
    spread = seqs[:0]
    if query.scope.only_projects:
        spread = [one.seq for one in words[:SPREAD]] + [one.seq for one in meaning[: SPREAD // 2]]
        for scope, (start, end) in _listed(query):
            seqs += shelf.between(scope, start, end, TIMELY)
    around = shelf.around(seqs, spread)
    own = _distinct(seqs) if around is None else around.seqs
    bm25, exact = _Scores(words), _Scores(named).of(own)
    # NaN, not 0: what has no vector must not count as the farthest of all.
    dense = pooled = _Scores(meaning).of(own, np.nan)
    if around is None:
        nothing = np.zeros(len(own), np.float32)
        if query.vector is not None and (vectors := shelf.vectors(own)) is not None:
            dense = pooled = np.where(vectors.any(axis=1), vectors @ query.vector, dense)
        return Pool(place, own, bm25.of(own), nothing, nothing, nothing, dense, pooled, exact, None)
    # Those found by words alone have a vector too, and it is at hand.
    if query.vector is not None:
        dense, pooled = _cosines(query.vector, shelf, around, dense)
    return Pool(
        place,
        own,
        bm25.of(own),
        bm25.of(around.before),
        bm25.of(around.before2),
        bm25.of(around.after),
        dense,
        pooled,
        exact,
        around,
    )


def _copies(found: Sequence[Candidate], k: int) -> int:
    """Return how often each of k that were found stands among them, on average: the same words are equally near.
    Sessions that were resumed, forked or held again bring their passages with them, and as many different ones are
    to be weighed as where each stands once."""
    if len(found) < k:
        return 1
    return min(MOST_COPIES, len(found) // len({int(one.score * NEAR) for one in found}))


def _each_once(
    shelf: CandidateSource, meaning: Sequence[Candidate], words: Sequence[Candidate]
) -> tuple[list[Candidate], list[Candidate]]:
    """Return what was found by meaning and by words with one for all copies of a text: the same in both, the newest of
    those that have a vector at hand."""
    keys = shelf.texts([one.seq for one in (*meaning, *words)])
    stands = {keys[seq]: seq for seq in sorted(one.seq for one in words) if seq in keys}
    stands |= {keys[seq]: seq for seq in sorted(one.seq for one in meaning) if seq in keys}
    lists = []
    for found in (meaning, words):
        best: dict[int, Candidate] = {}
        for seq, score in found:
            kept = stands.get(keys.get(seq), seq)
            best.setdefault(kept, Candidate(kept, score))
        lists.append(list(best.values()))
    return lists[0], lists[1]


def _listed(query: Query) -> Iterator[tuple[Scope, tuple[float, float]]]:
    """Yield of what the newest come along: of the times that a question names, and of the kinds that it asks
    for, in those times or, if it says nothing else, ever."""
    ever = [(FAR_PAST, FAR_FUTURE)] if query.asks_for_all and not query.spans else []
    of_kinds = replace(query.scope, kinds=query.kinds)
    for span in (*query.spans, *ever):
        if span in query.spans:
            yield query.scope, span
        if query.kinds:
            yield of_kinds, span


def _distinct(seqs: Sequence[int]) -> NDArray[np.int64]:
    import numpy as np

    return np.unique(np.array(seqs, np.int64))


def _cosines(
    vector: Vector, shelf: CandidateSource, around: Around, known: Floats
) -> tuple[Floats, Floats]:
    """Return each memory's cosine, alone and with half of its neighbours' vectors mixed in."""
    import numpy as np

    # Only short turns lean on their neighbours much; what has none is its own mixture.
    accompanied = (around.before > 0) | (around.after > 0)
    near = np.concatenate([around.before[accompanied], around.after[accompanied]])
    wanted = np.union1d(around.seqs, near) if len(near) else around.seqs
    vectors = shelf.vectors(wanted)
    if vectors is None:
        return known, known
    similar = vectors @ vector
    own = np.searchsorted(wanted, around.seqs)
    present = np.asarray(vectors.any(axis=1))
    cosines = np.where(present[own], similar[own], known)
    pooled = cosines.copy()
    if len(near):
        own = own[accompanied]
        before, after = np.searchsorted(wanted, near).reshape(2, -1)
        lengths = _mixed_lengths(vectors, own, before, after)
        sums = similar[own] + NEIGHBOUR_SHARE * (similar[before] + similar[after])
        # The mixture's cosine, out of the products that are there: it is not computed again.
        pooled[accompanied] = np.where(lengths > 0, sums / np.maximum(lengths, 1e-9), 0.0)
        pooled = np.where(np.isnan(cosines), np.nan, pooled)
    return cosines.astype(np.float32), pooled.astype(np.float32)


def _mixed_lengths(
    vectors: Vectors, own: NDArray[np.int64], before: NDArray[np.int64], after: NDArray[np.int64]
) -> Floats:
    """Return the lengths, (n,) float32, of n rows of `vectors` with half of their neighbours' mixed in."""
    import numpy as np

    lengths = np.empty(len(own), np.float32)
    # A few at a time stay in the processor's cache; all at once take three times as long.
    for start in range(0, len(own), _MIXED):
        some = slice(start, start + _MIXED)
        mixed = vectors[before[some]]
        mixed += vectors[after[some]]
        mixed *= NEIGHBOUR_SHARE
        mixed += vectors[own[some]]
        lengths[some] = np.einsum("ij,ij->i", mixed, mixed)
    return np.sqrt(lengths)


class _Scores:
    """One retriever's scores by sequence number."""

    def __init__(self, found: Sequence[Candidate]) -> None:
        import numpy as np

        seqs = np.array([one.seq for one in found], np.int64)
        order = np.argsort(seqs, kind="stable")
        self._seqs = seqs[order]
        self._scores = np.array([one.score for one in found], np.float32)[order]

    def of(self, seqs: NDArray[np.int64], otherwise: float = 0.0) -> Any:
        """Return the scores of these, `otherwise` where there is none."""
        import numpy as np

        if not len(self._seqs):
            return np.full(len(seqs), otherwise, np.float32)
        places = np.minimum(np.searchsorted(self._seqs, seqs), len(self._seqs) - 1)
        return np.where(self._seqs[places] == seqs, self._scores[places], np.float32(otherwise))
