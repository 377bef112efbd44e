"""Values that no word, name or path could be, and around which enough says that they are secret: whatever
the grammar between a name and its value is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vector_memory.redact.automaton import Meter, finder
from vector_memory.redact.randomness import strangeness
from vector_memory.redact.spans import Span
from vector_memory.redact.surroundings import is_named
from vector_memory.redact.values import UUID, is_type_name

_CHARACTERS = rb"[A-Za-z0-9_+/.~-]*"
CLUE = (
    _CHARACTERS
    + rb"(?:[A-Za-z]+[-_.]?[0-9]+[-_.]?[A-Za-z]+[-_.]?[0-9]|[0-9][A-Za-z][A-Za-z_-]*[0-9]+[A-Za-z]|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-)"
    + _CHARACTERS
)
"""Letters and digits in turn, twice, in one run: random values nearly always have it, words hardly."""
_SLASHES = re.compile(r"/+")
_LEAD = re.compile(r"(?:[A-Za-z]{2,}\d?[-_.]+)+(?=[A-Za-z0-9])")
_DIGEST = re.compile(r"(?:^|[^a-z])(?:sha\d{1,3}|md5)[-:=]?", re.IGNORECASE)
"""What lock files and lists of files have before a digest."""
_NUMBER = re.compile(r"0x|v?\d{1,4}\.\d{1,4}[-+~.]")
"""How numbers and versions begin."""
_BLOCK = re.compile(r"[A-Za-z0-9+/=]{40}[\"',]?$")
_RUN_WEIGHT, _VALUE_WEIGHT = 0.3, 0.7
LEAST = 16
LONGEST = 1_000
_ODD = 5.4
"""Bits a character from which on a value is no word."""


def candidates(text: str, plain: bytes, meter: Meter) -> Iterator[tuple[int, int]]:
    """Yield where values stand that are too odd for a word."""
    for hit in finder(CLUE).finditer(plain):
        first, last = hit.span()
        if LEAST <= last - first <= LONGEST and not _DIGEST.search(
            text, max(0, first - 8), first + 7
        ):
            meter.count(_RUN_WEIGHT)
            for place in _values(text, first, last):
                meter.count(_VALUE_WEIGHT)
                yield place


def _values(text: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a run of characters that may be a value."""
    run = text[first:last]
    uuid = UUID.search(run)
    if uuid:
        place = first + uuid.start(), first + uuid.end()
        if not _is_no_value(text, *place):
            yield place
        return
    for start, end in _parts(run):
        lead = _LEAD.match(run, start, end)
        if lead and end - lead.end() >= LEAST and strangeness(lead.group()) < _ODD:
            start = lead.end()
        end = start + len(run[start:end].rstrip(".-_:~"))
        place = first + start, first + end
        if (
            end - start >= LEAST
            and not _is_no_value(text, *place)
            and strangeness(run[start:end]) >= _ODD
        ):
            yield place


def _is_no_value(text: str, start: int, end: int) -> bool:
    """Whether a stretch is what looks random and is none: a number, a range, a line of a block."""
    value = text[start:end]
    if _NUMBER.match(value) or ".." in value or is_type_name(value):
        return True
    line = text.rfind("\n", max(0, start - 40), start)
    return (
        line >= 0
        and not text[line:start].strip()
        and bool(_BLOCK.search(text, max(0, line - 60), line))
    )


def _parts(run: str) -> Iterator[tuple[int, int]]:
    """Yield the parts between what separates names, paths and values; base64 has "/" and "=" itself."""
    start = 0
    for slashes in _SLASHES.finditer(run):
        if strangeness(run[start : slashes.start()]) > _ODD and slashes.start() - start > 3:
            continue
        yield start, slashes.start()
        start = slashes.end()
    yield start, len(run)


def find_randoms(text: str, plain: bytes, meter: Meter) -> Iterator[Span]:
    """Yield random values that are secret by what stands before them."""
    for start, end in candidates(text, plain, meter):
        if is_named(text, start, end):
            yield Span(start, end, "secret")
