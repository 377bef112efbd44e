"""Whether a hit is worth telling unasked: how likely it would have helped, or is at least on topic.

Two logistic models over the same features, fitted by `benchmarks/gate.py` on prompts whose hits were labelled by
reading, one project left out at a time. What counts is how a project lives: in the midst of work what happened a
few minutes ago, or in the session before, helps, and what was found by its words and meaning alone seldom does.
Who comes back after weeks has nothing fresh, so there age counts from where the work stopped, and what is surely
of the same thing helps.

Source: D. R. Cox, "The regression analysis of binary sequences", 1958 (the logistic model).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from vector_memory.retrieve.query import DAY_S
from vector_memory.retrieve.search import Hit

FRESH_S = 600.0
"""What is not older comes from work that still goes on."""
OLD_S = 7 * DAY_S
"""From here on age says no more: what still fits after a week fits as well after a year."""
AWAKE_S, ASLEEP_S = DAY_S, 4 * DAY_S
"""For how long a project lay that somebody is still at work on, and one that somebody comes back to: longer than a
weekend."""
LONGEST_REST_S = 56 * DAY_S
"""Longer rests were not labelled: they count as this one."""
WHOLE_TERMS = 30
"""Distinct terms from which a text says as much as a longer one."""

HELPS: Mapping[str, float] = {
    "back": -0.399, "rest": -0.154, "fresh": 1.256, "before": 0.225, "first": 0.501, "cosine": 2.148,
    "words": 1.088, "whole": 1.178, "sure_rested": 3.273, "bias": -4.05,
}  # fmt: skip
ON_TOPIC: Mapping[str, float] = {
    "back": -0.41, "rest": -0.225, "fresh": 1.109, "before": 0.386, "first": 0.161, "cosine": 4.954,
    "words": 0.448, "whole": 1.934, "sure_rested": 4.568, "bias": -3.153,
}  # fmt: skip
"""The weights of both models by feature, and what they begin with, `bias`."""


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


def worth(known: Mapping[str, float]) -> float:
    """Return how much a hit of these features is worth to a prompt: 0 … 1, the mean of the probabilities that it
    helps and that it is on topic."""
    return 0.5 * (_probability(HELPS, known) + _probability(ON_TOPIC, known))


def features(hit: Hit, moment: Moment) -> dict[str, float]:
    """Return what is known of a hit, by the names of the weights: see `feature_values`."""
    days = hit.memory.created_at.timestamp() / DAY_S
    return feature_values(days, moment, hit.breakdown, hit.relevance, len(hit.terms))


def feature_values(
    days: float, moment: Moment, parts: Mapping[str, float], relevance: float, terms: int
) -> dict[str, float]:
    """Return the features of a hit.

    Args:
        days: when it was stored, since 1970.
        parts: the cosine of the prompt and the hit, and `words`, the share of the prompt's words in it, as the
            search weighed them.
        relevance: how likely it answers the prompt, 0 … 1.
        terms: how many distinct ones it has.

    Returns:
        `back`, how long before the end of the session before it was, and `rest`, how long the project lay since
        then, as logarithms of seconds; `sure_rested`, its relevance as far as the project lay (0 up to a day, 1
        from four days on); the others as they are, 0 … 1.
    """
    now, before = moment.now.timestamp(), moment.before
    # A clock may have been put back: nothing is newer than now, and no session ends later.
    age, rest = max(0.0, now - days * DAY_S), max(0.0, now - before[1] * DAY_S if before else 0.0)
    lay = math.log(min(max(rest, AWAKE_S), ASLEEP_S) / AWAKE_S) / math.log(ASLEEP_S / AWAKE_S)
    return {
        "back": math.log10(min(max(0.0, age - rest), OLD_S) + 60.0),
        "rest": math.log10(min(rest, LONGEST_REST_S) + 60.0),
        "fresh": float(age < FRESH_S),
        "before": float(before is not None and before[0] <= days <= before[1]),
        "first": float(moment.first),
        "cosine": parts["cosine"],
        "words": parts["words"],
        "whole": min(1.0, terms / WHOLE_TERMS),
        "sure_rested": relevance * lay,
    }


def _probability(weights: Mapping[str, float], known: Mapping[str, float]) -> float:
    odds = sum(weight * known.get(name, 1.0) for name, weight in weights.items())
    return 1.0 / (1.0 + math.exp(-odds))
