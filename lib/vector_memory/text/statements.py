"""A text as people write it in a chat, cut into statements: sentences, list items, headings, code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

SENTENCE = "sentence"
ITEM = "item"
HEADING = "heading"
CODE = "code"

LONGEST_HEADING = 120

FENCE = re.compile(r"\s{0,12}(```+|~~~+)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.+?)\s*#*\s*$")
_BOLD_LINE = re.compile(r"\s{0,3}(?:\*\*|__)([^*_\n]{2,100})(?:\*\*|__):?\s*$")
_ITEM = re.compile(
    r"\s{0,24}(?:[-*+•–]|\d{1,3}[.)]|[✅❌✓✔✗✘⚠️🔧🎯🚨]{1,2})\s+(?:\[([ xX])\]\s+)?(?=\S)"
)
RULE = re.compile(r"\s*(?:[-=*_~#|:+]\s*){3,}$")
_QUOTE = re.compile(r"\s{0,3}(?:>\s?)+")
# A sentence ends where a full stop is followed by space and by what can begin another one; not after
# abbreviations and single letters.
_END = re.compile(
    r"(?<=[.!?…])[\"')\]*_`]{0,3}\s+(?=[\"'(\[*_`]{0,3}[A-Z0-9ÄÖÜÀ-Þ`\"'/@#]|[a-z]\w*[(_.`])|(?<=[!?])\s+(?=\S)"
    r"|(?<=[a-z]{3}\.)\s+(?=[a-z])"
)
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|no|fig|ca|bzw|z\.B|d\.h|Mr|Mrs|Dr|St)\.|\b[A-Z]\.)$"
)
_MARKUP = re.compile(
    r"\*\*|__(?=\S)|(?<=\S)__|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])|~~|!?\[([^\]\n]{1,200})\]\([^)\s]{1,500}\)"
)
_DECORATION = re.compile(
    "^[\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff\ufe0f\U0001f300-\U0001faff\\s]+|[\ufe0f]"
)
_PLAIN_WORD = re.compile(r"[^\W\d_A-Z]+(?:['’][a-z]+)?(?:[,:;.!?)]*(?:\s|$))")


class Statement(NamedTuple):
    """One assertion's worth of text. `text` is plain, in one line (CODE keeps its lines); `start` and
    `end` are its place in the original; `heading` is what it stands under ("" for none); `done` says
    whether a box of a list is ticked, None without a box."""

    text: str
    start: int
    end: int
    form: str
    heading: str
    done: bool | None = None


def statements(text: str) -> list[Statement]:
    """Return a text's statements in order. Rules and empty lines are left out."""
    return list(_known(text))


@lru_cache(256)
def _known(text: str) -> tuple[Statement, ...]:
    # Passages and ideas are made of the same texts, one after the other.
    return tuple(_walk(text))


def plain(text: str) -> str:
    """Return a line without the marks of Markdown and leading decoration; code keeps its ticks."""
    bare = _MARKUP.sub(lambda found: found[1] or "", text)
    return " ".join(_DECORATION.sub("", bare).split())


def capitalised(text: str) -> str:
    """Return a text with a capital at its beginning, unless that is a name: of a file, of something in
    code, or one that is written so."""
    return text[:1].upper() + text[1:] if _PLAIN_WORD.match(text) else text


def _walk(text: str) -> Iterator[Statement]:
    heading = ""
    held: list[tuple[int, int]] = []  # lines of a paragraph or an item that goes on
    form, done = SENTENCE, None
    lines = _lines(text)
    position = 0
    while position < len(lines):
        start, end = lines[position]
        line = text[start:end]
        position += 1
        opened = FENCE.match(line)
        title = _title(line)
        item = _ITEM.match(line)
        # In a chat, what follows a list without an indent is no part of its last item.
        after = form == ITEM and not line[:1].isspace()
        ends = bool(opened or title or item or after or not line.strip() or RULE.match(line))
        if ends and held:
            yield from _said(text, held, form, heading, done)
            held, form, done = [], SENTENCE, None
        if opened:
            position, code = _code(text, lines, position, opened[1])
            if code[1] > code[0]:
                yield Statement(text[code[0] : code[1]].strip("\n"), *code, CODE, heading)
        elif title:
            heading = title
            yield Statement(title, start, end, HEADING, "")
        elif item and not RULE.match(line):
            form = ITEM
            done = None if item[1] is None else item[1] in "xX"
            held = [(start + item.end(), end)]
        elif line.strip() and not RULE.match(line):
            quoted = _QUOTE.match(line)
            held.append((start + (quoted.end() if quoted else 0), end))
    if held:
        yield from _said(text, held, form, heading, done)


def _lines(text: str) -> list[tuple[int, int]]:
    places = []
    start = 0
    for line in text.split("\n"):
        places.append((start, start + len(line)))
        start += len(line) + 1
    return places


def _title(line: str) -> str:
    found = _HEADING.match(line) or _BOLD_LINE.match(line)
    return plain(found[1]).rstrip(":")[:LONGEST_HEADING] if found else ""


def _code(
    text: str, lines: list[tuple[int, int]], position: int, fence: str
) -> tuple[int, tuple[int, int]]:
    """Return the place after a fenced block, and where its content is."""
    first = last = position
    while last < len(lines):
        line = text[lines[last][0] : lines[last][1]].strip()
        if line.startswith(fence) and not line.strip(fence[0]):
            break
        last += 1
    if last == first:
        return last + 1, (0, 0)
    return last + 1, (lines[first][0], lines[min(last, len(lines)) - 1][1])


def _said(
    text: str, held: list[tuple[int, int]], form: str, heading: str, done: bool | None
) -> Iterator[Statement]:
    """Yield the sentences of a paragraph; an item stays whole."""
    start, end = held[0][0], held[-1][1]
    parts = [(start, end)] if form == ITEM else _sentences(text, held)
    for first, last in parts:
        bare = plain(_QUOTE_LINES.sub("\n", text[first:last]))
        if bare:
            yield Statement(bare, first, last, form, heading, done)


_QUOTE_LINES = re.compile(r"\n\s{0,3}(?:>\s?)+")


def _sentences(text: str, held: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the places of a paragraph's sentences. A line that ends with a colon ends one."""
    start, end = held[0][0], held[-1][1]
    ends = [found.end() for found in _END.finditer(text, start, end)]
    ends += [place for _, place in held[:-1] if text[:place].rstrip().endswith(":")]
    first = start
    for place in sorted({*ends, end}):
        if place != end and _ABBREVIATED.search(
            text, max(first, place - 12), len(text[:place].rstrip())
        ):
            continue
        if text[first:place].strip():
            yield first, place
        first = place
