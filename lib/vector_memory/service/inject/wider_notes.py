"""A passage that is told comes with what else was found of its exchange, as far as there is room: an exchange
is often long, and what helps stands in another place of it than what is nearest to the prompt. An idea comes with the
passage that it was said in, where all notes leave room for that: a problem's cause and cure stand beside it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from vector_memory.index import rules
from vector_memory.model import EDITED, EPISODES, INTENTS, PASSAGE, PREFERENCE, TODO, Memory
from vector_memory.retrieve import render
from vector_memory.retrieve.search import Hit
from vector_memory.service.memory.passages import number_of
from vector_memory.text import fence
from vector_memory.text.words import runs_in


def widened(
    notes: Sequence[fence.Note], hits: Sequence[Hit], memories: Sequence[Memory], budget: int
) -> list[fence.Note]:
    """Return notes, each whole and with other passages of its exchange, as far as they fit. The first ones are
    worth the most and take what they need: notes of talk that come later are left out for them, but none that
    somebody had remembered.

    Args:
        notes: in their order; together they fit.
        hits: what the notes are of.
        memories: what the search found, best first.
        budget: tokens in all.
    """
    by_id = {hit.memory.id: hit.memory for hit in hits}
    others = [memory for memory in memories if memory.id not in by_id]
    wider_notes: list[fence.Note] = []
    room = budget - sum(note.tokens for note in notes if not by_id[note.id].source.path)
    for note in notes:
        memory = by_id[note.id]
        if memory.source.path:
            if note.tokens > room:
                continue
            note, room = _widen(note, memory, others, room - note.tokens)
        wider_notes.append(note)
    return wider_notes


def _widen(
    note: fence.Note, memory: Memory, others: Sequence[Memory], room: int
) -> tuple[fence.Note, int]:
    """Return a note with as much of its exchange as fits, and the tokens that are left then."""
    if memory.is_held or render.is_others(memory):
        # What others wrote keeps to its share.
        return note, room
    parts: list[Memory] = []
    for part in [memory, *(other for other in others if _is_beside(other, memory))]:
        wider = _join_parts(note, [*parts, part])
        if (extra := max(0, wider.tokens - note.tokens)) <= room:
            note, room, parts = wider, room - extra, [*parts, part]
        elif part is memory:
            # It is cut as it is: there is no room for more.
            break
    return note, room


def _is_beside(other: Memory, memory: Memory) -> bool:
    """Whether both are passages of one exchange. What others wrote comes with a mark of its own or not at all."""
    return (
        memory.kind == other.kind == PASSAGE
        and _exchange(memory) == _exchange(other)
        and not any(passage.is_held or render.is_others(passage) for passage in (memory, other))
    )


def _exchange(memory: Memory) -> tuple[str, str, int, str]:
    source = memory.source
    return source.session, source.path, source.turn, memory.project


def in_their_passages(
    notes: Sequence[fence.Note],
    hits: Sequence[Hit],
    passages_of: Callable[[Hit], Sequence[Memory]],
    budget: int,
) -> list[fence.Note]:
    """Return notes of ideas as the passages that they were said in, as far as all of them leave room, the first ones
    first; an idea that such a passage says, too, is told with it.

    Args:
        notes: in their order; together they fit.
        hits: what the notes are of.
        passages_of: returns the passages of the exchange of a hit that may be told.
        budget: tokens in all.
    """
    by_id = {hit.memory.id: hit for hit in hits}
    room = budget - sum(note.tokens for note in notes)
    told_notes: list[fence.Note] = []
    for note in notes:
        hit = by_id[note.id]
        of_exchange = (
            index
            for index, earlier in enumerate(told_notes)
            if _exchange(by_id[earlier.id].memory) == _exchange(hit.memory)
        )
        earlier_index = next(
            (index for index in of_exchange if _says_idea(told_notes[index].text, hit.memory)), None
        )
        if _is_idea(hit.memory) and earlier_index is not None:
            room += note.tokens
            earlier = told_notes[earlier_index]
            also = (*earlier.also, note.id)
            told_notes[earlier_index] = fence.Note(
                earlier.id, earlier.head, earlier.text, earlier.foreign, earlier.is_cut, also
            )
            continue
        wider = _as_passage(note, hit.memory, passages_of(hit)) if _is_idea(hit.memory) else note
        if 0 < wider.tokens - note.tokens <= room:
            room -= wider.tokens - note.tokens
            note = wider
        told_notes.append(note)
    return told_notes


def _is_idea(memory: Memory) -> bool:
    """Whether a memory is a sentence of a session's talk that says more with what stands around it. What mended an error
    is whole, and what the user corrected stands in no passage."""
    is_sentence = memory.is_captured and memory.collection != EPISODES
    is_sentence = is_sentence and not memory.extra.get(EDITED)
    # What is to be done or kept to is whole; a wish of the moment is not ("like a list of fifty names").
    is_whole = memory.kind == TODO or (memory.kind == PREFERENCE and rules.binds(memory.text))
    is_others = memory.is_held or render.is_others(memory)
    return is_sentence and memory.kind in INTENTS and not is_whole and not is_others


def _as_passage(note: fence.Note, memory: Memory, passages: Sequence[Memory]) -> fence.Note:
    """Return an idea's note as the passage that says it, the note itself where that is not known."""
    own_passages = (
        candidate
        for candidate in passages
        if not (candidate.is_held or render.is_others(candidate))
    )
    passage = next(
        (candidate for candidate in own_passages if _says_idea(candidate.text, memory)), None
    )
    return _join_parts(note, [passage]) if passage is not None else note


def _says_idea(text: str, memory: Memory) -> bool:
    """Whether a text has all words of an idea, without the title in brackets that was put before them."""
    words = memory.text.partition("] ")[2] if memory.text.startswith("[") else memory.text
    return _padded_words(words) in _padded_words(text)


def _padded_words(text: str) -> str:
    return f" {' '.join(runs_in(text.casefold()))} "


def _join_parts(note: fence.Note, parts: Sequence[Memory]) -> fence.Note:
    """Return a note with the words of several passages, in the order in which they were said."""
    ordered = sorted(parts, key=number_of)
    text = str(ordered[0].text)
    for before, after in itertools.pairwise(ordered):
        text += ("\n" if number_of(after) == number_of(before) + 1 else "\n…\n") + after.text
    also = tuple(part.id for part in parts if part.id != note.id)
    return fence.Note(note.id, note.head, fence.tidy(text), note.foreign, also=also)
