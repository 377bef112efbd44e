"""Where a session turns to something else: signs at each prompt, weighed into one score.

Sources: windows of blocks on both sides of a gap, compared by cosine: M. Hearst, "TextTiling: Segmenting
Text into Multi-paragraph Subtopic Passages", Computational Linguistics 23(1), 1997, here with embeddings
instead of counted words; turns of phrase and other signs weighed beside that: D. Beeferman, A. Berger,
J. Lafferty, "Statistical Models for Text Segmentation", Machine Learning 34, 1999.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from vector_memory.index.topics.turns import TopicTurn
from vector_memory.text import tables

if TYPE_CHECKING:
    from vector_memory.model import Vector

WINDOW_TURNS = 3
"""Turns before a prompt that it is compared with."""
BEFORE_PASSAGES = 12
AFTER_PASSAGES = 6
LONG_GAP_MINUTES = 600.0
HEAD_CHARS = 160
"""Where in a prompt a turn of phrase counts: further on it is pasted text, or an aside."""
MISSING_DISTANCE = 0.42
"""The usual distance: what a prompt without vectors is given, so that the other signs decide."""

WEIGHTS = {
    "distance": 3.0,
    "phrase": 1.5,
    "gap": 2.5,
    "files": 1.2,
    "talk": -1.0,
    "reply": -0.9,
    "request": 1.2,
    "trouble": 1.2,
}
"""How much each sign weighs; tuned by `benchmarks/spans.py`."""
BIAS = -3.2

_PATTERNS = tables.patterns("topic_turns", os.path.dirname(__file__))
_PHRASE = _PATTERNS["phrase"]
_REQUEST = _PATTERNS["request"]
_TROUBLE = _PATTERNS["trouble"]
_REPLY = re.compile(
    r"(?:ok(?:ay)?|yes|yeah|yep|no|nope|ah+|oh|hmm+|wait|sorry|well|so|sure|right|but|still|and|more"
    r"|the (?:issue|problem|above)|it|that|this|these|again|i (?:don't )?think|i'd actually|in|here"
    r"|are you sure|do we even|actually|thanks|great|perfect)\b",
    re.IGNORECASE,
)
_CLEARS = ("/clear", "/new", "/reset")


def scores(turns: Sequence[TopicTurn]) -> list[float]:
    """Return for each turn how likely it begins another topic: above 0 rather than not. The first one
    does by any account, one without a prompt never; `/clear` before it is infinitely telling."""
    found = []
    for place, turn in enumerate(turns):
        if place == 0 or turn.prompt.startswith(_CLEARS):
            found.append(math.inf)
        elif not turn.prompt:
            found.append(-math.inf)
        else:
            found.append(weigh(signs(turns, place)))
    return found


def weigh(found: Mapping[str, float]) -> float:
    """Return the weighted sum of a prompt's signs."""
    return BIAS + sum(WEIGHTS[name] * value for name, value in found.items())


def signs(turns: Sequence[TopicTurn], place: int) -> dict[str, float]:
    """Return what speaks for another topic at a turn, or against it; each 0 … 1, except `distance`,
    which is at most 2."""
    turn, before = turns[place], turns[max(0, place - WINDOW_TURNS) : place]
    head = turn.prompt[:HEAD_CHARS].replace("\u2019", "'")
    return {
        "distance": _distance(before, turn),
        "phrase": float(bool(_PHRASE.search(head))),
        "gap": _gap(before[-1], turn),
        "files": _change_of_files(before, turn),
        "talk": float(not turn.files),
        "reply": float(bool(_REPLY.match(head))),
        "request": float(bool(_REQUEST.search(head))),
        "trouble": float(bool(_TROUBLE.search(head))),
    }


def _distance(before: Sequence[TopicTurn], turn: TopicTurn) -> float:
    """Return the cosine distance between the mean vectors of what was said before and then."""
    earlier = [vector for topic_turn in before for vector in topic_turn.vectors][-BEFORE_PASSAGES:]
    later = turn.vectors[:AFTER_PASSAGES]
    if not earlier or not later:
        return MISSING_DISTANCE
    return 1.0 - _cosine(sum(earlier[1:], earlier[0]), sum(later[1:], later[0]))


def _cosine(one: Vector, other: Vector) -> float:
    lengths = math.sqrt(float(one @ one) * float(other @ other))
    return float(one @ other) / lengths if lengths > 0 else 0.0


def _gap(before: TopicTurn, turn: TopicTurn) -> float:
    """Return how long it was between two turns, 0 … 1, by the order of magnitude."""
    minutes = (turn.first.at - before.first.at).total_seconds() / 60
    return math.log1p(min(max(0.0, minutes), LONG_GAP_MINUTES)) / math.log1p(LONG_GAP_MINUTES)


def _change_of_files(before: Sequence[TopicTurn], turn: TopicTurn) -> float:
    """Return the share of a turn's files that were not touched before, one half where nothing can
    be said."""
    known = frozenset().union(*(topic_turn.files for topic_turn in before))
    if not known or not turn.files:
        return 0.5
    return len(turn.files - known) / len(turn.files)
