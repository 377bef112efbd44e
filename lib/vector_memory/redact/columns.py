"""Secrets in the columns of a table with bars: the cells below a head that says "password", "api_token", "secret key";
and in those of what SQL inserts.

Clients of databases and pages in Markdown have a rule between head and cells. What else commas or tabs part is left
alone: code and prose look the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from vector_memory.redact import names
from vector_memory.redact.automaton import Meter, finder
from vector_memory.redact.spans import Span
from vector_memory.redact.values import PASSWORD, SECRET, is_said, is_secret, is_telling

_BEHIND = rb"(?:[ 0-9#\"'`*]|\([0-9]+\))*"
CLUE = (
    rb"(?:(?i:" + names.ANY_NAME + rb")\w{0,8}" + _BEHIND + rb"[|\n?]"
    rb"|" + names.IN_OTHER_LETTERS + _BEHIND + rb"\|)"
)  # fmt: skip
"""What every text holds in which there is one: a client fills a head's cell up with blanks to the width of the values.
Bars of box drawing are question marks in ASCII."""
_AROUND = " \t\r\"'`*\\"
_BARS = str.maketrans(dict.fromkeys("│┃║┆┇┊┋╎╏", "|"))
_RULE = frozenset("-+|=: \t\r").union(map(chr, range(0x2500, 0x2580)))
"""The characters of the line between a head and its cells."""
_LONGEST_LINE = 2_000
_LEAST_KEY = 16
"""Characters of a key: what is shorter may be the name of one."""
_LINE_WEIGHT = 0.05
_AROUND_NAME, _QUOTES, _NEAR = _AROUND + "\n[]", "'\"`", 40
INTO = rb"(?i:(?:insert|replace)\s[\w\s]*into\s+[^\s(]+\s*\()"
"""What stands before the columns of an insertion."""


def find_columns(text: str, plain: bytes, meter: Meter) -> Iterator[Span]:
    """Yield the secrets below heads that name them."""
    end = 0
    for hit in finder(CLUE).finditer(plain):
        start = text.rfind("\n", max(0, hit.start() - _LONGEST_LINE), hit.start()) + 1
        if hit.start() < end or hit.start() - start > _LONGEST_LINE:
            continue
        meter.count(_LINE_WEIGHT)
        lines = _lines_from(text, start)
        end, head = next(lines)
        kinds = _kinds_of_columns(head.split("|")) if "|" in head else {}
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
                yield from _in_row(row.split("|"), stop - len(row), kinds)


def find_inserted(text: str, plain: bytes, meter: Meter) -> Iterator[Span]:
    """Yield the secrets that SQL inserts, in rows, into columns that name them. Rows count nothing: each is read once."""
    end = 0
    for hit in finder(INTO).finditer(plain):
        if hit.start() < end:
            continue
        meter.count(_LINE_WEIGHT)
        head, expected = _cells(text, hit.end()), "values"
        kinds, end = _kinds_of_columns(head), hit.end() + len(",".join(head))
        while kinds:
            between = text[end : end + _NEAR].partition("(")[0]
            if between.strip("\\nr) \t\n").lower() != expected:
                break
            start, expected = end + len(between) + 1, ","
            row = _cells(text, start)
            end = start + len(",".join(row))
            if len(row) == len(head):
                yield from _in_row(row, start, kinds, is_quoted=True)


def _cells(text: str, start: int) -> list[str]:
    """Return what commas part from a place up to the bracket that closes there."""
    cells, first, depth, quote = [], start, 0, ""
    end = min(len(text), start + _LONGEST_LINE)
    for place in range(start, end):
        char = text[place]
        if quote or char in _QUOTES:
            quote = char if not quote else quote.replace(char, "")
        elif depth or char not in ",)":
            depth += (char == "(") - (char == ")")
        else:
            cells.append(text[first:place])
            first = place + 1
            if char == ")":
                return cells
    return [*cells, text[first:end]]


def _in_row(
    cells: list[str], start: int, kinds: dict[int, str], is_quoted: bool = False
) -> Iterator[Span]:
    """Yield the secrets among cells. With `is_quoted` only a cell in quotes is one: others hold numbers and calls."""
    for place, cell in enumerate(cells):
        value = cell.strip(_AROUND)
        is_value = not is_quoted or cell.rstrip()[-1:] in _QUOTES
        if place in kinds and value and is_value and _is_secret(value, kinds[place], is_quoted):
            first = start + cell.index(value)
            yield Span(first, first + len(value), SECRET if kinds[place] == SECRET else PASSWORD)
        start += len(cell) + 1


def _is_secret(value: str, kind: str, is_quoted: bool) -> bool:
    if kind == SECRET:
        return len(value) >= _LEAST_KEY and is_telling(value)
    # A sign beside letters and digits is no password's where results stand: "build#4421", "3m12s(99%)".
    is_made_up = kind == PASSWORD or (" " not in value and is_said(value, SECRET))
    return is_made_up and is_secret(value, PASSWORD, is_quoted)


def _kinds_of_columns(head: list[str]) -> dict[int, str]:
    """Return what the columns promise, by their places."""
    heads = [name.strip(_AROUND_NAME) for name in head]
    is_of_logins = any(map(names.is_of_who, heads))
    kinds = (names.promised_by_head(name, is_of_logins) for name in heads)
    return {place: kind for place, kind in enumerate(kinds) if kind}


def _lines_from(text: str, start: int) -> Iterator[tuple[int, str]]:
    """Yield lines from a place on, each with where it ends."""
    while start < len(text):
        stop = text.find("\n", start, start + _LONGEST_LINE)
        stop = stop if stop >= 0 else min(len(text), start + _LONGEST_LINE)
        yield stop, text[start:stop].translate(_BARS)
        start = stop + 1
