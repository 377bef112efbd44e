"""What goes with a memory that is forgotten or purged: what cannot be found without it, what was drawn from it, and what
holds its words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vector_memory.model import DERIVED, LIVING, PASSAGE, Memory, Source, Status
from vector_memory.service.base.shelf import Shelf
from vector_memory.text import analysis

LEAST_SHARED = 16
"""Characters from which on a memory's text is looked for in others."""


def repeating(shelf: Shelf, memories: Sequence[Memory]) -> list[Memory]:
    """Return what of a store holds the whole text of any of these memories, such as the passage that it was taken from."""
    texts = [memory.text for memory in memories if len(memory.text) >= LEAST_SHARED]
    holders = shelf.journal.by_ids(shelf.journal.holding(texts)).values() if texts else ()
    return [memory for memory in holders if memory.status is not Status.FORGOTTEN]


def companions(shelf: Shelf, chosen: Sequence[Memory]) -> list[Memory]:
    """Return what goes with these memories of a store, without themselves: ideas drawn from passages
    that go, and what gave way to any of them, however long ago."""
    going = {memory.id: memory for memory in (*chosen, *drawn_from(shelf, chosen))}
    latest = list(going)
    while latest:
        older = {
            superseded.id: superseded
            for superseded in shelf.journal.replaced_by(latest)
            if superseded.id not in going
        }
        going, latest = going | older, list(older)
    chosen_ids = {memory.id for memory in chosen}
    return [memory for memory in going.values() if memory.id not in chosen_ids]


def drawn_from(shelf: Shelf, chosen: Sequence[Memory]) -> list[Memory]:
    """Return the ideas and fixes of which at least as much stands in the passages that go as in those
    of their exchange that stay."""
    drawn: list[Memory] = []
    going = {memory.id for memory in chosen}
    for source, project in {
        (Source(memory.source.session, memory.source.path, turn=memory.source.turn), memory.project)
        for memory in chosen
        if memory.kind == PASSAGE and memory.source.path
    }:
        turn = shelf.journal.of_turn(source, project, LIVING)
        passages = [memory for memory in turn if memory.kind == PASSAGE]
        gone_terms = _terms(passage for passage in passages if passage.id in going)
        kept_terms = _terms(passage for passage in passages if passage.id not in going)
        for memory in turn:
            if memory.is_aside and memory.kind not in DERIVED and memory.id not in going:
                terms = _terms([memory])
                if len(terms & gone_terms) >= len(terms & kept_terms):
                    drawn.append(memory)
    return drawn


def _terms(memories: Iterable[Memory]) -> set[str]:
    return {
        term for memory in memories for term in analysis.lexical("", memory.text, "", "").split()
    }
