"""Secrets in the columns of a table: the cells below a head that says "password", "api_token", "secret key"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vector_memory.redact.automaton import Meter, finder
from vector_memory.redact.spans import Span
from vector_memory.redact.values import PASSWORD, SECRET, is_secret

_PASSWORDS = r"pass(?:word|wd|phrase|code)?s?|pwd|pw|passwort|kennwort"
_KEYS = r"secret|token|(?:api|access|private|secret)[ _-]?key"
CLUE = rf"(?i:(?:{_PASSWORDS}|{_KEYS})[ \"'`*]{{0,4}}[|,\t\n])".encode()
"""What every text holds in which there is one."""
_NAMED = re.compile(
    rf"(?:[\w .-]{{0,40}}[\W_])?(?:(?P<password>{_PASSWORDS})|{_KEYS})", re.IGNORECASE
)
_AROUND = " \t\r\"'`*"
_BAR = "|"
_PARTS = (_BAR, "\t", ",")
_RULE = frozenset("-+|=: \t\r")
"""The characters of the line between a head and its cells, where bars part them."""
_LONGEST_LINE, _MOST_ROWS = 2_000, 500
_HEAD_WEIGHT, _ROW_WEIGHT = 0.2, 0.1


def find_columns(text: str, plain: bytes, meter: Meter) -> Iterator[Span]:
    """Yield the secrets below heads that name them."""
    end = 0
    for hit in finder(CLUE).finditer(plain):
        if hit.start() < end:
            continue
        meter.count(_HEAD_WEIGHT)
        first = text.rfind("\n", max(0, hit.start() - _LONGEST_LINE), hit.start()) + 1
        (_, head), *rows = _lines(text, first, 2)
        part = next((part for part in _PARTS if part in head), "")
        if not part or not rows or not _is_head(head, rows[0][1], part):
            continue
        names, kinds = head.split(part), _kinds(head.split(part))
        for start, row in _lines(text, rows[0][0], _MOST_ROWS) if kinds else ():
            meter.count(_ROW_WEIGHT)
            cells = row.split(part)
            if len(cells) != len(names) and not _RULE.issuperset(row):
                break
            end = start + len(row)
            for place, kind in kinds.items():
                value = cells[place].strip(_AROUND) if place < len(cells) else ""
                if value and is_secret(value, kind, part == _BAR, is_plain=True):
                    before = len(part.join([*cells[:place], ""])) + cells[place].index(value)
                    yield Span(start + before, start + before + len(value), kind)


def _is_head(line: str, below: str, part: str) -> bool:
    """Whether a line is the head of a table: a rule stands below it, or nothing but words in it."""
    return _RULE.issuperset(below) if part == _BAR else not any(map(str.isdigit, line))


def _kinds(names: list[str]) -> dict[int, str]:
    """Return what the columns hold that are named as secrets, by their places."""
    named = {place: _NAMED.fullmatch(name.strip(_AROUND)) for place, name in enumerate(names)}
    return {
        place: PASSWORD if name["password"] else SECRET for place, name in named.items() if name
    }


def _lines(text: str, start: int, most: int) -> Iterator[tuple[int, str]]:
    """Yield lines from a place on, each with where it begins."""
    for _ in range(most):
        stop = text.find("\n", start, start + _LONGEST_LINE)
        yield start, text[start : stop if stop >= 0 else start + _LONGEST_LINE]
        if stop < 0:
            return
        start = stop + 1
