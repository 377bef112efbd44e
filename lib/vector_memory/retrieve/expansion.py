"""Along the links: what the best hits answer, build on or contradict comes with them.

One step, a few memories, and never above the hit that brought them: a link says that two memories
belong together, not that the other one answers the question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from vector_memory.model import Link, Memory, Relation

SOURCES = 8
"""The best hits whose links are followed."""
MOST = 16
"""Memories that come along at most."""
RELATIONS: Mapping[Relation, float] = {
    Relation.ANSWERS: 0.9,
    Relation.CLARIFIES: 0.85,
    Relation.BUILDS_ON: 0.8,
    Relation.CONTRADICTS: 0.8,
    Relation.RELATES_TO: 0.6,
}
"""How much of a hit's score passes along a link of full weight. An answer is nearly what was asked
for; what is merely related is often known already. Superseding is no link to follow: the successor
stands in place of the old one."""


class LinkedMemory(NamedTuple):
    """A memory that a link brought: with which score, from which hit, along which relation."""

    memory: Memory
    score: float
    source_id: str
    relation: Relation


def follow_links(
    hits: Sequence[tuple[str, float]], linked: Sequence[tuple[Link, Memory | None]]
) -> list[LinkedMemory]:
    """Return what comes along with hits.

    Args:
        hits: the hits' ids and scores, best first.
        linked: links from and to them, each with the memory at its other end, None where that is
            a hit too.

    Returns:
        At most `MOST`, best first, each memory once, none that is a hit itself. A score is that of
        the hit times the relation's share times the link's weight, so never above the hit's.
    """
    scores = dict(hits)
    best: dict[str, LinkedMemory] = {}
    for link, memory in linked:
        # It is a hit already, with a score of its own.
        if memory is None:
            continue
        source = link.from_id if link.to_id == memory.id else link.to_id
        share = RELATIONS.get(link.relation)
        if share is None or source not in scores or memory.id in scores:
            continue
        score = scores[source] * share * min(1.0, max(0.0, link.weight))
        # Two hits may bring it: the better way counts, and two ways count no more than one.
        if memory.id not in best or score > best[memory.id].score:
            best[memory.id] = LinkedMemory(memory, score, source, link.relation)
    return sorted(best.values(), key=lambda candidate: (-candidate.score, candidate.memory.id))[
        :MOST
    ]
