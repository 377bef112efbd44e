"""What goes with a memory that is forgotten or purged, or becomes more sensitive: what cannot be found without it,
and what was drawn from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from vector_memory.model import DERIVED, LIVING, PASSAGE, Memory, Scope, Source, strictest
from vector_memory.service.base.shelf import Shelf
from vector_memory.text import analysis


def companions(shelf: Shelf, chosen: Sequence[Memory]) -> list[Memory]:
    """Return what goes with these memories of a store, without themselves: ideas drawn from passages
    that go, and what gave way to any of them, however long ago."""
    going = {memory.id: memory for memory in (*chosen, *drawn_from(shelf, chosen))}
    latest = list(going)
    while latest:
        older = {old.id: old for old in shelf.journal.replaced_by(latest) if old.id not in going}
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
        gone = _terms(passage for passage in passages if passage.id in going)
        kept = _terms(passage for passage in passages if passage.id not in going)
        for memory in turn:
            if memory.is_aside and memory.kind not in DERIVED and memory.id not in going:
                words = _terms([memory])
                if len(words & gone) >= len(words & kept):
                    drawn.append(memory)
    return drawn


def keep_level(shelf: Shelf, memory: Memory) -> None:
    """Have nothing that was made of a memory be less sensitive than it is now: the ideas drawn from it, and the topics
    and summaries of its session over its turn."""
    session, turn = memory.source.session, memory.source.turn
    made = drawn_from(shelf, [memory])
    if session:
        for derived in shelf.journal.iter_memories(Scope(sessions=(session,), kinds=DERIVED)):
            first, last = derived.extra.get("turns") or (turn, turn)
            made += [derived] if first <= turn <= last else []
    for derived in made:
        level = strictest(derived.sensitivity, memory.sensitivity)
        if level is not derived.sensitivity:
            shelf.journal.update(replace(derived, sensitivity=level))


def _terms(memories: Iterable[Memory]) -> set[str]:
    return {
        term for memory in memories for term in analysis.lexical("", memory.text, "", "").split()
    }
