"""Candidates: what each retriever of each shelf proposes, before anything is weighed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Protocol

from vector_memory.model import Candidate, Memory, Scope
from vector_memory.retrieve.query import Query

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from vector_memory.model import Vector

THREADS = 4


class Source(Protocol):
    """A shelf as recall needs it."""

    def matching(self, terms: Sequence[str], scope: Scope, k: int) -> list[Candidate]: ...

    def nearest(self, vector: Vector, scope: Scope, k: int) -> list[Candidate]: ...

    def load(self, seqs: Sequence[int]) -> dict[int, Memory]: ...


@dataclass
class Found:
    """What is known of one candidate: the raw score of each retriever that proposed it."""

    shelf: int
    seq: int
    lexical: float | None = None
    dense: float | None = None
    features: dict[str, float] = field(default_factory=dict)


def gather(query: Query, shelves: Sequence[Source], k: int) -> list[Found]:
    """Return the candidates of all shelves: k by words and k by meaning from each.

    The words are searched while the question is embedded: both take milliseconds, and both leave
    the interpreter's lock for most of them.
    """
    words = [_in_background(partial(_by_words, shelf, query, k)) for shelf in shelves]
    vector = query.embed()
    found: dict[tuple[int, int], Found] = {}
    if vector is not None:
        for place, shelf in enumerate(shelves):
            for seq, score in shelf.nearest(vector, query.scope, k):
                found[place, seq] = Found(place, seq, dense=score)
    for place, waiting in enumerate(words):
        for seq, score in waiting.result():
            found.setdefault((place, seq), Found(place, seq)).lexical = score
    return list(found.values())


def _by_words(shelf: Source, query: Query, k: int) -> list[Candidate]:
    return shelf.matching(query.terms, query.scope, k) if query.terms else []


def _in_background(work: Callable[[], list[Candidate]]) -> Future[list[Candidate]]:
    return _pool().submit(work)


@cache
def _pool() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(THREADS, "candidates")
