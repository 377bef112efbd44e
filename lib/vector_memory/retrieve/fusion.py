"""Fusion: one order from what the retrievers say and from what stands around each candidate.

Source: min-max normalised, weighted linear combination of scores (Lee, SIGIR 1997; Bruch et al., "An
Analysis of Fusion Functions for Hybrid Retrieval", TOIS 2023), which beats reciprocal rank fusion
where the scores themselves mean something.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vector_memory.model import Mark
from vector_memory.retrieve.candidates import CandidateSource, Pool
from vector_memory.retrieve.query import Query

Floats = NDArray[np.float64]

WEIGHTS = {
    "own": 0.4,
    "before": 0.27,
    "before2": 0.13,
    "after": 0.1,
    "dense": 0.4,
    "pooled": 0.3,
    "speaker": 0.4,
    "date": 0.4,
    "size": 0.3,
    "question": -0.1,
    "when": 0.2,
    "kind": 0.15,
    "role": 0.2,
    "exact": 0.8,
    "support": 0.2,
}
"""How much each normalised feature weighs. One table, tuned by `benchmarks/ablation.py`."""

ALWAYS = ("own", "before", "before2", "after", "dense", "pooled", "size")
"""What any question has; the other features count where a question asks for them."""
FULL_SIZE = 30
"""Distinct terms from which a memory is as telling as any longer one."""
LEANING_SIZE = 30
"""Distinct terms up to which a memory leans on its neighbours in full."""
DAYS_AFTER, DAYS_BEFORE = 10.0, 2.0
"""How far from a time that is asked about a memory may be and still fit in part (a factor of e):
things are told after they happened, sometimes shortly before."""
SUPPORTERS = 3


@dataclass(frozen=True)
class Features:
    """What is known of all candidates, in no order: arrays of n elements.

    `values` holds each feature but `support`, 0 … 1; `session` a number for a candidate's
    conversation, one of its own for what has none.
    """

    shelf: NDArray[np.int32]
    seqs: NDArray[np.int64]
    session: NDArray[np.int64]
    values: dict[str, Floats]
    lexical: Floats
    dense: Floats


@dataclass(frozen=True)
class Fused:
    """All candidates in no order: arrays of n elements. `parts` holds what each feature adds to the
    score, which is 0 … 1."""

    features: Features
    score: Floats
    parts: dict[str, Floats]

    def best(self, n: int) -> list[int]:
        """Return the places of the n best, best first, the newest of equals first."""
        # The shelf between score and number: numbers of two stores say nothing about each other.
        order = np.lexsort((-self.features.seqs, self.features.shelf, -self.score))
        return [int(place) for place in order[:n]]


def fuse(query: Query, pools: Sequence[Pool], shelves: Sequence[CandidateSource]) -> Fused:
    """Weigh all candidates of all shelves together.

    Returns:
        n candidates in no order, with scores up to 1 that compare within this question alone.
    """
    return weigh(features_of(query, pools, shelves), scale_of(query))


def features_of(
    query: Query, pools: Sequence[Pool], shelves: Sequence[CandidateSource]
) -> Features:
    """Return the features of all candidates of all shelves, normalised together.

    Args:
        query: what is asked for decides which features are not zero.
        pools: the candidates of each shelf.
        shelves: all shelves; a pool names its own by its place.

    Returns:
        (n,) arrays in the order of the pools. `values` has every name of `WEIGHTS` but `support`;
        `lexical` and `dense` are BM25 and cosine as the retrievers gave them, for explanations.

    Source: J. H. Lee, SIGIR 1997 (min-max normalisation of each retriever's scores).
    """

    def joined(name: str) -> Any:
        return np.concatenate([getattr(pool, name) for pool in pools] or [np.empty(0)])

    lexical, dense = joined("lexical"), joined("dense")
    # By the best match, not between lowest and highest: the worst match is still one.
    most = float(lexical.max(initial=0.0)) or 1.0
    values: dict[str, Any] = {
        "own": lexical / most,
        "before": joined("before") / most,
        "before2": joined("before2") / most,
        "after": joined("after") / most,
        "dense": _min_max(dense),
        "pooled": _min_max(joined("pooled")),
    }
    exact = joined("exact")
    values["exact"] = exact / (float(exact.max(initial=0.0)) or 1.0)
    lean = np.concatenate([_lean(pool) for pool in pools] or [np.empty(0)])
    # What stands beside a passage says little of it; a short turn is hardly understood without.
    for name in ("before", "before2", "after"):
        values[name] *= lean
    asides = [asides_of(query, pool, shelves[pool.shelf]) for pool in pools]
    for name in asides[0] if asides else ():
        values[name] = np.concatenate([aside[name] for aside in asides])
    places = [np.full(len(pool.seqs), pool.shelf, np.int32) for pool in pools]
    return Features(
        np.concatenate(places or [np.empty(0, np.int32)]),
        joined("seqs").astype(np.int64),
        _sessions(pools),
        values,
        lexical,
        dense,
    )


def weigh(features: Features, scale: float, weights: Mapping[str, float] = WEIGHTS) -> Fused:
    """Return the weighted sum of the features.

    Args:
        features: of n candidates.
        scale: what the sum is divided by, so that a memory that fits in every way gets 1.
        weights: by the features' names.

    Returns:
        (n,) scores, and for each feature what it added to them, (n,) too.

    Source: Bruch et al., TOIS 2023 (a linear combination of normalised scores).
    """
    parts = {name: weights[name] / scale * values for name, values in features.values.items()}
    score = np.sum(list(parts.values()), axis=0) if parts else np.empty(0)
    # Added last, since it is made of the scores themselves.
    parts["support"] = weights["support"] * _support(score, features.session)
    return Fused(features, score + parts["support"], parts)


def asides_of(query: Query, pool: Pool, shelf: CandidateSource) -> dict[str, Floats]:
    """Return the features that do not come from the retrievers: who said it, when, what sort of text
    it is.

    Returns:
        `speaker`, `date`, `size`, `question`, `when`, `kind` and `role`, each (n,) float64 in the
        pool's order, 0 … 1; all zeros while the columns are not loaded.
    """
    nothing = np.zeros(len(pool.seqs))
    around = pool.around
    if around is None:
        names = ("speaker", "date", "size", "question", "when", "kind", "role")
        return dict.fromkeys(names, nothing)
    question = (around.marks & Mark.QUESTION) != 0
    timed = (around.marks & Mark.TIME) != 0
    return {
        "speaker": _is_among(around.speaker, shelf.codes("speaker", query.speakers)),
        "date": _time_fit(around.days, query.spans),
        "size": np.minimum(1.0, np.log1p(around.size) / np.log1p(FULL_SIZE)),
        # A question answers no question, unless questions are what is asked for.
        "question": nothing if "question" in query.kinds else question.astype(np.float64),
        "when": timed.astype(np.float64) if query.asks_when else nothing,
        "kind": _is_among(around.kind, shelf.codes("kind", query.kinds)),
        "role": _is_among(around.speaker, shelf.codes("speaker", (query.role,))),
    }


def _lean(pool: Pool) -> Floats:
    """Return how much each memory needs its neighbours to be understood: a short turn wholly, a
    passage that says everything itself hardly."""
    if pool.around is None:
        return np.zeros(len(pool.seqs))
    return np.asarray(np.minimum(1.0, LEANING_SIZE / np.maximum(1, pool.around.size)))


def scale_of(query: Query) -> float:
    """Return the score, above 0, of a memory that fits in every way that a question asks for."""
    # Only what is asked for: else a plain question could never reach a full score.
    names = [
        *ALWAYS,
        *(["speaker"] if query.speakers else []),
        *(["date"] if query.spans else []),
        *(["when"] if query.asks_when else []),
        *(["kind"] if query.kinds else []),
        *(["role"] if query.role else []),
        *(["exact"] if query.exact else []),
    ]
    return (1 + WEIGHTS["support"]) * sum(WEIGHTS[name] for name in names)


def _is_among(codes: NDArray[np.int32], wanted: Sequence[int]) -> Floats:
    if not wanted:
        return np.zeros(len(codes))
    return np.isin(codes, wanted).astype(np.float64)


def _time_fit(days: NDArray[np.float64], spans: Sequence[tuple[float, float]]) -> Floats:
    """Return how well times fit the spans asked about: 1 within one, less with every day outside."""
    fit = np.zeros(len(days))
    for start, end in spans:
        late = np.maximum(0.0, days - end) / DAYS_AFTER
        early = np.maximum(0.0, start - days) / DAYS_BEFORE
        fit = np.maximum(fit, np.exp(-late - early))
    return fit


def _min_max(scores: Any) -> Any:
    """Return scores as 0 … 1 between the lowest and the highest; 0 for NaN."""
    has_score = ~np.isnan(scores)
    if not has_score.any():
        return np.zeros(len(scores))
    low, high = scores[has_score].min(), scores[has_score].max()
    span = high - low if high > low else 1.0
    return np.where(has_score, (scores - low) / span if high > low else 1.0, 0.0)


def _sessions(pools: Sequence[Pool]) -> NDArray[np.int64]:
    """Return a number for each candidate's conversation, one of its own for what has none."""
    numbers: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    next_number = 0
    for pool in pools:
        # Negative and each once, so that it never meets a session's number.
        own_numbers = -1 - np.arange(next_number, next_number + len(pool.seqs), dtype=np.int64)
        next_number += len(pool.seqs)
        if pool.around is None:
            numbers.append(own_numbers)
            continue
        session = pool.around.session.astype(np.int64)
        # The shelf in the low bits: two stores give the same numbers to other sessions.
        numbers.append(np.where(session >= 0, (session << 8) + pool.shelf, own_numbers))
    return np.concatenate(numbers)


def _support(score: Floats, sessions: NDArray[np.int64]) -> Floats:
    """Return for each candidate the mean score of the three best of its conversation."""
    if not len(score):
        return score
    order = np.lexsort((-score, sessions))
    ordered, ranked = sessions[order], score[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    lengths = np.diff(np.r_[starts, len(ordered)])
    # Differences of running sums: no loop over conversations.
    sums = np.r_[0.0, np.cumsum(ranked)]
    counted = np.minimum(lengths, SUPPORTERS)
    means = (sums[starts + counted] - sums[starts]) / counted
    support = np.empty(len(score))
    support[order] = np.repeat(means, lengths)
    return support
