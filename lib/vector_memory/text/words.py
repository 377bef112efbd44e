"""Words and sentences of a text as they stand there. Standard library only, Python 3.9: hooks ask, too."""

import re

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"'`(*_]*[A-Z0-9])|\n+")


def words_in(text: str) -> "list[str]":
    """Return the words of a text in small letters, in order; "don't" is one of them."""
    return [word.lower().replace("\u2019", "'") for word in _WORD.findall(text)]


def sentences_in(text: str) -> "list[str]":
    """Return the sentences of a text as they stand there: one ends where a capital or a digit begins the next one,
    and at the end of a line."""
    return _SENTENCE_END.split(text)
