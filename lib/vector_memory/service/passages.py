"""A passage of a transcript with what stood around it: small texts are found, larger ones are read.

Source: "small to big" retrieval; what is ranked is small, what is given has its context.
"""

from __future__ import annotations

from collections.abc import Sequence

from vector_memory import analysis
from vector_memory.model import PASSAGE, Memory
from vector_memory.service.shelf import Shelf

WHOLE_CHARS = 1_400
"""Characters of a passage and what stood around it, at most."""


def in_context(shelf: Shelf, memory: Memory) -> str:
    """Return a memory's text; that of a passage is followed by what came after and before it in the
    same exchange, as far as there is room."""
    if not memory.source.path or not memory.source.session:
        return memory.text
    of_turn = shelf.journal.of_turn(memory.source, memory.project)
    # What is held back comes with its own warning, not behind another's text.
    turn = [
        one for one in of_turn if one.kind == PASSAGE and (not one.is_held or one.id == memory.id)
    ]
    turn.sort(key=number_of)
    place = next((at for at, one in enumerate(turn) if one.id == memory.id), None)
    if place is None:
        return said_in(memory, turn)
    before, after = around([len(one.text) for one in turn], place, WHOLE_CHARS)
    parts: list[str] = [memory.text]
    if after:
        parts.append("[then] " + _joined(turn[place + 1 : place + 1 + after]))
    if before:
        parts.append("[before] " + _joined(turn[place - before : place]))
    return "\n\n".join(parts)


def said_in(memory: Memory, turn: Sequence[Memory]) -> str:
    """Return an idea's text, followed by the passage that it was taken from."""
    terms = set(analysis.analyse(memory.text))
    shares = [len(terms & set(analysis.analyse(one.text))) for one in turn]
    if not shares or not max(shares):
        return memory.text
    place = shares.index(max(shares))
    sizes = [len(one.text) for one in turn]
    before, after = around(sizes, place, WHOLE_CHARS - len(memory.text))
    return f"{memory.text}\n\n[in] {_joined(turn[place - before : place + 1 + after])}"


def number_of(memory: Memory) -> int:
    """Return a passage's place in its exchange."""
    digits = memory.external_id.rpartition(":")[2]
    return int(digits) if digits.isdecimal() else 0


def around(sizes: Sequence[int], place: int, most: int) -> tuple[int, int]:
    """Return how many neighbours before and after a place fit, taken in turns, those after first."""
    first = last = place
    left = most - sizes[place]
    growing = True
    while growing:
        growing = False
        if last + 1 < len(sizes) and sizes[last + 1] <= left:
            last += 1
            left -= sizes[last]
            growing = True
        if first > 0 and sizes[first - 1] <= left:
            first -= 1
            left -= sizes[first]
            growing = True
    return place - first, last - place


def _joined(memories: Sequence[Memory]) -> str:
    return "\n".join(one.text for one in memories)
