"""Fusion: one order from the retrievers' scores.

Source: min-max normalised, weighted linear combination of scores (Lee, SIGIR 1997; Bruch et al., "An
Analysis of Fusion Functions for Hybrid Retrieval", TOIS 2023), which beats reciprocal rank fusion
where the scores themselves mean something.
"""

from __future__ import annotations

from collections.abc import Sequence

from vector_memory.retrieve.candidates import Found

WEIGHTS = {"lexical": 0.55, "dense": 0.7}
"""How much each normalised feature weighs. One table, tuned on data."""


def fuse(found: Sequence[Found]) -> list[Found]:
    """Return the candidates, best first, with their normalised features and `fused` (0 to 1)."""
    normalise(found, "lexical", floor=0.0)
    normalise(found, "dense", floor=None)
    total = sum(WEIGHTS.values())
    for one in found:
        one.features["fused"] = (
            sum(weight * one.features[name] for name, weight in WEIGHTS.items()) / total
        )
    return sorted(found, key=lambda one: (-one.features["fused"], one.shelf, -one.seq))


def normalise(found: Sequence[Found], name: str, floor: float | None) -> None:
    """Set the feature to 0 … 1 between the lowest score (or `floor`) and the highest; 0 where the
    retriever did not propose the candidate."""
    scores = [score for one in found if (score := getattr(one, name)) is not None]
    low = floor if floor is not None else min(scores, default=0.0)
    span = max(scores, default=0.0) - low
    for one in found:
        score = getattr(one, name)
        if score is None:
            one.features[name] = 0.0
        else:
            one.features[name] = (score - low) / span if span > 0 else 1.0
