"""Where a session turns to something else: signs at each prompt, weighed into one score.

How far the vectors of what follows are from those before (TextTiling, with embeddings) was one of them until it
was left out: cuts of sessions that the weights were not fitted on were no worse.

Source: turns of phrase and other signs, weighed: D. Beeferman, A. Berger, J. Lafferty, "Statistical Models
for Text Segmentation", Machine Learning 34, 1999.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence

from vector_memory.index.topics.turns import TopicTurn
from vector_memory.text.patterns import PatternTable

WINDOW_TURNS = 3
"""Turns before a prompt that it is compared with."""
LONG_GAP_MINUTES = 600.0
HEAD_CHARS = 160
"""Where in a prompt a turn of phrase counts: further on it is pasted text, or an aside."""

WEIGHTS = {
    "phrase": 2.4, "gap": 2.5, "files": 1.5, "talk": -1.0, "reply": -1.0, "request": 1.1, "trouble": 1.4,
}  # fmt: skip
"""How much each sign weighs; tuned by `benchmarks/spans.py`."""
BIAS = -2.1

_TABLE = PatternTable("topic_turns", os.path.dirname(__file__))
_CLEARS = ("/clear", "/new", "/reset")


def scores(turns: Sequence[TopicTurn]) -> list[float]:
    """Return for each turn how likely it begins another topic: above 0 rather than not. The first one
    does by any account, one without a prompt never; `/clear` before it is infinitely telling."""
    values = []
    for place, turn in enumerate(turns):
        if place == 0 or turn.prompt.startswith(_CLEARS):
            values.append(math.inf)
        elif not turn.prompt:
            values.append(-math.inf)
        else:
            values.append(weigh(signs(turns, place)))
    return values


def weigh(values: Mapping[str, float]) -> float:
    """Return the weighted sum of a prompt's signs."""
    return BIAS + sum(WEIGHTS[name] * value for name, value in values.items())


def signs(turns: Sequence[TopicTurn], place: int) -> dict[str, float]:
    """Return what speaks for another topic at a turn, or against it; each 0 … 1."""
    turn, before = turns[place], turns[max(0, place - WINDOW_TURNS) : place]
    phrases = _TABLE.found(turn.prompt[:HEAD_CHARS].replace("\u2019", "'"))
    return {
        "phrase": float("phrase" in phrases),
        "gap": _time_gap(before[-1], turn),
        "files": _change_of_files(before, turn),
        "talk": float(not turn.files),
        "reply": float("reply" in phrases),
        "request": float("request" in phrases),
        "trouble": float("trouble" in phrases),
    }


def _time_gap(before: TopicTurn, turn: TopicTurn) -> float:
    """Return how long it was between two turns, 0 … 1, by the order of magnitude."""
    minutes = (turn.first.at - before.first.at).total_seconds() / 60
    return math.log1p(min(max(0.0, minutes), LONG_GAP_MINUTES)) / math.log1p(LONG_GAP_MINUTES)


def _change_of_files(before: Sequence[TopicTurn], turn: TopicTurn) -> float:
    """Return the share of a turn's files that were not touched before, one half where nothing can
    be said."""
    files_before = frozenset().union(*(topic_turn.files for topic_turn in before))
    if not files_before or not turn.files:
        return 0.5
    return len(turn.files - files_before) / len(turn.files)
