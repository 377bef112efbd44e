"""A whole search: candidates, fusion, factors, duplicates, hits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from vector_memory import analysis
from vector_memory.model import Memory
from vector_memory.retrieve import factors, fusion, supersession
from vector_memory.retrieve.candidates import Found, Source, gather
from vector_memory.retrieve.query import Query

DEEPER = 4
"""How many times more memories than asked for are loaded and weighed by their factors."""
LEAST_LOADED = 24
OWN_PROJECT = 0.02
"""What a memory of the project that the question comes from gains over a global one."""


@dataclass(frozen=True)
class Hit:
    """A memory with its score (orders the hits of one question), its relevance (0 … 1, comparable
    between questions), and what both are made of."""

    memory: Memory
    score: float
    relevance: float
    breakdown: dict[str, float]
    shelf: int
    terms: frozenset[str]


def search(
    query: Query,
    shelves: Sequence[Source],
    k: int,
    now: datetime,
    candidates: int = 200,
    collapse: bool = True,
) -> list[Hit]:
    """Return at most k hits, best first.

    Args:
        shelves: the stores asked, the project's own first.
        candidates: how many each retriever of each store may propose.
        collapse: leave out what nearly repeats a better hit.
    """
    found = gather(query, shelves, candidates)
    fused = fusion.fuse(found)
    scales = fusion.scales_of(found)
    best = fused[: max(LEAST_LOADED, DEEPER * k)]
    weighed = [
        _weigh(one, memory, query, now)
        for one, memory in _load(best, shelves)
        if _current(memory, now)
    ]
    weighed.sort(key=lambda item: -item.score)
    if not collapse:
        return [_hit(item, query, scales) for item in weighed[:k]]
    # Analysing a text takes longer than all else here, so only what may be shown is analysed.
    return supersession.collapse((_hit(item, query, scales) for item in weighed), _terms, k)


def _load(found: Sequence[Found], shelves: Sequence[Source]) -> list[tuple[Found, Memory]]:
    loaded = [
        shelf.load([one.seq for one in found if one.shelf == place])
        for place, shelf in enumerate(shelves)
    ]
    return [(one, loaded[one.shelf][one.seq]) for one in found if one.seq in loaded[one.shelf]]


def _current(memory: Memory, now: datetime) -> bool:
    return (memory.expires_at is None or memory.expires_at > now) and (
        memory.valid_until is None or memory.valid_until > now
    )


@dataclass(frozen=True)
class _Weighed:
    found: Found
    memory: Memory
    score: float
    values: dict[str, float]


def _weigh(one: Found, memory: Memory, query: Query, now: datetime) -> _Weighed:
    values = factors.factors(memory, now)
    own = OWN_PROJECT if query.own_project and memory.project == query.own_project else 0.0
    score = one.fused * factors.multiplier(values) + own
    return _Weighed(one, memory, score, values)


def _hit(item: _Weighed, query: Query, scales: Sequence[fusion.Scale]) -> Hit:
    one, memory = item.found, item.memory
    terms = frozenset(analysis.analyse(memory.title + "\n" + memory.text))
    relevance = factors.relevance(one.dense, query.terms, terms)
    breakdown = {
        "similarity": one.fused,
        **fusion.features(one, scales),
        "cosine": one.dense or 0.0,
        "bm25": one.lexical or 0.0,
        "relevance": relevance,
        **item.values,
    }
    rounded = {name: round(float(value), 4) for name, value in breakdown.items()}
    return Hit(memory, float(item.score), float(relevance), rounded, one.shelf, terms)


def _terms(hit: Hit) -> frozenset[str]:
    return hit.terms
