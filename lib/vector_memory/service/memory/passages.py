"""A passage of a transcript with what stood around it: small texts are found, larger ones are read.

Source: "small to big" retrieval; what is ranked is small, what is given has its context.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from vector_memory.model import DONE_HEAD, PASSAGE, Memory
from vector_memory.service.base.shelf import Shelf
from vector_memory.text import analysis, harmless

WHOLE_CHARS = 1_400
"""Characters of a passage and what stood around it, at most."""
LONG_DONE = 150
LEAST_WORDS, MOST_WORDS = 4, 24
"""By how many words in a row an idea is found in a passage."""

_WORD = re.compile(r"\w+")
_LEADS = re.compile(r"(?:\s|[-*_`#>]|\d+\.|\b(?:User|Assistant|Task):)+\Z")


def in_context(shelf: Shelf, memory: Memory) -> str:
    """Return a memory's text, followed by what came after and before it in the same exchange, as far as
    there is room: an idea is explained by the sentences around it, a passage by its neighbours."""
    if not memory.source.path or not memory.source.session:
        return memory.text
    of_turn = shelf.journal.of_turn(memory.source, memory.project)
    # What is held back comes with its own warning, not behind another's text.
    turn = [
        one for one in of_turn if one.kind == PASSAGE and (not one.is_held or one.id == memory.id)
    ]
    turn.sort(key=number_of)
    texts: list[str] = [one.text for one in turn]
    place = next((at for at, one in enumerate(turn) if one.id == memory.id), None)
    if place is None:
        texts, place = _parted(texts, memory.text)
    if place is None:
        return said_in(memory, turn)
    before, after = around([len(one) for one in texts], place, WHOLE_CHARS)
    parts = [_talk_first(memory.text)]
    if after:
        parts.append("[then] " + "\n".join(texts[place + 1 : place + 1 + after]))
    if before:
        parts.append("[before] " + "\n".join(texts[place - before : place]))
    return "\n\n".join(parts)


def _talk_first(text: str) -> str:
    """Return a passage with long lists of what was done after what was said: who reads only how it
    begins reads the talk."""
    lines = text.split("\n")
    done = [one for one in lines if one.startswith(DONE_HEAD) and len(one) > LONG_DONE]
    return "\n".join([*(one for one in lines if one not in done), *done])


def _parted(texts: Sequence[str], idea: str) -> tuple[list[str], int | None]:
    """Return the passages of an exchange with the one in which an idea was said cut in two, the idea
    between both halves, and the idea's place; None where it stands in none of them word for word."""
    for said in (idea, idea.partition(": ")[2]):
        words = _WORD.findall(said)[:MOST_WORDS]
        if len(words) < LEAST_WORDS:
            continue
        # A passage has the marks of Markdown, which an idea has not.
        pattern = re.compile(r"\W+".join(map(re.escape, words)), re.IGNORECASE)
        for place, text in enumerate(texts):
            if found := pattern.search(text):
                end = found.end() if len(words) < MOST_WORDS else found.start() + len(said)
                head, _, tail = harmless.parted(
                    [text[: found.start()], text[found.start() : end], text[end:]]
                )
                head, tail = _head(head), tail.lstrip(" *_`.:!?\n")
                parted = [*texts[:place], head, idea, tail, *texts[place + 1 :]]
                at = place + 1
                kept = [one for number, one in enumerate(parted) if one or number == at]
                return kept, at if head else at - 1
    return [], None


def _head(text: str) -> str:
    """Return what stands before an idea, without what leads to it alone."""
    return _LEADS.sub("", text).rstrip()


def said_in(memory: Memory, turn: Sequence[Memory]) -> str:
    """Return an idea's text, followed by the passage that it was most likely taken from."""
    terms = set(analysis.analyse(memory.text))
    shares = [len(terms & set(analysis.analyse(one.text))) for one in turn]
    if not shares or not max(shares):
        return memory.text
    place = shares.index(max(shares))
    sizes = [len(one.text) for one in turn]
    before, after = around(sizes, place, WHOLE_CHARS - len(memory.text))
    found = turn[place - before : place + 1 + after]
    return f"{memory.text}\n\n[in] " + "\n".join(one.text for one in found)


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
