"""A passage that is told comes with what else was found of its exchange, as far as there is room: an exchange
is often long, and what helps stands in another place of it than what is nearest to the prompt."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from vector_memory.model import PASSAGE, Memory
from vector_memory.retrieve import render
from vector_memory.retrieve.search import Hit
from vector_memory.service.memory.passages import number_of
from vector_memory.text import fence


def widened(
    notes: Sequence[fence.Note], hits: Sequence[Hit], found: Sequence[Memory], budget: int
) -> list[fence.Note]:
    """Return notes, each whole and with other passages of its exchange, as far as they fit. The first ones are
    worth the most and take what they need: the later talk is left out for it, but nothing that somebody had
    remembered.

    Args:
        notes: in their order; together they fit.
        hits: what the notes are of.
        found: what the search found, best first.
        budget: tokens in all.
    """
    memories = {hit.memory.id: hit.memory for hit in hits}
    others = [memory for memory in found if memory.id not in memories]
    made: list[fence.Note] = []
    left = budget - sum(note.tokens for note in notes if not memories[note.id].source.path)
    for note in notes:
        memory = memories[note.id]
        if memory.source.path:
            if note.tokens > left:
                continue
            note, left = _wider(note, memory, others, left - note.tokens)
        made.append(note)
    return made


def _wider(
    note: fence.Note, memory: Memory, others: Sequence[Memory], left: int
) -> tuple[fence.Note, int]:
    """Return a note with as much of its exchange as fits, and the tokens that are left then."""
    if memory.is_held or render.is_others(memory):
        # What others wrote keeps to its share.
        return note, left
    parts: list[Memory] = []
    for part in [memory, *(other for other in others if _is_beside(other, memory))]:
        wider = _of_parts(note, [*parts, part])
        if (more := max(0, wider.tokens - note.tokens)) <= left:
            note, left, parts = wider, left - more, [*parts, part]
        elif part is memory:
            # It is cut as it is: there is no room for more.
            break
    return note, left


def _is_beside(other: Memory, memory: Memory) -> bool:
    """Whether both are passages of one exchange. What others wrote comes with a mark of its own or not at all."""
    mine, its = memory.source, other.source
    return (
        memory.kind == other.kind == PASSAGE
        and (mine.session, mine.path, mine.turn) == (its.session, its.path, its.turn)
        and memory.project == other.project
        and not any(one.is_held or render.is_others(one) for one in (memory, other))
    )


def _of_parts(note: fence.Note, parts: Sequence[Memory]) -> fence.Note:
    """Return a note with the words of several passages, in the order in which they were said."""
    ordered = sorted(parts, key=number_of)
    text = str(ordered[0].text)
    for before, after in itertools.pairwise(ordered):
        text += ("\n" if number_of(after) == number_of(before) + 1 else "\n…\n") + after.text
    also = tuple(part.id for part in parts if part.id != note.id)
    return fence.Note(note.id, note.head, fence.tidy(text), note.foreign, also=also)
