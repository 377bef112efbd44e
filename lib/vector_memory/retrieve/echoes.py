"""Topics and summaries say again what passages say: they give way where a part of them was found."""

from __future__ import annotations

from collections.abc import Sequence

from vector_memory.model import DERIVED, EPISODES, PASSAGE, TODO, Memory
from vector_memory.retrieve.repetitions import WITHIN
from vector_memory.retrieve.search import Hit
from vector_memory.text import analysis

QUESTION = "question"
NO_TURN = -1
LITTLE_MORE = 0.5
"""The share of a passage's words from which the idea told of it makes it needless."""


def without_echoes(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits without topics and summaries of which a part was found too, and without questions of
    which the answer was, in their order: a prompt has no room for the same thing twice, and the passage
    says it verbatim."""
    found_exchanges = {
        _exchange(hit.memory)
        for hit in hits
        if hit.memory.kind not in DERIVED and hit.memory.kind != QUESTION
    }
    return [hit for hit in hits if not _repeats(hit.memory, found_exchanges)]


def _repeats(memory: Memory, found_exchanges: set[tuple[str, int]]) -> bool:
    if memory.kind == QUESTION and memory.extra.get("done"):
        return _exchange(memory) in found_exchanges
    if memory.kind not in DERIVED:
        return False
    # A topic is a stretch of turns; one of them is enough to stand for it.
    first, last = memory.extra.get("turns") or (memory.source.turn, memory.source.turn)
    return any(
        session == memory.source.session and first <= turn <= last
        for session, turn in found_exchanges
    )


class ShownTexts:
    """What a session is told at once, so that an idea, its passage and the summary of both do not say
    one thing three times."""

    def __init__(self, texts: Sequence[str] = ()) -> None:
        # Texts of no session count against every session's memories.
        self._texts = [("", NO_TURN, frozenset(analysis.analyse(text))) for text in texts]

    def holds(self, memory: Memory) -> bool:
        """Whether a memory would say again what was told: words that another memory of its session has,
        or a passage that says little more than the idea that was taken from it."""
        source = memory.source
        # What was made on purpose is short, and meant as it is.
        if not source.session:
            return False
        same_turn = any(entry[:2] == (source.session, source.turn) for entry in self._texts)
        least = LITTLE_MORE if memory.kind == PASSAGE and same_turn else WITHIN
        terms = frozenset(analysis.analyse(memory.text))
        # A todo may differ from another session's in the one word that matters.
        least_of = {source.session: least, "": 1.0 if memory.kind == TODO else least}
        return any(
            session in least_of and len(terms & shown_terms) >= least_of[session] * len(terms)
            for session, _, shown_terms in self._texts
        )

    def add(self, memory: Memory) -> None:
        """Take a memory as told."""
        source = memory.source
        if source.session:
            # Who was told a question still lacks what stands beside it: the answer.
            turn = NO_TURN if memory.kind == QUESTION else source.turn
            terms = frozenset(analysis.analyse(memory.text))
            self._texts.append((source.session, turn, terms))


def without_covered(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits without those that say again what a better one says: the best passage of an exchange stands for its
    others, and for the ideas that were found in it. What mended an error is more than such an idea: it was seen to
    work."""
    best_passages: dict[tuple[str, int], Hit] = {}
    for hit in hits:
        if hit.memory.kind == PASSAGE and hit.memory.source.session:
            best_passages.setdefault(_exchange(hit.memory), hit)

    def is_covered(hit: Hit) -> bool:
        is_idea = hit.memory.kind not in DERIVED and hit.memory.collection != EPISODES
        return is_idea and best_passages.get(_exchange(hit.memory), hit) is not hit

    return without_repeated_words([hit for hit in hits if not is_covered(hit)])


def without_repeated_words(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits without those whose words a better one of their session has."""
    shown, kept_hits = ShownTexts(), []
    for hit in hits:
        if not shown.holds(hit.memory):
            kept_hits.append(hit)
            shown.add(hit.memory)
    return kept_hits


def _exchange(memory: Memory) -> tuple[str, int]:
    return memory.source.session, memory.source.turn
