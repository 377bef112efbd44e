"""A shelf: one store's journal with the index that follows it, as the use cases see them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from vector_memory.errors import StoreDamagedError
from vector_memory.model import Around, Candidate, Link, Memory, Scope, Status, Tier

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vector_memory.journal.journal import Journal
    from vector_memory.journal.repair.salvage import Salvaged
    from vector_memory.model import Vector, Vectors
    from vector_memory.store.columns import Columns
    from vector_memory.store.index import Index

log = logging.getLogger(__name__)
T = TypeVar("T")

MOST_SET_ASIDE = 3
LEAST_COUNTED = 20
MOST_SIZES = 1_000
MOST_NEWER = 400
"""Of what the index has not reached, so many vectors are read for one question."""
JUST_STORED = 64
"""How many memories that the index has not reached yet are looked at one by one: LanceDB takes seconds to come up, and
what was stored a moment ago is what is most likely asked for, or said again."""


class OpensIndex(Protocol):
    """How the daemon makes the index of a store folder for an embedding model."""

    def __call__(self, folder: str, model: str, dim: int) -> Index: ...


class Shelf:
    """One store. The journal answers by words from the first moment; the index joins when it is
    there, and whatever it has not reached yet still comes from the journal.

    Attributes:
        embedded_ahead: texts whose vectors are made, and which are just being put into the index.
        refused: the hashes of texts for which the model has no vector; `migrate` and the next daemon ask again.
        withheld: those of texts that no server is told.
    """

    def __init__(self, folder: str, journal: Journal) -> None:
        self.folder = folder
        self.journal = journal
        self.index: Index | None = None
        self.following = threading.Lock()
        self.storing = threading.Lock()
        self.recheck_vectors = True
        self.embedded_ahead = 0
        self.refused: set[bytes] = set()
        self.doubted: set[bytes] = set()
        self.withheld: set[bytes] = set()
        self.failed = ""
        self.times_damaged = 0
        self._sizes: dict[tuple[str, ...] | None, tuple[int, int]] = {}

    @property
    def unembedded(self) -> set[bytes]:
        """The hashes of texts that stay without a vector of the model."""
        return self.refused | self.withheld

    def attach(self, index: Index) -> None:
        """Put an index to work."""
        self.index = index
        self.recheck_vectors = True

    def matching(self, terms: Sequence[str], scope: Scope, k: int) -> list[Candidate]:
        """The k best by words, best first: from the index, and from the journal what it lacks.

        Returns:
            At most k candidates, each with its score by words (BM25).
        """
        return self.begin_matching(terms, scope, k)()

    def begin_matching(
        self, terms: Sequence[str], scope: Scope, k: int
    ) -> Callable[[], list[Candidate]]:
        """Begin what `matching` does, and return what waits for it."""
        index = self.index
        if index is None or not index.lexical_ready:
            # At once: the question's vector is being made meanwhile.
            candidates = self.journal.matching(terms, scope, k)
            return lambda: candidates
        reached = index.reached()
        try:
            search = index.begin_matching(terms, scope, k)
        except StoreDamagedError as error:
            self.damaged(error)
            return lambda: self.journal.matching(terms, scope, k)

        def best_of_both() -> list[Candidate]:
            try:
                best = search()
            except StoreDamagedError as error:
                self.damaged(error)
                return self.journal.matching(terms, scope, k)
            if self.journal.last_seq() > reached:
                best = merge_best(best, self.journal.matching(terms, scope, k, reached), k)
            return best

        return best_of_both

    def nearest(self, vector: Vector, scope: Scope, k: int, copies: int = 1) -> list[Candidate]:
        """The k nearest vectors, best first, with more than one of `copies` only the newest of equal ones; none while
        there is no index.

        Returns:
            At most k candidates, each with its cosine.
        """
        index = self.index
        if index is None or not index.vectors_ready:
            return []
        newer, allowed = self._unindexed_candidates(index, vector, scope), None
        if not scope.only_projects:
            import numpy as np

            # What limits it may stand in the journal alone.
            allowed = index.within(scope)
            if allowed is None:
                allowed = np.array(self.journal.seqs(scope), np.int64)
        return merge_best(index.nearest(vector, scope, k, allowed, copies), newer, k)

    def just_stored(self, reached: int) -> dict[int, Memory]:
        """Return the newest active memories behind a sequence number, so many at most, by their own."""
        last = self.journal.last_seq()
        if last <= reached:
            return {}
        return self.journal.by_seqs(range(max(reached, last - JUST_STORED) + 1, last + 1))

    def _unindexed_candidates(self, index: Index, vector: Vector, scope: Scope) -> list[Candidate]:
        """The newest memories that the index has no vectors of yet, with their cosines, in no order."""
        newest = self.just_stored(max(index.reached(), index.matrix_reached()))
        seqs = [seq for seq, memory in newest.items() if scope.holds(memory)]
        stored = self.journal.vectors_of(seqs, index.model) if seqs else None
        if stored is None:
            return []
        return [
            Candidate(int(seq), float(cosine))
            for seq, cosine in zip(stored[0], stored[1] @ vector, strict=True)
        ]

    def around(self, seqs: Sequence[int], spread: Sequence[int]) -> Around | None:
        """What stands around memories, and the neighbours of `spread`; None without columns.

        Returns:
            The columns' rows of `seqs`, in their order, and the neighbours' rows.
        """
        columns = self._columns
        return columns.around(seqs, spread) if columns is not None else None

    def vectors(self, seqs: NDArray[np.int64]) -> Vectors | None:
        """The vectors of memories, zeros where there is none; None where none are at hand. What the index
        has not reached yet comes from the journal: without its vector what was stored a moment ago would
        stand behind what is less near.

        Returns:
            One row of float32 for each of `seqs`, in their order, of length 1.
        """
        index = self.index
        vectors = index.vectors(seqs) if index is not None else None
        if index is None or vectors is None:
            return vectors
        newer = (seqs > index.reached()).nonzero()[0][-MOST_NEWER:]
        if len(newer) and (newest := self.journal.vectors_of(seqs[newer].tolist(), index.model)):
            vectors[seqs.searchsorted(newest[0])] = newest[1]
        return vectors

    def codes(self, column: str, words: Iterable[str]) -> list[int]:
        """The numbers that stand for words in `around`; unknown words have none.

        Returns:
            The numbers, without those of unknown words.
        """
        columns = self._columns
        return columns.codes(column, words) if columns is not None else []

    def speakers(self, words: Iterable[str]) -> list[str]:
        """The speakers whose name, or its first word, is among these lower-case words.

        Returns:
            Their names as they are stored.
        """
        columns = self._columns
        return columns.speakers(words) if columns is not None else []

    def between(self, scope: Scope, start: float, end: float, k: int) -> list[int]:
        """The k newest memories of a time, in days since 1970.

        Returns:
            Their numbers in the store, the newest first.
        """
        columns = self._columns
        return columns.between(scope, start, end, k) if columns is not None else []

    def latest_sessions(self, scope: Scope, count: int, but: str) -> list[tuple[float, float]]:
        """When the last sessions began and ended, in days since 1970, the newest first.

        Returns:
            At most `count` pairs of begin and end.
        """
        columns = self._columns
        # The first question comes before there are columns, and after a pause more often than not.
        source = self.journal if columns is None else columns
        return source.latest_sessions(scope, count, but)

    def load(self, seqs: Sequence[int]) -> dict[int, Memory]:
        """Return the memories of these sequence numbers; stale ones are simply missing, and a
        superseded one gives way to its successor."""
        memories = self.journal.by_seqs(seqs, (Status.ACTIVE, Status.SUPERSEDED))
        superseded = [memory for memory in memories.values() if memory.status is Status.SUPERSEDED]
        if not superseded:
            return memories
        successors = self.journal.successors(superseded)
        return {
            seq: successors.get(memory.id, memory)
            for seq, memory in memories.items()
            if memory.status is Status.ACTIVE or memory.id in successors
        }

    def linked(self, ids: Sequence[str], cold: bool = False) -> list[tuple[Link, Memory | None]]:
        """Return the links from and to these memories, each with the active one at its other end, without cold
        ones unless these are wanted; None where that is one of them."""
        links = self.journal.links_of(ids)
        asked_ids = set(ids)
        ends = {end for link in links for end in (link.from_id, link.to_id)} - asked_ids
        memories_at_ends = self.journal.by_ids(list(ends)) if ends else {}
        linked: list[tuple[Link, Memory | None]] = []
        for link in links:
            other_ends = [end for end in (link.from_id, link.to_id) if end not in asked_ids]
            if not other_ends:
                linked.append((link, None))
            linked += [
                (link, memories_at_ends[end])
                for end in other_ends
                if end in memories_at_ends
                and memories_at_ends[end].status is Status.ACTIVE
                and (cold or memories_at_ends[end].tier is not Tier.COLD)
            ]
        return linked

    @property
    def _columns(self) -> Columns | None:
        return self.index.columns if self.index is not None else None

    def damaged(self, error: StoreDamagedError) -> None:
        """Set a damaged index aside; it is made anew from the journal, which answers meanwhile.

        A few times only: what breaks again at once is not helped by yet another copy.
        """
        if self.index is not None and self.index.is_renewing:
            log.info("a search met files that were just replaced: %s", error)
            return
        self.failed = str(error)
        log.error("the index of %s is damaged: %s", self.folder, error)
        if self.index is not None and self.times_damaged < MOST_SET_ASIDE:
            self.times_damaged += 1
            self.index.set_aside(error.message)
            self.recheck_vectors = True

    def size(self, scope: Scope) -> int:
        """About how many active memories of these projects there are: counted anew when a tenth more
        has been written."""
        key, last = scope.projects, self.journal.last_seq()
        counted_at, count = self._sizes.get(key, (-1, 0))
        if counted_at < 0 or last > counted_at + count // 10 + LEAST_COUNTED:
            if len(self._sizes) > MOST_SIZES:
                self._sizes.clear()
            count = self.journal.count(Scope(projects=scope.projects))
            self._sizes[key] = (last, count)
        return count

    def mend_journal(self, problems: list[str]) -> Salvaged | None:
        """Save what can be read of a damaged journal into a new one, and make its index anew; None
        where nothing can be done.

        Raises:
            StoreFullError: it cannot be written; everything stays as it was.
        """
        with self.following:
            salvaged = self.journal.mend_problems(problems)
            if salvaged is not None and salvaged.aside and self.index is not None:
                self.index.rebuild()
            self.recheck_vectors = True
        return salvaged

    def mend_index(self, problems: Sequence[str]) -> None:
        """Set damaged parts of the index aside; they are made anew from the journal.

        Raises:
            StoreFullError: the folder cannot be written.
        """
        if self.index is not None:
            with self.following:
                self.index.mend(problems)
                self.recheck_vectors = True

    def close(self, save: bool = True) -> None:
        """Release the index and the journal; `save` what only the memory holds of the index."""
        if self.index is not None:
            self.index.close(save)
        self.journal.close()


class ProjectNames(dict[str, str]):
    """The projects' names by their ids; of one without a name what its id says of it, "" for the global one."""

    def __missing__(self, project: str) -> str:
        return project.rpartition("-")[0] or project


def each_of(shelves: Iterable[Shelf], ask: Callable[[Journal], Iterable[T]]) -> list[T]:
    """Return what the stores' journals answer, store by store."""
    return [item for shelf in shelves for item in ask(shelf.journal)]


def newest_of(shelves: Iterable[Shelf], ask: Callable[[Journal], Iterable[Memory]]) -> list[Memory]:
    """Return the memories that the stores' journals answer, of all together the newest first."""
    return sorted(each_of(shelves, ask), key=lambda memory: memory.created_at, reverse=True)


def by_ids(shelves: Iterable[Shelf], ids: Collection[str]) -> dict[str, Memory]:
    """Return the memories of some ids that stand in these stores, by their ids."""
    return dict(each_of(shelves, lambda journal: journal.by_ids(list(ids)).items()))


def project_names(shelves: Sequence[Shelf]) -> ProjectNames:
    """Return the names of the projects that these stores know."""
    return ProjectNames(
        (project.id, project.name)
        for shelf in shelves
        for project in shelf.journal.projects()
        if project.name
    )


def project_roots(shelves: Sequence[Shelf]) -> dict[str, str]:
    """Return the folders of the projects that these stores know, by their ids; "" for one without."""
    return {project.id: project.root for shelf in shelves for project in shelf.journal.projects()}


def merge_best(first: list[Candidate], other: list[Candidate], k: int) -> list[Candidate]:
    """Return the k best of two lists of candidates, each sequence number once, best first.

    Args:
        first: the best first, each number once.
    """
    if not other:
        return first[:k]
    best: dict[int, float] = {}
    for seq, score in (*first, *other):
        if score > best.get(seq, float("-inf")):
            best[seq] = score
    ranked = sorted(best.items(), key=lambda item: (-item[1], -item[0]))
    return [Candidate(seq, score) for seq, score in ranked[:k]]
