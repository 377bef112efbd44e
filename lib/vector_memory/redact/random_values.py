"""Values that no word, name or path could be, and around which enough says that they are secret: whatever
the grammar between a name and its value is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from vector_memory.redact import names
from vector_memory.redact.automaton import Meter, finder
from vector_memory.redact.randomness import strangeness
from vector_memory.redact.spans import Span
from vector_memory.redact.values import UUID, is_type_name

_CHARACTERS = rb"[A-Za-z0-9_+/.~-]*"
CLUE = (
    _CHARACTERS
    + rb"(?:[A-Za-z]+[-_.]?[0-9]+[-_.]?[A-Za-z]+[-_.]?[0-9]|[0-9][A-Za-z][A-Za-z_-]*[0-9]+[A-Za-z]|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-)"
    + _CHARACTERS
)
"""Letters and digits in turn, twice, in one run: random values nearly always have it, words hardly."""
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
_BEFORE, _SENTENCE = 100, 200
_WORDS_BEFORE = 4
"""Characters and words before a value that are looked at, and characters of its sentence."""
_STOPS = ("\n", ". ", "! ", "? ", "; ")
_NAME_PART = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+")
_HEX = ("0123456789abcdef", "0123456789ABCDEF")
_PLAIN = re.compile(r"(?!.*(.)\1\1)(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9_.-]{20,80}")
_OF_ONE_CASE = re.compile(r"(?!.*(.)\1\1)[A-Z0-9_.-]{20,80}")
_LEAST_SWITCHES = 3
"""From digits to letters, in a random value of one case, such as base32."""
_EMPTY = re.compile(r"[ \t>]*(?:(?:```|~~~)\w*[ \t]*)?")
_FILE = re.compile(r"\.(?:[a-z]{2,5}|[hcoa])(?![A-Za-z0-9_.-])")
_LAST_WORDS = ("token", "secret", "password", "key", "access")
_CLOSING, _MOST_CLOSING = "\"'`,;)}]= \t", 8
"""What stands behind a value at the end of its line."""
_CACHED = 8_192
_LEAST_HEX = 20
_LEAST_DIGITS = 4
"""Of a number before a digest, as columns have it that git prints."""


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
    end = run.find("/")
    while end >= 0:
        if end - start <= 3 or strangeness(run[start:end]) <= _ODD:
            yield start, end
            start = end + 1
        end = run.find("/", end + 1)
    yield start, len(run)


def find_randoms(text: str, plain: bytes, meter: Meter) -> Iterator[Span]:
    """Yield random values that are secret by what stands before them."""
    for start, end in candidates(text, plain, meter):
        if is_named(text, start, end):
            yield Span(start, end, "secret")


# -- whether the words around a value make it a secret ---------------------------------------------


def is_named(text: str, start: int, end: int) -> bool:
    """Whether what stands before a random value, from `start` to `end`, says that it is secret."""
    hexadecimal = any(not text[start:end].strip(digits) for digits in _HEX)
    if hexadecimal and (
        end - start < _LEAST_HEX or _follows_number(text[max(0, start - 12) : start])
    ):
        return False
    near, sorts = _near(text, start), names.sorts()
    if near and (near[0] in sorts["else"] or _is_of_public_key(near)):
        return False
    if _FILE.search(text, start, end + 8):
        return near[:1] != [] and (near[0] in sorts["secret"] or sorts["hint"].issuperset(near[:2]))
    if not sorts["secret"].isdisjoint(near[:4]) or not sorts["hint"].isdisjoint(near[:1]):
        return True
    if len(sorts["hint"].intersection(near[:3])) > 1 or not sorts["service"].isdisjoint(near[:2]):
        return True
    if hexadecimal or UUID.fullmatch(text, start, end):
        return False
    return _is_spoken_of(text, start, end) or _is_named_alone(text, start, end)


def _is_of_public_key(near: list[str]) -> bool:
    return near[0] in ("key", "keys") and not names.sorts()["public"].isdisjoint(near[1:2])


def _is_spoken_of(text: str, start: int, end: int) -> bool:
    """Whether the sentence before a value speaks of a secret, however far from it: "here is the API key for the
    bucket, put it into .env: …"."""
    if not (_PLAIN.fullmatch(text, start, end) or _is_of_one_case(text, start, end)):
        return False
    before = text[max(0, start - _SENTENCE) : start]
    sentence = before[max(before.rfind(stop) for stop in _STOPS) + 1 :]
    sentence_words = [_word(part) for part in _NAME_PART.findall(sentence)]
    sorts = names.sorts()
    return (
        not sorts["secret"].isdisjoint(sentence_words)
        or len(sorts["hint"].intersection(sentence_words)) > 1
    )


def _is_of_one_case(text: str, start: int, end: int) -> bool:
    if not _OF_ONE_CASE.fullmatch(text, start, end):
        return False
    pairs = pairwise(text[start:end])
    return sum(sign.isdigit() and after.isalpha() for sign, after in pairs) >= _LEAST_SWITCHES


def _follows_number(before: str) -> bool:
    bare = before.rstrip(": \t\r\n")
    return bare != before and bare[-_LEAST_DIGITS:].isdecimal() and len(bare) >= _LEAST_DIGITS


@lru_cache(_CACHED)
def _word(part: str) -> str:
    """Return a part of a name as it is listed: of words that are written together the last one counts."""
    part = part.lower()
    if part in names.sorts()["else"]:
        return part
    ends = (last for last in _LAST_WORDS if part[1:].endswith((last, f"{last}s")))
    return next(ends, part)


def _near(text: str, start: int) -> list[str]:
    """Return the words before a value on its line, the nearest first; those on the line before too, where it
    is the first word: a blank line or a fence may stand between."""
    *earlier, line = text[max(0, start - _BEFORE) : start].split("\n")
    parts = _NAME_PART.findall(line)
    if names.sorts()["of"].issuperset(map(str.lower, parts)):
        lines = (line for line in reversed(earlier) if not _EMPTY.fullmatch(line))
        parts = _NAME_PART.findall(next(lines, "")) + parts
    return [_word(part) for part in parts[: -_WORDS_BEFORE - 1 : -1]]


def _is_named_alone(text: str, start: int, end: int) -> bool:
    """Whether a line holds nothing but the value and a few words that it is given to."""
    after = text[end : end + _MOST_CLOSING + 1].split("\n", 1)[0]
    ends_line = len(after) <= _MOST_CLOSING and not after.strip(_CLOSING)
    if not ends_line or not _PLAIN.fullmatch(text, start, end):
        return False
    first = max(0, start - _BEFORE)
    line_start = text.rfind("\n", first, start) + 1
    word_count = len(_NAME_PART.findall(text, line_start, start))
    return (line_start > first or not first) and 1 <= word_count <= 4
