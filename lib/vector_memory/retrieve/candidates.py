"""Candidates: what each retriever of each shelf proposes, with what is known around it, before
anything is weighed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from vector_memory.model import ALIKE_DIGITS, Around, Candidate, Link, Memory, Scope
from vector_memory.retrieve.query import FAR_FUTURE, FAR_PAST, Query

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vector_memory.model import Vector, Vectors

    Floats = NDArray[np.float32]

PendingSearch = Callable[[], list[Candidate]]
"""Waits for a search that was begun, and returns what it found."""
SPREAD = 50
"""Of how many of the best by words, and half as many by meaning, the neighbours come along: an answer
often shares no word with a question, but stands right after something that does."""
TIMELY = 50
"""How many of the newest memories of a time that is asked about come along."""
NAMED = 50
"""How many are looked up by the identifiers and files that a question names."""
MOST_COPIES = 32
"""How many times more are asked for at most where what is found says the same again and again."""
DIFFERENT = 50
"""How many different texts are enough of what is found by words there: reading thousands takes longer than all else."""
NEIGHBOUR_SHARE = 0.5
"""How much a neighbour's vector counts in a pooled one."""
_MIXED = 64


class CandidateSource(Protocol):
    """A shelf as recall needs it."""

    def begin_matching(self, terms: Sequence[str], scope: Scope, k: int) -> PendingSearch:
        """Begin a search for any of these analysed terms, and return what waits for the k best by
        BM25, best first."""
        ...

    def nearest(self, vector: Vector, scope: Scope, k: int, copies: int = 1) -> list[Candidate]:
        """Return the k nearest by cosine similarity (-1 to 1), best first; [] without an index.

        Args:
            vector: (dim,) float32, L2-normalised.
            copies: more than 1 for the newest alone of copies of one text, of so many at most.
        """
        ...

    def around(self, seqs: Sequence[int], spread: Sequence[int]) -> Around | None:
        """Return what stands around these memories, and around the neighbours of `spread`, ascending
        by sequence number; None while the columns are not loaded."""
        ...

    def vectors(self, seqs: NDArray[np.int64]) -> Vectors | None:
        """Return (n, dim) float32 in the order of `seqs`, which ascend, all zeros where there is none; None
        where none are at hand."""
        ...

    def codes(self, column: str, words: Iterable[str]) -> list[int]:
        """Return the numbers that stand for words in a column of `around`; unknown words have none."""
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


class WordSearches(NamedTuple):
    """The searches by words that were begun on a shelf: by all terms, and by exact names alone."""

    words: PendingSearch
    names: PendingSearch


def begin(query: Query, shelves: Sequence[CandidateSource], k: int) -> list[WordSearches]:
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
        WordSearches(
            _begin_words(query, shelf, k),
            # Apart from the other words: a name that was typed as it stands weighs more than any of
            # them.
            shelf.begin_matching(query.exact, query.scope, NAMED) if query.exact else list,
        )
        for shelf in shelves
    ]


class WordMatches(NamedTuple):
    """What the searches by words of a shelf found, the best first."""

    words: list[Candidate]
    names: list[Candidate]


def read(word_searches: Sequence[WordSearches]) -> list[WordMatches]:
    """Wait for the searches by words of each shelf.

    Returns:
        What they found, in the order of the shelves.
    """
    return [WordMatches(searches.words(), searches.names()) for searches in word_searches]


def nearest(
    query: Query, shelves: Sequence[CandidateSource], k: int
) -> list[list[Candidate] | None]:
    """Search every shelf by meaning, while those by words go on.

    Returns:
        The k nearest of each shelf, of copies of a text the newest alone; None where what was found by words says
        how many are to be looked for.
    """
    if query.vector is None:
        return [[] for _ in shelves]
    # Of what is asked for by its time each copy counts: it may be of that time.
    if query.spans:
        return [None for _ in shelves]
    return [shelf.nearest(query.vector, query.scope, k, MOST_COPIES) for shelf in shelves]


def _begin_words(query: Query, shelf: CandidateSource, k: int) -> PendingSearch:
    words = (*query.terms, *query.pieces)
    return shelf.begin_matching(words, query.scope, k) if query.terms else list


def gather(
    query: Query,
    shelves: Sequence[CandidateSource],
    k: int,
    word_matches: Sequence[WordMatches],
    vector_matches: Sequence[list[Candidate] | None],
) -> list[Pool]:
    """Return the candidates of all shelves: k by words and k by meaning from each, the neighbours
    of the best, what is named exactly, and the newest of the time asked about.

    Args:
        word_matches: what each shelf's searches by words found.
        vector_matches: what `nearest` found on each shelf.

    Returns:
        One pool for each shelf that has any candidates, in the order of `shelves`; `Pool.shelf` is
        the place among them.
    """
    pools = [
        _pool(query, place, shelf, k, matches, nearby)
        for place, (shelf, matches, nearby) in enumerate(
            zip(shelves, word_matches, vector_matches, strict=True)
        )
    ]
    return [pool for pool in pools if len(pool.seqs)]


def _pool(
    query: Query,
    place: int,
    shelf: CandidateSource,
    k: int,
    matches: WordMatches,
    vector_matches: list[Candidate] | None,
) -> Pool:
    import numpy as np

    word_matches, name_matches = matches.words, matches.names
    if query.vector is not None:
        copies = _copies(shelf, query.vector, word_matches, k)
        if vector_matches is None:
            vector_matches = shelf.nearest(query.vector, query.scope, k * copies)
        if copies > 1:
            word_matches = _begin_words(query, shelf, min(k, DIFFERENT) * copies)()
            if not query.spans:
                word_matches = _each_once(shelf, query.vector, word_matches)
    vector_matches = vector_matches or []
    seqs = [candidate.seq for candidate in (*word_matches, *vector_matches, *name_matches)]
    # Neighbours are of the same project, but may be of another kind or time than asked for.
    spread = seqs[:0]
    if query.scope.only_projects:
        near = (*word_matches[:SPREAD], *vector_matches[: SPREAD // 2])
        spread = [candidate.seq for candidate in near]
        for scope, (start, end) in _listing_scopes(query):
            seqs += shelf.between(scope, start, end, TIMELY)
    around = shelf.around(seqs, spread)
    own_seqs = _distinct(seqs) if around is None else around.seqs
    bm25, exact = _Scores(word_matches), _Scores(name_matches).of(own_seqs)
    lexical = bm25.of(own_seqs)
    # NaN, not 0: what has no vector must not count as the farthest of all.
    dense = pooled = _Scores(vector_matches).of(own_seqs, np.nan)
    if around is None:
        zeros = np.zeros(len(own_seqs), np.float32)
        if query.vector is not None and (vectors := shelf.vectors(own_seqs)) is not None:
            dense = pooled = np.where(vectors.any(axis=1), vectors @ query.vector, dense)
        return Pool(place, own_seqs, lexical, zeros, zeros, zeros, dense, pooled, exact, None)
    # Those found by words alone have a vector too, and it is at hand.
    if query.vector is not None:
        dense, pooled = _cosines(query.vector, shelf, around, dense)
    return Pool(
        place,
        own_seqs,
        lexical,
        bm25.of(around.before),
        bm25.of(around.before2),
        bm25.of(around.after),
        dense,
        pooled,
        exact,
        around,
    )


def _copies(shelf: CandidateSource, vector: Vector, words: Sequence[Candidate], k: int) -> int:
    """Return how often each of k that were found by words stands among them, on average. Sessions that were resumed,
    forked or held again bring their passages with them, and as many different ones are to be weighed as where each
    stands once."""
    if len(words) < k:
        return 1
    return min(MOST_COPIES, len(words) // len(set(_likeness(shelf, vector, words).tolist())))


def _each_once(
    shelf: CandidateSource, vector: Vector, words: Sequence[Candidate]
) -> list[Candidate]:
    """Return what was found by words with the newest alone of all copies of a text, as a search by meaning does."""
    import numpy as np

    alike = _likeness(shelf, vector, words)
    _, first_places, groups = np.unique(alike, return_index=True, return_inverse=True)
    newest = np.zeros(len(first_places), np.int64)
    np.maximum.at(newest, groups, np.array([word.seq for word in words], np.int64))
    return [
        Candidate(int(newest[place]), words[first_places[place]].score)
        for place in np.argsort(first_places)
    ]


def _likeness(
    shelf: CandidateSource, vector: Vector, matches: Sequence[Candidate]
) -> NDArray[np.float64]:
    """Return what is equal for candidates of one text: how near it is to the question; of one without a vector a
    number of its own."""
    import numpy as np

    ordered, places = np.unique(
        np.array([candidate.seq for candidate in matches], np.int64), return_inverse=True
    )
    vectors = shelf.vectors(ordered)
    if vectors is None:
        return ordered.astype(np.float64)[places]
    near = np.round((vectors @ vector).astype(np.float64), ALIKE_DIGITS)
    return np.asarray(np.where(vectors.any(axis=1), near, ordered + 2.0)[places], np.float64)


def _listing_scopes(query: Query) -> Iterator[tuple[Scope, tuple[float, float]]]:
    """Yield the scopes and times of which the newest memories become candidates: the times that a question names,
    and the kinds that it asks for, in those times or, if it says nothing else, ever."""
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
    vector: Vector, shelf: CandidateSource, around: Around, known_cosines: Floats
) -> tuple[Floats, Floats]:
    """Return each memory's cosine, alone and with half of its neighbours' vectors mixed in."""
    import numpy as np

    # Only short turns lean on their neighbours much; what has none is its own mixture.
    has_neighbours = (around.before > 0) | (around.after > 0)
    near = np.concatenate([around.before[has_neighbours], around.after[has_neighbours]])
    wanted_seqs = np.union1d(around.seqs, near) if len(near) else around.seqs
    vectors = shelf.vectors(wanted_seqs)
    if vectors is None:
        return known_cosines, known_cosines
    similar = vectors @ vector
    own_places = np.searchsorted(wanted_seqs, around.seqs)
    has_vector = np.asarray(vectors.any(axis=1))
    cosines = np.where(has_vector[own_places], similar[own_places], known_cosines)
    pooled = cosines.copy()
    if len(near):
        own_places = own_places[has_neighbours]
        before, after = np.searchsorted(wanted_seqs, near).reshape(2, -1)
        lengths = _mixed_lengths(vectors, own_places, before, after)
        sums = similar[own_places] + NEIGHBOUR_SHARE * (similar[before] + similar[after])
        # The mixture's cosine, out of the products that are there: it is not computed again.
        pooled[has_neighbours] = np.where(lengths > 0, sums / np.maximum(lengths, 1e-9), 0.0)
        pooled = np.where(np.isnan(cosines), np.nan, pooled)
    return cosines.astype(np.float32), pooled.astype(np.float32)


def _mixed_lengths(
    vectors: Vectors,
    own_places: NDArray[np.int64],
    before: NDArray[np.int64],
    after: NDArray[np.int64],
) -> Floats:
    """Return the lengths, (n,) float32, of n rows of `vectors` with half of their neighbours' mixed in."""
    import numpy as np

    lengths = np.empty(len(own_places), np.float32)
    # A few at a time stay in the processor's cache; all at once take three times as long.
    for start in range(0, len(own_places), _MIXED):
        batch = slice(start, start + _MIXED)
        mixed = vectors[before[batch]]
        mixed += vectors[after[batch]]
        mixed *= NEIGHBOUR_SHARE
        mixed += vectors[own_places[batch]]
        lengths[batch] = np.einsum("ij,ij->i", mixed, mixed)
    return np.sqrt(lengths)


class _Scores:
    """One retriever's scores by sequence number."""

    def __init__(self, matches: Sequence[Candidate]) -> None:
        import numpy as np

        seqs = np.array([candidate.seq for candidate in matches], np.int64)
        order = np.argsort(seqs, kind="stable")
        self._seqs = seqs[order]
        self._scores = np.array([candidate.score for candidate in matches], np.float32)[order]

    def of(self, seqs: NDArray[np.int64], otherwise: float = 0.0) -> Any:
        """Return the scores of these, `otherwise` where there is none."""
        import numpy as np

        if not len(self._seqs):
            return np.full(len(seqs), otherwise, np.float32)
        places = np.minimum(np.searchsorted(self._seqs, seqs), len(self._seqs) - 1)
        return np.where(self._seqs[places] == seqs, self._scores[places], np.float32(otherwise))
