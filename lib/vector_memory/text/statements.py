"""A text as people write it in a chat, cut into statements: sentences, list items, headings, code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from vector_memory.text import analysis, markup, times_abroad

SENTENCE = "sentence"
ITEM = "item"
HEADING = "heading"
CODE = "code"

LONGEST_HEADING = 120

FENCE = re.compile(r"\s{0,12}(```+|~~~+)")
_TITLE = re.compile(
    r"\s{0,3}(?:#{1,6}\s+(.+?)\s*#*|(?:\*\*|__(?![a-z0-9]+__))([^*_\n]{2,100})(?:\*\*|__)[:：]?)\s*$"
)
"""A heading, or a line in bold."""
ITEM_HEAD = re.compile(
    r"\s{0,24}(?:[-*+•–]|\d{1,3}[.)]|[✅❌✓✔✗✘⚠️🔧🎯🚨]{1,2})\s+(?:\[([ xX])\]\s+)?(?=\S)"
)
_RULE_SIGNS = "-=*_~#|:+"
_QUOTE = re.compile(r"^\s{0,3}(?:>\s?)+", re.MULTILINE)
# A sentence ends where a full stop is followed by space and by what can begin another one; not after
# abbreviations and single letters.
_SENTENCE_END = re.compile(
    r"(?<=[.!?…])[\"')\]*_`]{0,3}\s+(?=[\"'(\[*_`]{0,3}[A-Z0-9ÄÖÜÀ-Þ`\"'/@#]|[a-z]\w*[(_.`])|(?<=[!?])\s+(?=\S)"
    r"|(?<=[a-z]{2}\.)\s+(?=[a-z])|(?<=[`)]\.)\s+(?=[a-z])"
)
_ABBREVIATIONS = frozenset((
    "e.g.", "i.e.", "etc.", "vs.", "cf.", "approx.", "resp.", "incl.", "no.", "fig.", "ca.", "bzw.", "z.B.", "d.h.",
    "eg.", "ie.", "al.", "nr.", "pp.", "ex.", "usw.", "ggf.", "evtl.", "inkl.", "max.", "min.", "vgl.", "zzgl.",
    "Mr.", "Mrs.", "Dr.", "St.",
))  # fmt: skip
_FULL_STOPS = (".", "!", "?", "。", "！", "？")
_BEFORE_ORDINALS = ("am", "im")
"""Stop words of German that are some in English, too."""
_BRACKETS = "([{\"'*_`"
_EDGE_SIGNS = f"{_BRACKETS})].,:;!?"
_DECORATION = re.compile(
    "^[\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff\ufe0f\U0001f300-\U0001faff\\s]+|[\ufe0f]"
)


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
    return list(_statements(text))


@lru_cache(256)
def _statements(text: str) -> tuple[Statement, ...]:
    # Passages and ideas are made of the same texts, one after the other.
    return tuple(_walk(text))


def without_markup(text: str) -> str:
    """Return a line without the marks of Markdown and leading decoration; code keeps its ticks."""
    return _in_one_line(markup.without_markup(text))


def _in_one_line(text: str) -> str:
    return " ".join(_DECORATION.sub("", text).split())


def capitalised(text: str) -> str:
    """Return a text with a capital at its beginning, unless that is a name: of a file, of something in
    code, or one that is written so."""
    first = "".join(text.split(maxsplit=1)[:1]).rstrip(",:;.!?)")
    bare = first.replace("'", "").replace("’", "")
    return text[:1].upper() + text[1:] if bare.isalpha() and bare.islower() else text


def is_rule(line: str) -> bool:
    """Whether a line is nothing but a line, such as `---`."""
    signs = "".join(line.split())
    return len(signs) > 2 and not signs.strip(_RULE_SIGNS)


def _walk(text: str) -> Iterator[Statement]:
    heading = ""
    block: list[tuple[int, int]] = []  # lines of a paragraph or an item that goes on
    form, done = SENTENCE, None
    lines = _line_places(text)
    position = 0
    while position < len(lines):
        start, end = lines[position]
        line = text[start:end]
        position += 1
        fence = FENCE.match(line)
        title = _title(line)
        item = ITEM_HEAD.match(line)
        is_rule_line = is_rule(line)
        # In a chat, what follows a list without an indent is no part of its last item.
        is_after_list = form == ITEM and not line[:1].isspace()
        ends = bool(fence or title or item or is_after_list or is_rule_line or not line.strip())
        if ends and block:
            yield from _block_statements(text, block, form, heading, done)
            block, form, done = [], SENTENCE, None
        if fence:
            position, code = _fenced_block(text, lines, position, fence[1])
            if code[1] > code[0]:
                yield Statement(text[code[0] : code[1]].strip("\n"), *code, CODE, heading)
        elif title:
            heading = title
            yield Statement(title, start, end, HEADING, "")
        elif item and not is_rule_line:
            form = ITEM
            done = None if item[1] is None else item[1] in "xX"
            block = [(start + item.end(), end)]
        elif line.strip() and not is_rule_line:
            quote_mark = _QUOTE.match(line)
            block.append((start + (quote_mark.end() if quote_mark else 0), end))
    if block:
        yield from _block_statements(text, block, form, heading, done)


def _line_places(text: str) -> list[tuple[int, int]]:
    places = []
    start = 0
    for line in text.split("\n"):
        places.append((start, start + len(line)))
        start += len(line) + 1
    return places


def _title(line: str) -> str:
    title = _TITLE.match(line)
    return without_markup(title[1] or title[2]).rstrip(":：")[:LONGEST_HEADING] if title else ""


def _fenced_block(
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


def _block_statements(
    text: str, block: list[tuple[int, int]], form: str, heading: str, done: bool | None
) -> Iterator[Statement]:
    """Yield the sentences of a paragraph; an item stays whole."""
    start, end = block[0][0], block[-1][1]
    # What is in bold may go on in the next sentence.
    marks = markup.marks(text[start:end])
    parts = [(start, end)] if form == ITEM else _sentences(text, block)
    for first, last in parts:
        plain_text = _in_one_line(
            _QUOTE.sub("", markup.without(text[first:last], marks, first - start))
        )
        if plain_text:
            yield Statement(plain_text, first, last, form, heading, done)


def _sentences(text: str, block: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the places of a paragraph's sentences. A line that ends with a colon ends a sentence, and is one of its
    own where the line before it ended one, in whatever script."""
    start, end = block[0][0], block[-1][1]
    ends = [end_mark.end() for end_mark in _SENTENCE_END.finditer(text, start, end)]
    colon_lines = [
        (begin, last) for begin, last in block if text[begin:last].rstrip().endswith((":", "："))
    ]
    ends += [last for _, last in colon_lines]
    ends += [begin for begin, _ in colon_lines if text[start:begin].rstrip().endswith(_FULL_STOPS)]
    first = start
    for place in sorted({*ends, end}):
        words = text[first:place].split()
        is_abbreviated = bool(words) and _is_abbreviated(
            words[-1].rpartition("/")[2].lstrip(_BRACKETS)
        )
        if place != end and (is_abbreviated or _is_ordinal(words[-2:], text[place:end])):
            continue
        if words:
            yield first, place
        first = place


def _is_abbreviated(word: str) -> bool:
    """Whether a word is an abbreviation, or ends with a capital of its own and a point: "J.", "U.S."."""
    is_letter = word.endswith(".") and "A" <= word[-2:-1] <= "Z" and not word[-3:-2].isalnum()
    return is_letter or word in _ABBREVIATIONS


def _is_ordinal(words: Sequence[str], rest: str) -> bool:
    """Whether the last of some words is an ordinal number as German writes it: "11." before a month's name, or between
    a stop word of another language and a word that is none."""
    number = words[-1] if words else ""
    if not (number[-1:] == "." and len(number) <= 3 and number[:-1].isdecimal()):
        return False
    following = "".join(rest.split(maxsplit=1)[:1]).strip(_EDGE_SIGNS).lower()
    before, abroad = words[0].lower(), analysis.stop_words_abroad()
    leads = before in abroad or before in _BEFORE_ORDINALS
    is_content = following not in abroad and following not in analysis.STOP_WORDS
    return times_abroad.is_month(following) or (leads and is_content)
