"""German, French and Spanish words for times, read as English: "vor zwei Wochen" as "two weeks ago"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from vector_memory.text import tables
from vector_memory.text.words import words_in

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_UNITS = ("hours", "days", "week", "weeks", "month", "months", "year", "years")
_WHOLE = ("yesterday", "today", "the day before yesterday", "recently")
_NAMED = frozenset((*WEEKDAYS, *MONTHS, *_UNITS, "weekend", "night"))
_TIMES = _NAMED | frozenset(_WHOLE)
_HERE = "hier"
"""Yesterday in French, here in German."""
_GERMAN = tables.sets("time_words")["german"]
_DIGITS = r"\d{1,4}"


@lru_cache(maxsize=1)
def _words() -> dict[str, str]:
    """Return the English words by the foreign ones."""
    english_words: dict[str, str] = {}
    for line in tables.lines("times_abroad"):
        english, _, foreign = line.partition(": ")
        english_words.update((word, english) for word in foreign.split(", "))
    return english_words


def is_month(word: str) -> bool:
    """Whether a word in small letters is a month's name that is written otherwise in English."""
    return _words().get(word, word) in MONTHS and word not in MONTHS


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return what finds a foreign word for a time that is none in English, several words in a row that may be
    read, and one of them."""
    english_words = _words()
    telling = [
        word for word, english in english_words.items() if word != english and english in _TIMES
    ]
    # "im August": the month itself is the same.
    telling += [
        word for word, english in english_words.items() if english in ("since", "last", "this")
    ] + ["im"]
    every = sorted(english_words, key=len, reverse=True)
    one = rf"(?:{'|'.join(map(re.escape, every))}|{_DIGITS})(?!\w)"
    any_told = rf"(?<!\w)(?:{'|'.join(map(re.escape, telling))})(?!\w)"
    return (
        re.compile(any_told),
        re.compile(rf"(?<!\w){one}(?:\.?\s+{one})*"),
        re.compile(rf"(?<!\w){one}"),
    )


def in_english(low: str) -> tuple[str, Sequence[tuple[int, int]] | None]:
    """Return a text in small letters with its foreign words for times in English.

    Returns:
        The text, and from where to where in `low` each of its characters comes from; None where nothing was
        changed.
    """
    has_time, rows, words = _patterns()
    if not has_time.search(low):
        return low, None
    made: list[str] = []
    places: list[tuple[int, int]] = []
    done = 0
    for row in rows.finditer(low):
        english = _read(low, list(words.finditer(low, row.start(), row.end())))
        if not english:
            continue
        made.append(low[done : row.start()] + english)
        places += [(at, at + 1) for at in range(done, row.start())]
        places += [row.span()] * len(english)
        done = row.end()
    made.append(low[done:])
    places += [(at, at + 1) for at in range(done, len(low))]
    return "".join(made), places


def _read(low: str, matches: Sequence[re.Match[str]]) -> str:
    """Return words in a row in English and in its order, "" where they name no time."""
    english = _words()
    if any(word[0] == _HERE for word in matches) and not _GERMAN.isdisjoint(words_in(low)):
        return ""
    words = [english.get(word[0], word[0]) for word in matches]
    if not any(word in _TIMES for word in words):
        return ""
    return " ".join(_ordered(words))


def _ordered(words: Sequence[str]) -> list[str]:
    """Return English words in the order of English."""
    made: list[str] = []
    place = 0
    while place < len(words):
        word, after = words[place], words[place + 1 : place + 3]
        if word == "ago" and len(after) == 2 and after[1] in _UNITS:
            made += [*after, "ago"]
            place += 3
        elif after[:1] == ["last"] and (word in _NAMED or word.isdecimal()):
            made += ["last", word]
            place += 2
        else:
            is_of_year = word == "of" and after and after[0].isdecimal() and len(after[0]) == 4
            if not is_of_year:
                made.append("before" if word == "ago" else word)
            place += 1
    return made
