"""Secrets whose name stands in one field of a flat object and whose value in another, whichever comes first: variables and
parameters of clouds and CI, recorded requests, lists in YAML, tags of XML."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vector_memory.redact import names
from vector_memory.redact.automaton import Meter, finder
from vector_memory.redact.pairs import ASSIGNED, QUOTINGS
from vector_memory.redact.spans import Span
from vector_memory.redact.values import is_secret

_ENDS = rb"(?:" + names.ANY + rb"|sess|sid|cookie)[\w?]*\\*[\"']?"
CLUE = (
    rb"(?i:\b(?:name|label|key(?:_?name)?)\\*[\"']?\s{0,4}[:=]\s{0,4}\\*[\"']?[\w./:@-]*" + _ENDS
    + rb"|[\w.-]*" + _ENDS + rb"[ ]?:[ \t]*[{\n])"
)  # fmt: skip
"""A field that gives a name, or the name of an object."""
_VALUE = re.compile(
    rf"\b(?:value|default(?:_?value)?)\\{{0,4}}[\"']?\s{{0,4}}[:=]\s{{0,4}}{ASSIGNED}", re.I
)
_BOUNDS, _BETWEEN, _COOKIES = frozenset("{}<>();"), " \t\n,\"'", str.maketrans("=;", "  ")
_REACH, _LONGEST, _INDENTED = 400, 900, 200
"""Characters between two fields, of a value with its name, and before a field on its line."""
_WEIGHT, _HIT_WEIGHT = 0.3, 0.05


def find_fields(text: str, plain: bytes, meter: Meter) -> Iterator[Span]:
    """Yield the values beside fields that name them as secrets."""
    for hit in finder(CLUE).finditer(plain):
        start, end = hit.span()
        is_owner = text[end - 1] in "{\n"
        field, _, assigned = text[start:end].replace("=", ":", 1).partition(":")
        name = (field if is_owner else assigned).strip(" \t\\\"'")
        kind, is_session = names.promised(name), names.is_of_session(name)
        meter.count(_WEIGHT if kind else _HIT_WEIGHT)
        value = _value_beside(text, start, end, is_owner) if kind else None
        if not kind or not value or text[value.end() : value.end() + 1] == "(":
            continue
        place = value.span(next(filter(value.group, QUOTINGS)))
        # Only right behind a name a word may be one: other fields have words of all kinds.
        between = text[end : value.start()]
        is_next = field.strip(" \t\\\"'").lower() == "name" and between != "" == between.strip(
            _BETWEEN
        )
        words = text[slice(*place)]
        parts = words.translate(_COOKIES).split() if is_session else [words]
        if any(is_secret(part, kind, is_next, is_plain=True) for part in parts):
            yield Span(*place, kind)


def _value_beside(text: str, start: int, end: int, is_owner: bool) -> re.Match[str] | None:
    """Return the value behind a name in its object, or else before it."""
    value = _VALUE.search(text, end, end + _REACH + _LONGEST)
    if (
        value
        and value.start() <= end + _REACH
        and _is_flat(text, start, end, value.start(), is_owner)
    ):
        return value
    before = None if is_owner else [*_VALUE.finditer(text, max(0, start - _REACH), start)]
    if before and _is_flat(text, before[-1].start(), before[-1].end(), start, False):
        return before[-1]
    return None


def _is_flat(text: str, start: int, end: int, then: int, is_owner: bool) -> bool:
    """Whether nothing but other fields of the same object stands between one, from `start` to `end`, and the next."""
    between = text[end:then]
    if not (is_owner or between.strip(_BETWEEN)):
        return True
    outside = "".join(between.split('"')[::2])
    least = max(0, start - _INDENTED)
    lines = text[max(least, text.rfind("\n", least, start) + 1) : then].split("\n")
    if not _BOUNDS.isdisjoint(outside) or any(line.lstrip()[:1] == "-" for line in lines[1:]):
        return False
    owner, *fields = [len(line) - len(line.lstrip(" \t-{")) for line in lines]
    if is_owner:
        return not fields or owner < min(fields) == max(fields)
    return {owner}.issuperset(fields)
