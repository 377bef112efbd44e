"""A secret that was told by its name stands elsewhere without one: in the same text, and in texts that belong
together, such as a command and the words of it that are kept. It goes there too, and what a cut left of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar

from vector_memory.model import unique
from vector_memory.redact.spans import MARK, Span, merge_spans
from vector_memory.redact.values import PASSWORD, is_passphrase, is_telling, is_unlike_words

MOST = 200
LONGEST = 400
_NOT_ECHOED = frozenset({"private", "private-key", "encoded"})
_LEAST_PART = 10
"""Characters of a value that a cut left, at least."""
_LEAST_DIGITS = 6
"""Of a PIN that is nothing else where it stands without its name."""
_QUOTES = str.maketrans("", "", "\"'`\\")
_together: ContextVar[dict[str, str] | None] = ContextVar("together", default=None)


@contextlib.contextmanager
def together() -> Iterator[None]:
    """Let the texts that are cleaned in this block belong together: a value that one of them names goes from
    all that are cleaned after it."""
    token = _together.set({})
    try:
        yield
    finally:
        _together.reset(token)


def values_known() -> int:
    """Return how many values the texts that belong together have named so far: a text that was cleaned before
    may be another one once there are more."""
    return len(_together.get() or ())


def find_echoes(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """Yield the other places of the values that were found, where a value can be nothing else."""
    values = {
        # What is found first says more of a value.
        text[span.start : span.end]: span.name
        for span in reversed(spans)
        if span.name not in _NOT_ECHOED
    }
    strong = {value: name for value, name in values.items() if _is_strong(value, name)}
    of_others = _together.get()
    if of_others:
        for value, name in of_others.items():
            if value not in strong:
                yield from _parts_of(text, value, name)
    for value, name in list(strong.items())[:MOST]:
        for place in _places(text, value):
            yield Span(place, place + len(value), name)
        if of_others is not None and len(of_others) < MOST:
            of_others[value] = name
            of_others.setdefault(value.translate(_QUOTES), name)


def weak_values(text: str, spans: Sequence[Span]) -> list[str]:
    """Return the passwords among what was found that are made of words, which say too little to go from other texts."""
    passwords = (text[span.start : span.end] for span in spans if span.name == PASSWORD)
    weak = (value for value in passwords if is_unlike_words(value) and not is_telling(value))
    return list(unique(weak))[:MOST]


def find_words(text: str, values: Sequence[str]) -> list[Span]:
    """Return where some values stand as whole words."""
    return merge_spans(
        Span(place, place + len(value), PASSWORD)
        for value in values
        for place in _places(text, value)
        if not _is_part(text, place, place + len(value))
    )


def _is_part(text: str, start: int, end: int) -> bool:
    """Whether a stretch of a text is part of a longer word, of a path or of a call, as names are."""
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    if (
        before.isalnum()
        or after.isalnum()
        or (before and before in "_/\\.")
        or (after and after in "_/\\(")
    ):
        return True
    return after == "." and text[end + 1 : end + 2].isalnum()


def _is_strong(value: str, name: str) -> bool:
    if len(value) > LONGEST or MARK[:10] in value:
        return False
    if name == "pin":
        return len(value) >= _LEAST_DIGITS
    return is_telling(value) or (name == "password" and is_passphrase(value))


def _places(text: str, words: str) -> Iterator[int]:
    """Yield where words stand, digits alone only where no others are next to them."""
    is_number, place = words.isdigit(), text.find(words)
    while place >= 0:
        around = text[max(0, place - 1) : place] + text[place + len(words) :][:1]
        if not (is_number and any(map(str.isalnum, around))):
            yield place
        place = text.find(words, place + len(words))


def _parts_of(text: str, value: str, name: str) -> Iterator[Span]:
    """Yield where a value of another text stands, whole, or its start or its end."""
    for place in _places(text, value[:_LEAST_PART]):
        size = min(_LEAST_PART, len(value))
        while text[place + size : place + size + 1] == value[size : size + 1] != "":
            size += 1
        yield Span(place, place + size, name)
    for place in _places(text, value[-_LEAST_PART:]):
        yield Span(place, place + min(_LEAST_PART, len(value)), name)
