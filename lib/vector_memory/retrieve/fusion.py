"""Fusion: one order from the retrievers' scores.

Source: min-max normalised, weighted linear combination of scores (Lee, SIGIR 1997; Bruch et al., "An
Analysis of Fusion Functions for Hybrid Retrieval", TOIS 2023), which beats reciprocal rank fusion
where the scores themselves mean something.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vector_memory.retrieve.candidates import Found

WEIGHTS = {"lexical": 0.55, "dense": 0.7}
"""How much each normalised feature weighs. One table, tuned on data."""
FLOORS = {"lexical": 0.0}
"""Where a feature's scale starts; without one it starts at the lowest score found."""


class Scale(NamedTuple):
    """How one feature's scores map to 0 … 1."""

    name: str
    weight: float
    low: float
    span: float

    def normalise(self, score: float | None) -> float:
        """Return 0 … 1; 0 where the retriever did not propose the candidate."""
        if score is None:
            return 0.0
        return (score - self.low) / self.span if self.span > 0 else 1.0


def fuse(found: Sequence[Found]) -> list[Found]:
    """Return the candidates, best first, with their `fused` score (0 to 1) set."""
    scales = scales_of(found)
    total = sum(WEIGHTS.values())
    for one in found:
        one.fused = (
            sum(scale.weight * scale.normalise(getattr(one, scale.name)) for scale in scales)
            / total
        )
    return sorted(found, key=lambda one: (-one.fused, one.shelf, -one.seq))


def scales_of(found: Sequence[Found]) -> list[Scale]:
    """Return each feature's scale among these candidates."""
    scales = []
    for name, weight in WEIGHTS.items():
        scores = [score for one in found if (score := getattr(one, name)) is not None]
        low = FLOORS.get(name, min(scores, default=0.0))
        scales.append(Scale(name, weight, low, max(scores, default=0.0) - low))
    return scales


def features(one: Found, scales: Sequence[Scale]) -> dict[str, float]:
    """Return a candidate's normalised features by their names."""
    return {scale.name: scale.normalise(getattr(one, scale.name)) for scale in scales}
