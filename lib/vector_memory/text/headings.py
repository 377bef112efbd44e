"""What a heading is about, and the lines of a document in Markdown with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from vector_memory.text import tables
from vector_memory.text.statements import FENCE
from vector_memory.text.words import words_in

DEEPEST = 6
_ASKED = frozenset("?？؟")
_DONE_WORDS = tables.sets("done_words")
_OPEN_HEADINGS = frozenset(", ".join(tables.lines("open_headings")).split(", "))


def names_what_is_open(heading: str) -> bool:
    """Whether a heading says of what stands below it that it is still to be done, and nothing else: its number does not
    count, nor what it has in brackets, unless that says that it is done."""
    title = " ".join(word for word in words_in(_parted(heading)[0]) if not word.isdigit())
    return title in _OPEN_HEADINGS and not leaves_nothing_open(heading)


def leaves_nothing_open(heading: str) -> bool:
    """Whether a heading says in brackets, with each of their words, that all is done, or that nothing is left."""
    brackets = _parted(heading)[1]
    aside = frozenset(words_in(brackets))
    return _ASKED.isdisjoint(brackets) and any(
        not aside.isdisjoint(_DONE_WORDS[part])
        and aside <= _DONE_WORDS[part] | _DONE_WORDS[f"beside {part}"]
        for part in ("done", "nothing")
    )


def _parted(heading: str) -> tuple[str, str]:
    """Return a heading without what it has in brackets, and that with what follows it."""
    plain, _, aside = heading.replace("（", "(").partition("(")
    return plain, aside


def lines_below(markdown: str, about: Callable[[str], int]) -> Iterator[tuple[int, str, int]]:
    """Yield the lines that are neither headings nor code, each with its number, from 1, and the rank of its section.

    Args:
        about: returns the rank of a heading by its words, 0 for one that is about nothing of interest. Within a
            section a heading only ever raises it.
    """
    depth = rank = 0
    is_in_fence = False
    for number, line in enumerate(markdown.splitlines(), 1):
        is_fence = FENCE.match(line) is not None
        is_in_fence ^= is_fence
        if is_in_fence or is_fence:
            continue
        title = line.lstrip("#")
        level = len(line) - len(title)
        if 1 <= level <= DEEPEST and title[:1].isspace() and title.strip():
            if not depth or level <= depth:
                rank = about(title.strip())
                depth = level if rank else 0
            else:
                rank = max(rank, about(title.strip()))
        else:
            yield number, line, rank
