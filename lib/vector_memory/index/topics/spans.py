"""Spans: a session as a tree of topics, each a stretch of turns with a name and a summary.

A topic begins where the signs say so (`shifts`); a long one is cut once more where they say it less
clearly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from vector_memory.index.topics.naming import name_of
from vector_memory.index.topics.shifts import scores
from vector_memory.index.topics.summaries import Summary, SummaryIdea, summary_of
from vector_memory.index.topics.turns import TopicTurn, lines_of

TOPIC, SUBTOPIC = 1, 2
TOPIC_SCORE = 0.0
"""Above it another topic begins."""
_BARELY = 0.01
SUBTOPIC_SCORE = -1.2
"""Above it another part of a long topic begins."""
LONG_TURNS = 5
"""Turns from which a topic is long enough to have parts."""


@dataclass(frozen=True)
class TopicSpan:
    """A topic of a session. `key` is that of the first turn, the same in every copy of the transcript;
    `turns` the first and last turn's number, lines count from 1, both ends included; `parts` are the
    topics within it, () for none."""

    key: str
    level: int
    name: str
    summary: Summary
    turns: tuple[int, int]
    lines: tuple[int, int]
    members: tuple[TopicTurn, ...]
    parts: tuple[TopicSpan, ...] = ()


def spans(
    turns: Sequence[TopicTurn],
    ideas: Sequence[SummaryIdea] = (),
    decided: Mapping[str, bool] = MappingProxyType({}),
) -> list[TopicSpan]:
    """Return the topics of a session, in order.

    Args:
        turns: the session's turns, in order.
        ideas: what is known to have been decided, concluded or left open.
        decided: by the keys of turns, whether another topic begins there, where that is known.
    """
    turn_scores = [
        _score_as_decided(decided.get(turn.first.key), score)
        for turn, score in zip(turns, scores(turns), strict=True)
    ]
    counts = Counter(term for turn in turns for term in turn.terms)
    ideas_by_turn: dict[int, list[SummaryIdea]] = {}
    for idea in ideas:
        ideas_by_turn.setdefault(idea.turn, []).append(idea)

    def span_of(first: int, last: int, level: int) -> TopicSpan:
        members = tuple(turns[first:last])
        begins = _part_starts(turn_scores, first, last) if level == TOPIC else []
        parts = tuple(span_of(*ends, SUBTOPIC) for ends in _stretches(begins, last))
        name = name_of(members, counts, len(turns))
        span_ideas = [idea for turn in members for idea in ideas_by_turn.get(turn.first.turn, ())]
        return TopicSpan(
            key=members[0].first.key,
            level=level,
            name=name,
            summary=summary_of(members, span_ideas, name),
            turns=(members[0].first.turn, members[-1].first.turn),
            lines=lines_of(members),
            members=members,
            parts=parts,
        )

    return [span_of(*ends, TOPIC) for ends in _stretches(boundaries(turn_scores), len(turns))]


def _score_as_decided(begins: bool | None, score: float) -> float:
    """Return a score on the side of what is known."""
    if begins is None:
        return score
    return max(score, TOPIC_SCORE + _BARELY) if begins else min(score, TOPIC_SCORE)


def boundaries(turn_scores: Sequence[float]) -> list[int]:
    """Return the places of the turns that begin a topic, by their scores; the first always does."""
    return [place for place, score in enumerate(turn_scores) if place == 0 or score > TOPIC_SCORE]


def _part_starts(turn_scores: Sequence[float], first: int, last: int) -> list[int]:
    """Return where the parts of a topic begin, [] where it has none."""
    if last - first < LONG_TURNS:
        return []
    inside = [place for place in range(first + 1, last) if turn_scores[place] > SUBTOPIC_SCORE]
    return [first, *inside] if inside else []


def _stretches(begins: Sequence[int], last: int) -> list[tuple[int, int]]:
    """Return from where to before where each stretch goes."""
    return list(zip(begins, [*begins[1:], last], strict=False))


def walk(tree: Sequence[TopicSpan], parent: str = "") -> list[tuple[TopicSpan, str]]:
    """Return every span of a tree with its parent's key ("" for a topic), in order."""
    return [
        pair
        for topic_span in tree
        for pair in ((topic_span, parent), *walk(topic_span.parts, topic_span.key))
    ]
