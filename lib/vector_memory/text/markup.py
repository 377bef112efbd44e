"""The marks of Markdown within a paragraph: of links and of emphasis. What stands between back quotes has none.

Emphasis is marks in pairs around words. Since globs, operators and names are written without back quotes, too
(`src/**/*.ts`, `2**8`, `__init__.py`), less counts as a mark than in a page.

Source: CommonMark 0.31.2, "Emphasis and strong emphasis".
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

_RUN = re.compile(
    r"(?<!`)(?P<ticks>`{1,3})(?!`).+?(?<!`)(?P=ticks)(?!`)"
    r"|(?P<label>!?\[(?=[^\]\n]{1,200}\]\([^)\s]{1,500}\)))|(?P<target>\]\([^)\s]{1,500}\))"
    r"|(?P<signs>(?<!\*)\*{1,3}(?!\*)|(?<!_)__(?!_)|(?<!~)~~(?!~))",
    re.DOTALL,
)
MOST_STARS = 3
"""What ends what one and two of them began, or is both at once."""
_GLUE = frozenset("._/\\=$@%&#+^")
"""What joins the parts of a name, a glob or an expression: no emphasis begins behind it, none ends before it."""
_BEGINS, _ENDS = frozenset("([{<,"), frozenset(".,;:!?)]}>/")


def without_markup(text: str) -> str:
    """Return a text with the labels of its links alone, and without the marks of emphasis."""
    return without(text, marks(text), 0)


def without(text: str, places: list[tuple[int, int]], start: int) -> str:
    """Return a text that begins at `start` of a paragraph, without what stands in some places of that, in order."""
    parts, last = [], 0
    within = slice(bisect_left(places, (start, 0)), bisect_left(places, (start + len(text), 0)))
    for first, end in places[within]:
        parts.append(text[last : first - start])
        last = end - start
    return "".join([*parts, text[last:]])


def marks(text: str) -> list[tuple[int, int]]:
    """Return the places of a paragraph's marks, in order."""
    return sorted(_marks(text))


def _marks(text: str) -> Iterator[tuple[int, int]]:
    opened: dict[str, list[int]] = defaultdict(list)
    in_label = False
    for run in _RUN.finditer(text):
        (start, end), left = run.span(), run["signs"] or ""
        if run["label"] or (run["target"] and in_label):
            in_label = bool(run["label"])
            yield start, end
        while mark := _opening(opened, left) if _may_close(text, *run.span()) else "":
            place, size = opened[mark].pop(), len(mark)
            if not (mark == "__" and _is_name(text[place + size : start])):
                yield place, place + size
                yield start, start + size
            start, left = start + size, left[size:]
        if left and left == run["signs"] and _may_open(text, start, end):
            opened[left].append(start)


def _opening(opened: dict[str, list[int]], signs: str) -> str:
    parts = (signs, signs[:2], signs[:1]) if len(signs) == MOST_STARS else (signs,)
    return next((part for part in parts if opened[part]), "")


def _may_open(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    is_apart = not _is_word(before) and before not in _GLUE and before != after
    return is_apart and bool(after.strip()) and after not in _ENDS


def _may_close(text: str, start: int, end: int) -> bool:
    # What goes on behind a full stop is a name: `*test*.py`.
    before, after = text[start - 1 : start], text[end : end + 2].lstrip(".")[:1]
    is_apart = not _is_word(after) and after not in _GLUE and before != after
    return is_apart and bool(before.strip()) and before not in _BEGINS


def _is_word(sign: str) -> bool:
    # Elsewhere words stand without spaces between them.
    return sign.isascii() and sign.isalnum()


def _is_name(text: str) -> bool:
    """Whether a text is what a program calls something: `__init__`, `__FILE__`."""
    return text.isascii() and text.isidentifier() and text in (text.lower(), text.upper())
