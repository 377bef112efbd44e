"""Whether a hit is worth telling unasked: how likely it would have helped, or is at least on topic.

Two logistic models over seven features each, fitted by `benchmarks/gate.py` on prompts of real sessions whose
hits were labelled by reading, one project left out at a time. What was found by its words and its meaning alone
helps seldom: what happened a few minutes ago, or in the session before, does.

Source: D. R. Cox, "The regression analysis of binary sequences", 1958 (the logistic model).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from vector_memory.retrieve.search import Hit

FRESH_S = 600.0
"""What is not older comes from work that still goes on."""
OLD_S = 7 * 86_400.0
"""From here on age says no more: what still fits after a week fits as well after a year."""
WHOLE_TERMS = 30
"""Distinct terms from which a text says as much as a longer one."""

HELPS: Mapping[str, float] = {
    "age": -0.661, "fresh": 1.007, "before": 0.314, "first": 0.801, "cosine": 2.174, "words": 0.833,
    "whole": 0.099, "bias": -1.942,
}  # fmt: skip
ON_TOPIC: Mapping[str, float] = {
    "age": -0.532, "fresh": 1.166, "before": 0.655, "first": 0.497, "cosine": 4.302, "words": 0.102,
    "whole": 0.384, "bias": -1.266,
}  # fmt: skip
"""The weights of both models by feature, and what they begin with, `bias`."""
SPEAK_ABOVE = 0.1
"""By how much the best hit has to pass the threshold before anything is said: what is said beside it costs
the reader little more, a block of its own does."""


@dataclass(frozen=True)
class Moment:
    """When a prompt is said.

    Attributes:
        first: whether it is its session's first.
        before: when the session before it was, in days since 1970, from and to; None for none.
    """

    now: datetime
    first: bool
    before: tuple[float, float] | None = None


def worth(values: Mapping[str, float]) -> float:
    """Return how much a hit of these features is worth to a prompt: 0 … 1, the mean of the probabilities that it
    helps and that it is on topic."""
    return 0.5 * (_probability(HELPS, values) + _probability(ON_TOPIC, values))


def features(hit: Hit, moment: Moment) -> dict[str, float]:
    """Return what is known of a hit: `age` as the logarithm of its seconds, `cosine` and `words` as the
    search weighed them, the others 0 … 1."""
    memory, parts = hit.memory, hit.breakdown
    # A clock may have been put back: nothing is newer than now.
    age = max(0.0, (moment.now - memory.created_at).total_seconds())
    days = memory.created_at.timestamp() / 86_400
    before = moment.before
    return {
        "age": math.log10(min(age, OLD_S) + 60.0),
        "fresh": float(age < FRESH_S),
        "before": float(before is not None and before[0] <= days <= before[1]),
        "first": float(moment.first),
        "cosine": parts["cosine"],
        "words": parts["words"],
        "whole": min(1.0, len(hit.terms) / WHOLE_TERMS),
    }


def _probability(weights: Mapping[str, float], values: Mapping[str, float]) -> float:
    odds = weights["bias"] + sum(weights[name] * value for name, value in values.items())
    return 1.0 / (1.0 + math.exp(-odds))
