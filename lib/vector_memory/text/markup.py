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
    r"|(?P<both>(?<=\w)\*{4}(?=[^\W_][^*\n]{0,200}(?<!\s)\*\*(?![\w*])))"
    r"|(?P<signs>(?<!\*)\*{1,3}(?!\*)|(?<!_)__(?!_)|(?<!~)~~(?!~))",
    re.DOTALL,
)
MOST_STARS = 3
"""What ends what one and two of them began, or is both at once."""
_GLUE = frozenset("._/\\=$@%&#+^")
"""What joins the parts of a name, a glob or an expression: no emphasis begins behind it, none ends before it."""
_PAIR = r"{0}(?!\s)[^{1}/.\n]{{1,60}}(?<!\s){0}(?![\w{1}])"
_BETWEEN = {
    signs: re.compile(
        "/(?:" + _PAIR.format(re.escape(signs), signs[0]) + (r"|[^\W_])" if "**" in signs else ")")
    )
    for signs in ("*", "**", "***", "__", "~~")
}
"""A slash beside marks, read away from them, that joins no name but words of emphasis: `**Yes**/**No**`."""
_PATH = re.compile(r"\*\*[./][^\W_][^\s*]*(?<=[^\W_])\*\*(?![\w/*])")
"""A path or the name of a hidden file that is emphasised whole: `**.env**`, and no `**/dist/**`."""
NEAR = 400
"""Characters that are looked through for another pair of marks."""
MOST_BEYOND = 70
"""Characters beside marks that tell what a slash there is."""
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
    open_places: dict[str, list[int]] = defaultdict(list)
    in_label = False
    for run in _RUN.finditer(text):
        (start, end), remaining_signs = run.span(), run["signs"] or ""
        if run["label"] or (run["target"] and in_label):
            in_label = bool(run["label"])
            yield start, end
        if run["both"] and open_places["**"]:
            # One ends there, and another begins: `**a****b**`.
            place = open_places["**"].pop()
            yield place, place + 2
            yield start, start + 2
            open_places["**"].append(start + 2)
        while (
            mark := _opening_signs(open_places, remaining_signs)
            if _may_close(text, *run.span())
            else ""
        ):
            place, size = open_places[mark].pop(), len(mark)
            if not (mark == "__" and _is_name(text[place + size : start])):
                yield place, place + size
                yield start, start + size
            start, remaining_signs = start + size, remaining_signs[size:]
        if remaining_signs and remaining_signs == run["signs"] and _may_open(text, start, end):
            open_places[remaining_signs].append(start)


def _opening_signs(open_places: dict[str, list[int]], signs: str) -> str:
    parts = (signs, signs[:2], signs[:1]) if len(signs) == MOST_STARS else (signs,)
    return next((part for part in parts if open_places[part]), "")


def _may_open(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    joins = _joins_name(text[max(0, start - MOST_BEYOND) : start][::-1], text[start:end], after)
    is_apart = not _is_word(before) and not joins and before != after
    begins = bool(after.strip()) and after not in _ENDS
    return is_apart and (begins or (before not in _GLUE and _PATH.match(text, start) is not None))


def _may_close(text: str, start: int, end: int) -> bool:
    # What goes on behind a full stop is a name: `*test*.py`.
    before, after = text[start - 1 : start], text[end : end + 2].lstrip(".")[:1]
    signs, beyond = text[start:end], text[end : end + MOST_BEYOND]
    joins = after in _GLUE and _joins_name(beyond, signs, before)
    is_apart = not _is_word(after) and not joins and before != after
    is_label = before == ":" and signs == "**" and text.count("**", end, end + NEAR) % 2 == 0
    return (is_apart or is_label) and bool(before.strip()) and before not in _BEGINS


def _joins_name(beyond: str, signs: str, within: str) -> bool:
    """Whether what stands beside marks, read away from them, joins the parts of a name."""
    between = _BETWEEN.get(signs)
    is_between = between and within not in _GLUE and between.match(beyond)
    return beyond[:1] in _GLUE and not is_between


def _is_word(sign: str) -> bool:
    # Elsewhere words stand without spaces between them.
    return sign.isascii() and sign.isalnum()


def _is_name(text: str) -> bool:
    """Whether a text is what a program calls something: `__init__`, `__FILE__`."""
    return text.isascii() and text.isidentifier() and text in (text.lower(), text.upper())
