"""Stand-ins that keep everything in memory, held to the same contracts as the real ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from vector_memory.model import Candidate, IndexRow, Scope

if TYPE_CHECKING:
    from vector_memory.model import Vector

K1 = 1.2
B = 0.75


class FakeIndex:
    """A search index of plain dictionaries. Those opened with one name share what they hold."""

    _stores: ClassVar[dict[str, tuple[dict[str, IndexRow], list[int]]]] = {}

    def __init__(self, dim: int = 384) -> None:
        self._dim = dim
        self._rows: dict[str, IndexRow] = {}
        self._reached = [0]

    @classmethod
    def open(cls, name: str, dim: int = 384) -> FakeIndex:
        """Return the index of this name, with what an earlier one of that name was given."""
        index = cls(dim)
        index._rows, index._reached = cls._stores.setdefault(name, ({}, [0]))
        return index

    def reached(self) -> int:
        return self._reached[0]

    def apply(self, rows: Sequence[IndexRow], removed_ids: Sequence[str], reached: int) -> None:
        for one in removed_ids:
            self._rows.pop(one, None)
        self._rows.update({row.memory.id: row for row in rows})
        self._reached[0] = max(reached, self._reached[0])

    def begin_matching(
        self, terms: Sequence[str], scope: Scope, k: int
    ) -> Callable[[], list[Candidate]]:
        return lambda: self._matching(terms, scope, k)

    def _matching(self, terms: Sequence[str], scope: Scope, k: int) -> list[Candidate]:
        documents = [row.lexical.split() for row in self._rows.values()]
        mean = sum(map(len, documents)) / len(documents) if documents else 1.0
        found = []
        for row in self._scoped(scope):
            score = sum(_bm25(term, row.lexical.split(), documents, mean) for term in set(terms))
            if score > 0:
                found.append(Candidate(row.memory.seq, score))
        return _best(found, k)

    def nearest(
        self, vector: Vector, scope: Scope, k: int, allowed: NDArray[np.int64] | None = None
    ) -> list[Candidate]:
        if not self._usable(vector):
            return []
        found = [
            Candidate(row.memory.seq, float(row.vector @ vector))
            for row in self._scoped(Scope(projects=scope.projects))
            if row.vector is not None and self._usable(row.vector)
            if allowed is None or row.memory.seq in allowed
        ]
        return _best(found, k)

    def optimize(self) -> None:
        """There is nothing to do."""

    def close(self) -> None:
        """There is nothing to release."""

    def _usable(self, vector: Vector) -> bool:
        return bool(vector.shape == (self._dim,) and np.isfinite(vector).all() and vector.any())

    def _scoped(self, scope: Scope) -> list[IndexRow]:
        return [row for row in self._rows.values() if _within(row, scope)]


def _bm25(term: str, document: list[str], documents: list[list[str]], mean: float) -> float:
    """Return one term's weight in one document.

    Source: S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and
    Beyond", 2009.
    """
    often = document.count(term)
    if not often:
        return 0.0
    holding = sum(term in other for other in documents)
    rarity = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
    return rarity * often * (K1 + 1) / (often + K1 * (1 - B + B * len(document) / mean))


def _within(row: IndexRow, scope: Scope) -> bool:
    memory = row.memory
    return (
        (scope.projects is None or memory.project in scope.projects)
        and (not scope.kinds or memory.kind in scope.kinds)
        and (not scope.tags or bool(set(memory.tags) & set(scope.tags)))
        and (not scope.sessions or memory.source.session in scope.sessions)
        and (not scope.collections or memory.collection in scope.collections)
        and memory.collection not in scope.without
        and (scope.since is None or memory.created_at >= scope.since)
        and (scope.until is None or memory.created_at < scope.until)
    )


def _best(found: list[Candidate], k: int) -> list[Candidate]:
    return sorted(found, key=lambda one: (-one.score, -one.seq))[:k]
