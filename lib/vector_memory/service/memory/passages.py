"""A passage of a transcript with its surroundings: small texts are found, larger ones are read.

Source: "small to big" retrieval; what is ranked is small, what is given has its context.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from vector_memory.journal.lexical import place_in_exchange
from vector_memory.model import DONE_HEAD, PASSAGE, Memory, Source
from vector_memory.service.base import reach
from vector_memory.service.base.shelf import Shelf
from vector_memory.text import analysis, harmless
from vector_memory.text.words import names_in

WHOLE_CHARS = 2_000
"""Characters of a passage and what stood around it, at most: in nine of ten exchanges that hold an answer it
then stands in the excerpt of the first hit."""
NEAR = 0.15
"""What a passage right beside a hit gains over one further away, in scores of a search: between two that a
question fits alike, the nearer one is read."""
LONG_DONE = 150
LEAST_WORDS, MOST_WORDS = 4, 24
"""By how many words in a row an idea is found in a passage."""

_LEADS = re.compile(r"(?:\s|[-*_`#>]|\d+\.|\b(?:User|Assistant|Task):)+\Z")


Turn = tuple[str, str, int]
"""An exchange by its session, its transcript's path and its number there."""
TurnReader = Callable[[Memory], Sequence[Memory]]
"""Returns the memories of the turn that one was said in."""


@dataclass(frozen=True)
class Excerpt:
    """A memory with what stood around it.

    Attributes:
        passages: the ids of the passages that are in it.
        home: that of the passage in which the memory was said, "" where that is not known.
    """

    text: str
    passages: frozenset[str] = frozenset()
    home: str = ""


def turn_of(memory: Memory) -> Turn:
    """Return the exchange that a memory was said in."""
    return memory.source.session, memory.source.path, memory.source.turn


def turn_reader(shelf: Shelf) -> TurnReader:
    """Return what reads turns of a store, each once: several hits of an answer are often of one exchange. It reads of
    them what who asks may be given."""

    @cache
    def read(session: str, path: str, turn: int, project: str) -> list[Memory]:
        return reach.visible(shelf.journal.of_turn(Source(session, path, turn=turn), project))

    return lambda memory: read(
        memory.source.session, memory.source.path, memory.source.turn, memory.project
    )


def in_context(
    read: TurnReader, memory: Memory, scores: Mapping[str, float] = MappingProxyType({})
) -> Excerpt:
    """Return a memory's text, followed by what else was said in the same exchange, as far as there is
    room: an idea is explained by the sentences around it, a passage by its neighbours.

    Args:
        read: reads the memories of one turn; see `turn_reader`.
        scores: of the passages that a search found too, by their ids. They come first: an exchange is
            often long, and answers a question in more than one place.
    """
    if not memory.source.path or not memory.source.session:
        return Excerpt(memory.text)
    memories = read(memory)
    # What is held back comes with its own warning, not behind another's text.
    turn = [
        passage
        for passage in memories
        if passage.kind == PASSAGE and (not passage.is_held or passage.id == memory.id)
    ]
    turn.sort(key=number_of)
    pieces = [(passage.id, str(passage.text)) for passage in turn]
    home_index = next((index for index, (id, _) in enumerate(pieces) if id == memory.id), None)
    if home_index is None:
        pieces, home_index = _split_at_idea(pieces, memory.text)
    if home_index is None:
        return _likely_excerpt(memory, turn, scores)
    chosen = _places_shown(pieces, home_index, WHOLE_CHARS, scores)
    parts = [_talk_first(memory.text)]
    if after := [index for index in chosen if index > home_index]:
        parts.append("[then] " + _join_pieces(pieces, after))
    if before := [index for index in chosen if index < home_index]:
        parts.append("[before] " + _join_pieces(pieces, before))
    ids = frozenset(pieces[index][0] for index in chosen)
    return Excerpt("\n\n".join(parts), ids, pieces[home_index][0])


def _join_pieces(pieces: Sequence[tuple[str, str]], places: Sequence[int]) -> str:
    """Return the texts at some places, with a mark where one is left out."""
    text = pieces[places[0]][1]
    for previous, place in itertools.pairwise(places):
        text += ("\n" if place == previous + 1 else "\n…\n") + pieces[place][1]
    return text


def _talk_first(text: str) -> str:
    """Return a passage with long lists of what was done after what was said: who reads only how it
    begins reads the talk."""
    lines = text.split("\n")
    long_lines = [line for line in lines if line.startswith(DONE_HEAD) and len(line) > LONG_DONE]
    return "\n".join([*(line for line in lines if line not in long_lines), *long_lines])


def _split_at_idea(
    pieces: list[tuple[str, str]], idea: str
) -> tuple[list[tuple[str, str]], int | None]:
    """Return the passages of an exchange, as (id, text), with the one in which an idea was said cut in
    two, the idea between both halves, and the idea's place; None where it stands in none of them word for
    word."""
    for wording in (idea, idea.partition(": ")[2]):
        words = names_in(wording)[:MOST_WORDS]
        if len(words) < LEAST_WORDS:
            continue
        # A passage has the marks of Markdown, which an idea has not.
        pattern = re.compile(r"\W+".join(map(re.escape, words)), re.IGNORECASE)
        for place, (id, text) in enumerate(pieces):
            if match := pattern.search(text):
                end = match.end() if len(words) < MOST_WORDS else match.start() + len(wording)
                head, _, tail = harmless.with_marks_in_each(
                    [text[: match.start()], text[match.start() : end], text[end:]]
                )
                head, tail = _LEADS.sub("", head).rstrip(), tail.lstrip(" *_`.:!?。！？：」』\n")
                head_piece = [(id, head)] if head else []
                tail_piece = [(id, tail)] if tail else []
                split = [
                    *pieces[:place],
                    *head_piece,
                    (id, idea),
                    *tail_piece,
                    *pieces[place + 1 :],
                ]
                return split, place + len(head_piece)
    return [], None


def _likely_excerpt(memory: Memory, turn: Sequence[Memory], scores: Mapping[str, float]) -> Excerpt:
    """Return an idea's text, followed by the passage that it was most likely taken from."""
    terms = set(analysis.analyse(memory.text))
    shares = [len(terms & set(analysis.analyse(passage.text))) for passage in turn]
    if not shares or not max(shares):
        return Excerpt(memory.text)
    place = shares.index(max(shares))
    pieces = [(passage.id, str(passage.text)) for passage in turn]
    room = WHOLE_CHARS - len(memory.text)
    chosen = _places_shown(pieces, place, room, scores)
    text = f"{memory.text}\n\n[in] {_join_pieces(pieces, chosen)}"
    return Excerpt(text, frozenset(pieces[index][0] for index in chosen), turn[place].id)


def number_of(memory: Memory) -> int:
    """Return a passage's place in its exchange."""
    return place_in_exchange(memory.external_id)


def _places_shown(
    pieces: Sequence[tuple[str, str]], place: int, most: int, scores: Mapping[str, float]
) -> list[int]:
    """Return the places that are shown with one of them: first those that a search found too, by their
    scores and how near they are, then its neighbours.

    Args:
        pieces: (id, text) at each place.
        most: how many characters fit.
        scores: by id; about 0 … 1.

    Returns:
        Places in their order, the one itself among them.
    """

    def order(other: int) -> tuple[float, int, int]:
        distance = abs(other - place)
        # What was not found is below all that was; what comes after says more than what came before.
        gain = scores.get(pieces[other][0], -1.0) + NEAR / (1 + distance)
        return -gain, distance, -other

    sizes = [len(text) for _, text in pieces]
    chosen, room = [place], most - sizes[place]
    for other in sorted((other for other in range(len(sizes)) if other != place), key=order):
        if sizes[other] <= room:
            chosen.append(other)
            room -= sizes[other]
    return sorted(chosen)
