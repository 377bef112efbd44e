"""What goes with a memory that is forgotten or purged, or becomes more sensitive: what cannot be found without it,
and what was drawn from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from vector_memory.model import DERIVED, PASSAGE, Memory, Scope, Source, Status, strictest
from vector_memory.service.base.shelf import Shelf
from vector_memory.text import analysis

LIVING = (Status.ACTIVE, Status.SUPERSEDED)


def companions(shelf: Shelf, chosen: Sequence[Memory]) -> list[Memory]:
    """Return what goes with these memories of a store, without themselves: ideas drawn from passages
    that go, and what gave way to any of them, however long ago."""
    going = {one.id: one for one in chosen}
    _add(going, drawn_from(shelf, chosen))
    latest = list(going)
    while latest:
        older = [one for one in shelf.journal.replaced_by(latest) if one.id not in going]
        _add(going, older)
        latest = [one.id for one in older]
    known = {one.id for one in chosen}
    return [one for one in going.values() if one.id not in known]


def drawn_from(shelf: Shelf, chosen: Sequence[Memory]) -> list[Memory]:
    """Return the ideas and fixes of which at least as much stands in the passages that go as in those
    of their exchange that stay."""
    found: list[Memory] = []
    going = {one.id for one in chosen}
    for source, project in {
        (_turn(one), one.project) for one in chosen if one.kind == PASSAGE and one.source.path
    }:
        told = shelf.journal.of_turn(source, project, LIVING)
        passages = [one for one in told if one.kind == PASSAGE]
        gone = _terms(one for one in passages if one.id in going)
        kept = _terms(one for one in passages if one.id not in going)
        for one in told:
            if one.is_aside and one.kind not in DERIVED and one.id not in going:
                words = _terms([one])
                if len(words & gone) >= len(words & kept):
                    found.append(one)
    return found


def keep_level(shelf: Shelf, memory: Memory) -> None:
    """Have nothing that was made of a memory be less sensitive than it is now: the ideas drawn from it, and the topics
    and summaries of its session over its turn."""
    session, turn = memory.source.session, memory.source.turn
    made = drawn_from(shelf, [memory])
    if session:
        for one in shelf.journal.iter_memories(Scope(sessions=(session,), kinds=DERIVED)):
            first, last = one.extra.get("turns") or (turn, turn)
            made += [one] if first <= turn <= last else []
    for one in made:
        level = strictest(one.sensitivity, memory.sensitivity)
        if level is not one.sensitivity:
            shelf.journal.update(replace(one, sensitivity=level))


def _turn(memory: Memory) -> Source:
    source = memory.source
    return Source(source.session, source.path, turn=source.turn)


def _terms(memories: Iterable[Memory]) -> set[str]:
    return {term for one in memories for term in analysis.lexical("", one.text, "", "").split()}


def _add(going: dict[str, Memory], memories: Iterable[Memory]) -> None:
    for one in memories:
        going.setdefault(one.id, one)
