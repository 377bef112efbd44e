"""Secrets in the columns of a table with bars: the cells below a head that says "password", "api_token", "secret key".

Clients of databases and pages in Markdown have a rule between head and cells. What commas or tabs part is left alone:
code and prose look the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from vector_memory.redact.automaton import Meter, finder
from vector_memory.redact.spans import Span
from vector_memory.redact.values import PASSWORD, is_secret, is_telling

_PASSWORDS = r"pass(?:word|wd|phrase|code)|pwd|passwort|kennwort"
_KEYS = r"secret|token|(?:api|access|private|secret)[ _-]?key"
CLUE = rf"(?i:(?:{_PASSWORDS}|{_KEYS})[ \"'`*]{{0,200}}[|\n?])".encode()
"""What every text holds in which there is one: a client fills a head's cell up with blanks to the width of the values.
Bars of box drawing are question marks in ASCII."""
_NAMED = re.compile(
    rf"(?:[\w .-]{{0,40}}[\W_])?(?:(?P<password>{_PASSWORDS})|{_KEYS})", re.IGNORECASE
)
_AROUND = " \t\r\"'`*"
_BARS = str.maketrans("│┃║", "|||")
_RULE = frozenset("-+|=: \t\r─━═├┤┼╞╪╡╟╫╢╠╬╣┣╋┫┝┿┥┠╂┨")
"""The characters of the line between a head and its cells."""
_LONGEST_LINE = 2_000
_LEAST_KEY = 16
"""Characters of a key: what is shorter may be the name of one."""
_LINE_WEIGHT = 0.05


def find_columns(text: str, plain: bytes, meter: Meter) -> Iterator[Span]:
    """Yield the secrets below heads that name them."""
    end = 0
    for hit in finder(CLUE).finditer(plain):
        start = text.rfind("\n", max(0, hit.start() - _LONGEST_LINE), hit.start()) + 1
        if hit.start() < end or hit.start() - start > _LONGEST_LINE:
            continue
        meter.count(_LINE_WEIGHT)
        lines = _lines(text, start)
        end, head = next(lines)
        kinds = _kinds(head) if "|" in head else {}
        # The rule below it.
        if not kinds or not _RULE.issuperset(next(lines, (0, "?"))[1]):
            continue
        size = head.count("|")
        for stop, row in lines:
            is_rule = _RULE.issuperset(row)
            if not is_rule and row.count("|") != size:
                break
            meter.count(_LINE_WEIGHT)
            end = stop
            if not is_rule:
                yield from _in_row(row, stop - len(row), kinds)


def _in_row(row: str, start: int, kinds: dict[int, bool]) -> Iterator[Span]:
    for place, cell in enumerate(row.split("|")):
        value = cell.strip(_AROUND)
        if place in kinds and value and _is_secret(value, kinds[place]):
            first = start + cell.index(value)
            yield Span(first, first + len(value), PASSWORD if kinds[place] else "secret")
        start += len(cell) + 1


def _is_secret(value: str, is_password: bool) -> bool:
    if is_password:
        return is_secret(value, PASSWORD, quoted=False)
    return len(value) >= _LEAST_KEY and is_telling(value)


def _kinds(head: str) -> dict[int, bool]:
    """Return which columns hold what is named as a secret, by their places, and whether that is a password."""
    named = {place: _NAMED.fullmatch(name.strip(_AROUND)) for place, name in enumerate(head.split("|"))}  # fmt: skip
    return {place: bool(name["password"]) for place, name in named.items() if name}


def _lines(text: str, start: int) -> Iterator[tuple[int, str]]:
    """Yield lines from a place on, each with where it ends."""
    while start < len(text):
        stop = text.find("\n", start, start + _LONGEST_LINE)
        stop = stop if stop >= 0 else min(len(text), start + _LONGEST_LINE)
        yield stop, text[start:stop].translate(_BARS)
        start = stop + 1
