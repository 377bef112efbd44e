"""What of a prompt the user did not type himself: mails, logs, documents, lists that were pasted into it.

Told by form alone, whatever the language: how lines begin and end, and what stands around them. A block
that shows where it ends (a fence, a quotation, output of a machine) leaves what follows it to the user; a
document does not, and reaches to the prompt's end.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from vector_memory.text import tables
from vector_memory.text.statements import FENCE, ITEM_HEAD, is_rule

LONG_PROMPT = 1_500
LONG_LINES = 25
"""From here on only how a prompt begins and ends may be the user's."""
OWN_CHARS = 400
"""Characters of a paragraph that may be the user's own before or after what he pasted."""
OWN_ITEMS, ITEM_CHARS = 5, 160
"""A list of more, or of longer items, was written elsewhere."""
LEAST_LETTERS = 0.6
"""The share of letters and spaces below which a line is a machine's."""
SHORT_LINE = 16

_BLANK, _TYPED, _ITEM, _MACHINE, _NOISE, _QUOTE, _FENCED, _FIELD, _OPENING = range(9)
_WITH_END = (_QUOTE, _FENCED, _NOISE)
"""What shows where it ends."""
_PATTERNS = tables.patterns("pastes", os.path.dirname(__file__), 0)
_COLONS = (":", "\uff1a")


class _Line(NamedTuple):
    start: int
    end: int
    form: int


def typed_and_pasted(text: str) -> list[tuple[str, bool]]:
    """Return a prompt in parts, in order, each with whether it was pasted. The parts make up the prompt."""
    return list(_parts(text))


def typed_words(text: str) -> str:
    """Return a prompt without what was pasted into it."""
    return "".join(part for part, is_pasted in _parts(text) if not is_pasted)


@lru_cache(32)
def _parts(text: str) -> tuple[tuple[str, bool], ...]:
    # Passages and ideas are made of the same prompt, one after the other.
    if "\n" not in text.strip() and len(text) <= LONG_PROMPT:
        return ((text, False),)
    lines = list(_lines(text))
    foreign = _foreign_places(text, lines)
    parts = []
    for is_foreign, group in groupby(range(len(lines)), key=lambda place: place in foreign):
        places = list(group)
        parts.append((text[lines[places[0]].start : lines[places[-1]].end + 1], is_foreign))
    return tuple(parts)


def _lines(text: str) -> Iterator[_Line]:
    start, fence = 0, ""
    for line in text.split("\n"):
        end = start + len(line)
        fence_match = FENCE.match(line)
        if fence or fence_match:
            yield _Line(start, end, _FENCED)
            if not fence:
                fence = fence_match[1] if fence_match else ""
            elif line.strip().startswith(fence) and not line.strip(" \t" + fence[0]):
                fence = ""
        else:
            # Terminals end a line that goes on with a backslash.
            yield _Line(start, end, _line_form(line.rstrip("\\")))
        start = end + 1


def _line_form(line: str) -> int:
    if not line.strip() or is_rule(line):
        return _BLANK
    if line[:4].lstrip().startswith(">"):
        return _QUOTE
    if _PATTERNS["opens"].match(line):
        return _OPENING
    if _PATTERNS["printed"].match(line):
        return _MACHINE
    letters = sum(char.isalpha() or char.isspace() for char in line)
    if len(line) >= SHORT_LINE and letters < LEAST_LETTERS * len(line):
        return _NOISE
    if _PATTERNS["named"].match(line):
        return _FIELD
    return _ITEM if ITEM_HEAD.match(line) else _TYPED


def _foreign_places(text: str, lines: Sequence[_Line]) -> set[int]:
    """Return the places of the lines that are not the user's."""
    document_start = _document_start(text, lines)
    foreign = set(range(document_start, len(lines)))
    is_machine = False
    for place, line in enumerate(lines[:document_start]):
        # What stands between and behind lines of a machine is most likely of the same output.
        is_machine = is_machine or line.form == _MACHINE
        if is_machine or line.form in _WITH_END:
            foreign.add(place)
    foreign |= _long_lists(lines)
    if is_machine and document_start == len(lines):
        foreign -= _last_paragraph(lines)
    return foreign | _middle_places(lines)


def _document_start(text: str, lines: Sequence[_Line]) -> int:
    """Return the place of the line with which a document begins that reaches to the end, as many as
    there are lines for none."""
    text_places = [place for place, line in enumerate(lines) if line.form != _BLANK]
    if not text_places:
        return len(lines)
    stamps = [
        place
        for place in text_places
        if _PATTERNS["stamped"].fullmatch(text, lines[place].start, lines[place].end)
    ]
    for place, next_place in zip(text_places, [*text_places[1:], len(lines)], strict=True):
        line, following = lines[place], lines[next_place].form if next_place < len(lines) else None
        if line.form == _OPENING:
            return place
        if line.form == _FIELD and following == _FIELD:
            return place
        if place in stamps[:-1] or (line.form == _TYPED and _begins_letter(text, lines, place)):
            return place
        words = text[line.start : line.end].rstrip("\\").rstrip()
        hands_over = line.form in (_TYPED, _FIELD) and words.endswith(_COLONS)
        # Behind a block that shows its own end the user goes on.
        if hands_over and following not in (None, _MACHINE, *_WITH_END):
            return next_place
    return len(lines)


def _begins_letter(text: str, lines: Sequence[_Line], place: int) -> bool:
    """Whether a line is the greeting of a letter: short, alone, with a comma at its end, and more below."""
    is_alone = place > 0 and lines[place - 1].form == _BLANK or place == 0
    greeting = _PATTERNS["greeting"].match(text, lines[place].start, lines[place].end)
    return is_alone and greeting is not None and place + 2 < len(lines)


def _long_lists(lines: Sequence[_Line]) -> set[int]:
    """Return the places of the lists that are too long to have been typed."""
    long_places: set[int] = set()
    places = [place for place, line in enumerate(lines) if line.form != _BLANK]
    for is_list, group in groupby(places, key=lambda place: lines[place].form == _ITEM):
        items = list(group)
        longest = max(lines[place].end - lines[place].start for place in items)
        if is_list and (len(items) > OWN_ITEMS or longest > ITEM_CHARS):
            long_places.update(items)
    return long_places


def _last_paragraph(lines: Sequence[_Line]) -> set[int]:
    """Return the places of a last short paragraph that stands apart from a machine's lines."""
    end = len(lines)
    while end and lines[end - 1].form == _BLANK:
        end -= 1
    start = end
    while start and lines[start - 1].form == _TYPED:
        start -= 1
    is_apart = 0 < start < end and lines[start - 1].form == _BLANK
    is_short = is_apart and lines[end - 1].end - lines[start].start <= OWN_CHARS
    return set(range(start, end)) if is_short else set()


def _middle_places(lines: Sequence[_Line]) -> set[int]:
    """Return the places between the first and the last paragraph of a long prompt."""
    text_places = [place for place, line in enumerate(lines) if line.form != _BLANK]
    size = sum(lines[place].end - lines[place].start for place in text_places)
    if (size <= LONG_PROMPT and len(text_places) <= LONG_LINES) or len(text_places) < 2:
        return set()
    blank_places = [
        place for place in range(text_places[0], text_places[-1]) if lines[place].form == _BLANK
    ]
    return set(range(blank_places[0], blank_places[-1] + 1)) if blank_places else set()
