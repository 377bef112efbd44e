"""Whether the words around a random value make it a secret: a name for secrets or a service before it,
whatever stands between."""

from __future__ import annotations

import os
import re
from functools import cache
from itertools import pairwise

from vector_memory.redact.values import UUID
from vector_memory.text import tables

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
_LEAST_HEX = 20
_LEAST_DIGITS = 4
"""Of a number before a digest, as columns have it that git prints."""


@cache
def words() -> dict[str, frozenset[str]]:
    """Return the words of each sort, as `names.txt` has them."""
    return tables.sets("names", os.path.dirname(__file__))


def is_named(text: str, start: int, end: int) -> bool:
    """Whether what stands before a random value, from `start` to `end`, says that it is secret."""
    hexadecimal = any(not text[start:end].strip(digits) for digits in _HEX)
    if hexadecimal and (
        end - start < _LEAST_HEX or _follows_number(text[max(0, start - 12) : start])
    ):
        return False
    near, sorts = _near(text, start), words()
    if near and near[0] in sorts["else"]:
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


def _is_spoken_of(text: str, start: int, end: int) -> bool:
    """Whether the sentence before a value speaks of a secret, however far from it: "here is the API key for the
    bucket, put it into .env: …"."""
    if not (_PLAIN.fullmatch(text, start, end) or _is_of_one_case(text, start, end)):
        return False
    before = text[max(0, start - _SENTENCE) : start]
    said = before[max(before.rfind(stop) for stop in _STOPS) + 1 :]
    named = [_word(part) for part in _NAME_PART.findall(said)]
    sorts = words()
    return not sorts["secret"].isdisjoint(named) or len(sorts["hint"].intersection(named)) > 1


def _is_of_one_case(text: str, start: int, end: int) -> bool:
    if not _OF_ONE_CASE.fullmatch(text, start, end):
        return False
    pairs = pairwise(text[start:end])
    return sum(sign.isdigit() and after.isalpha() for sign, after in pairs) >= _LEAST_SWITCHES


def _follows_number(before: str) -> bool:
    bare = before.rstrip(": \t\r\n")
    return bare != before and bare[-_LEAST_DIGITS:].isdecimal() and len(bare) >= _LEAST_DIGITS


def _word(part: str) -> str:
    """Return a part of a name as it is listed: of words that are written together the last one counts."""
    part = part.lower()
    ends = (last for last in _LAST_WORDS if part[1:].endswith((last, f"{last}s")))
    return next(ends, part)


def _near(text: str, start: int) -> list[str]:
    """Return the words before a value on its line, the nearest first; those on the line before too, where it
    is the first word: a blank line or a fence may stand between."""
    *earlier, line = text[max(0, start - _BEFORE) : start].split("\n")
    parts = _NAME_PART.findall(line)
    if words()["of"].issuperset(map(str.lower, parts)):
        said = (line for line in reversed(earlier) if not _EMPTY.fullmatch(line))
        parts = _NAME_PART.findall(next(said, "")) + parts
    return [_word(part) for part in parts[: -_WORDS_BEFORE - 1 : -1]]


def _is_named_alone(text: str, start: int, end: int) -> bool:
    """Whether a line holds nothing but the value and a few words that it is given to."""
    after = text[end : end + _MOST_CLOSING + 1].split("\n", 1)[0]
    ends_line = len(after) <= _MOST_CLOSING and not after.strip(_CLOSING)
    if not ends_line or not _PLAIN.fullmatch(text, start, end):
        return False
    first = max(0, start - _BEFORE)
    line_start = text.rfind("\n", first, start) + 1
    named = len(_NAME_PART.findall(text, line_start, start))
    return (line_start > first or not first) and 1 <= named <= 4
