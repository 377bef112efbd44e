"""The hits of one search, grouped by topic: the same exchange, the same title, or the same words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from vector_memory.retrieve.repetitions import jaccard
from vector_memory.retrieve.search import Hit
from vector_memory.text import analysis

ALIKE = 0.3
"""The share of their words that two hits have in common when they are about one thing."""
NAME_CHARS = 60
NAME_WORDS = 3


class Topic(NamedTuple):
    """A topic's name, and the places of its hits, best first."""

    name: str
    places: tuple[int, ...]


def topics(hits: Sequence[Hit]) -> list[Topic]:
    """Return the topics of hits.

    Returns:
        In the order of their best hits. Every hit is in one of them: in the first whose best hit is
        like it. `places` are places in `hits`, ascending.
    """
    groups: list[list[int]] = []
    for place, hit in enumerate(hits):
        for group in groups:
            # With its best hit alone: compared with all, one topic would slide into the next.
            if _are_alike(hits[group[0]], hit):
                group.append(place)
                break
        else:
            groups.append([place])
    return [Topic(_name([hits[place] for place in group]), tuple(group)) for group in groups]


def _are_alike(hit: Hit, other: Hit) -> bool:
    memory, neighbour = hit.memory, other.memory
    exchange = (memory.source.session, memory.source.turn)
    if memory.source.session and exchange == (neighbour.source.session, neighbour.source.turn):
        return True
    if memory.title and memory.title == neighbour.title:
        return True
    return jaccard(hit.terms, other.terms) >= ALIKE


def _name(hits: Sequence[Hit]) -> str:
    """Return a group's name: a title, else the words that its hits share, else a text's beginning."""
    title = next((hit.memory.title for hit in hits if hit.memory.title), "")
    if title:
        return _shortened(str(title))
    if len(hits) > 1:
        # Shorter terms name nothing.
        counts = Counter(term for hit in hits for term in hit.terms if len(term) > 3)
        shared = [term for term, count in counts.items() if count == len(hits)]
        if shared:
            ordered = sorted(shared, key=lambda term: hits[0].memory.text.lower().find(term))
            return _shortened(", ".join(_word_of(hits[0], term) for term in ordered[:NAME_WORDS]))
    return _shortened(str(hits[0].memory.text))


def _word_of(hit: Hit, term: str) -> str:
    """Return the word of a text that a stem stands for."""
    for word in f"{hit.memory.text} {hit.memory.title}".split():
        plain = word.strip(".,:;!?()[]'\"`*").lower()
        if plain.startswith(term) or term in analysis.analyse(plain):
            return plain
    return term


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= NAME_CHARS else text[: NAME_CHARS - 2].rsplit(" ", 1)[0] + " …"
