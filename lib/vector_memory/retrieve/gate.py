"""Whether a hit is worth telling unasked: how likely it would have helped, or is at least on topic.

Two logistic models over the same features, fitted by `benchmarks/gate.py` on prompts whose hits were labelled by
reading, one project left out at a time: prompts of real sessions, and such as were typed for projects that somebody
invented. What was said a few minutes ago helps whatever it says; of what is older meaning and words decide, and
whether a later session spoke of the same thing: then it says how things were.

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
SITTING_S, APART_S = 3 * 3_600.0, DAY_S
"""For how long a project lay that somebody is still at work on, and one that somebody comes back to: a night and
more."""
LONGEST_REST_S = 56 * DAY_S
"""Longer rests were not labelled: they count as this one."""
UNLIKE = 0.35
"""Up to this cosine what was said later is of something else."""

HELPS: Mapping[str, float] = {
    "back": 0.396, "rest": 0.471, "apart": -0.785, "fresh": 2.558, "before": 0.403, "first": 0.356,
    "cosine": 2.966, "words": 2.042, "newer": -3.797, "bias": -7.658,
}  # fmt: skip
ON_TOPIC: Mapping[str, float] = {
    "back": -0.01, "rest": 0.37, "apart": -0.801, "fresh": 1.889, "before": 0.522, "first": 0.363,
    "cosine": 4.704, "words": 1.602, "newer": -2.775, "bias": -4.663,
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

    @property
    def rest(self) -> float:
        """For how many seconds the project lay since the session before ended; 0 where there was none."""
        # No session ends later than now: a clock may have been put back.
        return max(0.0, self.now.timestamp() - self.before[1] * DAY_S) if self.before else 0.0

    @property
    def apart(self) -> float:
        """How far what is done now is a new sitting: 0 while somebody goes on with the work, 1 after a day."""
        rest = min(max(self.rest, SITTING_S), APART_S)
        return math.log(rest / SITTING_S) / math.log(APART_S / SITTING_S)


def worth(values: Mapping[str, float]) -> float:
    """Return how much a hit of these features is worth to a prompt: 0 … 1, the mean of the probabilities that it
    helps and that it is on topic."""
    return 0.5 * (_probability(HELPS, values) + _probability(ON_TOPIC, values))


def features(hit: Hit, moment: Moment) -> dict[str, float]:
    """Return what is known of a hit, by the names of the weights: see `feature_values`."""
    days = hit.memory.created_at.timestamp() / DAY_S
    newer = hit.newer.likeness if hit.newer else 0.0
    return feature_values(days, moment, hit.breakdown, newer)


def feature_values(
    days: float, moment: Moment, parts: Mapping[str, float], newer: float = 0.0
) -> dict[str, float]:
    """Return the features of a hit.

    Args:
        days: when it was stored, since 1970.
        parts: the cosine of the prompt and the hit, and `words`, the share of the prompt's words in it, as the
            search weighed them.
        newer: the cosine of what a later session said that is most like it, 0 for nothing.

    Returns:
        `back`, how long before the end of the session before it was, and `rest`, how long the project lay since
        then, as logarithms of seconds; `apart`, how far that is a new sitting; `newer`, how much more like it than
        other things is what a later session said; the others as they are, 0 … 1.
    """
    # A clock may have been put back: nothing is newer than now.
    age, rest = max(0.0, moment.now.timestamp() - days * DAY_S), moment.rest
    before = moment.before
    return {
        "back": math.log10(min(max(0.0, age - rest), OLD_S) + 60.0),
        "rest": math.log10(min(rest, LONGEST_REST_S) + 60.0),
        "apart": moment.apart,
        "fresh": float(age < FRESH_S),
        "before": float(before is not None and before[0] <= days <= before[1]),
        "first": float(moment.first),
        "cosine": parts["cosine"],
        "words": parts["words"],
        "newer": max(0.0, newer - UNLIKE),
    }


def _probability(weights: Mapping[str, float], values: Mapping[str, float]) -> float:
    odds = sum(weight * values.get(name, 1.0) for name, weight in weights.items())
    return 1.0 / (1.0 + math.exp(-odds))
