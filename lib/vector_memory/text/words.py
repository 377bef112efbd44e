"""Words and sentences of a text as they stand there. Standard library only, Python 3.9: hooks ask, too."""

import re
from functools import lru_cache
from itertools import groupby

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
_LETTERS, _NAME = re.compile(r"[^\W\d_]+"), re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"'`(*_]*[A-Z0-9])|\n+")


def words_in(text: str) -> "list[str]":
    """Return the words of a text in small letters, in order; "don't" is one of them."""
    return [word.lower().replace("\u2019", "'") for word in _WORD.findall(text)]


def letters_in(text: str, least: int = 1) -> "list[str]":
    """Return the runs of at least so many letters as they stand in a text, in order."""
    return [run for run in _LETTERS.findall(text) if len(run) >= least]


def runs_in(text: str, signs: str = "") -> "list[str]":
    """Return the runs of letters, digits and some other signs as they stand in a text, in order."""
    return "".join(sign if sign.isalnum() or sign in signs else " " for sign in text).split()


def names_in(text: str) -> "list[str]":
    """Return the words as a program parts them: an underscore and digits belong to one, other signs do not."""
    return _NAME.findall(text)


def codes_in(text: str) -> "list[str]":
    """Return what stands between back quotes, or between as many of them, in order; none of it goes over several lines."""
    codes: list[str] = []
    for line in text.splitlines() if "`" in text else ():
        parts = ["".join(run) for _, run in groupby(line, "`".__eq__)]
        ends, following = list[int](), dict[str, int]()
        for place in range(len(parts) - 1, -1, -1):
            ends.append(following.get(parts[place], 0))
            following[parts[place]] = place
        behind = 0
        for place, end in enumerate(reversed(ends)):
            if end and place >= behind and parts[place][0] == "`":
                codes.append("".join(parts[place + 1 : end]))
                behind = end + 1
    return codes


def sentences_in(text: str) -> "list[str]":
    """Return the sentences of a text as they stand there: one ends where a capital or a digit begins the next one,
    and at the end of a line."""
    return _SENTENCE_END.split(text)


def is_made_of(text: str, signs: str, most: int) -> bool:
    """Whether a text is letters, digits and some other signs alone, from one to so many."""
    return 0 < len(text) <= most and all(sign.isalnum() or sign in signs for sign in text)


def is_slug(text: str, signs: str, most: int) -> bool:
    """Whether a text is small English letters, digits and some other signs alone, and begins with none of these."""
    is_plain = text.isascii() and text == text.lower() and text[:1].isalnum()
    return is_plain and is_made_of(text, signs, most)


def as_name(text: str) -> str:
    """Return a text as a part of a file's name: other signs than letters, digits, `_`, `.` and `-` become `_`."""
    return "".join(sign if sign.isalnum() or sign in "_.-" else "_" for sign in text)


def clauses_in(text: str, ends: str = ".!?") -> "list[str]":
    """Return the parts of a text: one ends with one of some signs before white space, and at the end of a line."""
    return _clause_end(ends).split(text)


@lru_cache(maxsize=8)
def _clause_end(ends: str) -> "re.Pattern[str]":
    return re.compile(rf"(?<=[{ends}])\s+|\n")


_NUMBER = re.compile(r"(?<!\d)(?<!\d[-:./])\d+(?:\.\d+)*(?!\d|[-:/]\d)")


def numbers_in(text: str) -> "list[str]":
    """Return the numbers that stand for themselves, in order: 8080 of `:8080`, 2.17 of `v2.17`, none of a date."""
    return _NUMBER.findall(text)
