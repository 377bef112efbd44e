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
_WHOLE = (
    "yesterday", "today", "the day before yesterday", "recently", "week before last", "month before last",
)  # fmt: skip
_NAMED = frozenset((*WEEKDAYS, *MONTHS, *_UNITS, "weekend", "night"))
_TIMES = _NAMED | frozenset(_WHOLE)
_LEADING = ("since", "last", "next", "this")
_HERE = "hier"
"""Yesterday in French, here in German."""
_GERMAN, _BEFORE_DOTTED = (tables.sets("time_words")[part] for part in ("german", "dotted"))
_DIGITS = r"\d{1,4}"
_DOTTED = r"(?<![\w.])\d{1,2}\.\d{1,2}\.(?:(?:19|20)\d\d)?(?!\.?\w)"
"""5.12.2026, or 5.12., which is a version as well."""


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
    # "im August": the month itself is the same.
    telling = ["im"] + [
        word
        for word, english in english_words.items()
        if english in _LEADING or (word != english and english in _TIMES)
    ]
    # "am 14. November": the point is not English.
    same = "|".join(word for word, english in english_words.items() if word == english in MONTHS)
    every = sorted(english_words, key=len, reverse=True)
    one = rf"(?:{'|'.join(map(re.escape, every))}|{_DOTTED}|{_DIGITS})(?!\w)"
    pointed = rf"(?:^|(?<!\w)(?:{'|'.join(sorted(_BEFORE_DOTTED))})\s)\d\d?\.\s(?:{same})(?!\w)"
    any_told = rf"(?<!\w)(?:{'|'.join(map(re.escape, telling))})(?!\w)|{pointed}|{_DOTTED}"
    return (
        re.compile(any_told),
        re.compile(rf"(?<!\w){one}(?:\.?\s+{one})*"),
        re.compile(rf"(?<!\w){one}"),
    )


def without_next(text: str) -> str:
    """Return a text without its words for what comes next: "by next Friday" as "by Friday", "vendredi prochain." as
    "vendredi."."""
    kept: list[str] = []
    for word in text.replace("que viene", "next").split(" "):
        bare = word.rstrip(".,;:!?)")
        if _words().get(bare.lower(), bare) != "next":
            kept.append(word)
        elif kept:
            kept[-1] += word[len(bare) :]
    return " ".join(kept)


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
    words = [english.get(word[0]) or _dated(word, low) or word[0] for word in matches]
    if not any(word in _TIMES or " " in word for word in words):
        return ""
    return " ".join(_ordered(words))


def _dated(dotted: re.Match[str], low: str) -> str:
    """Return a date such as 5.12.2026 with its month's name, "" for what is none, or may be a version: without its year
    it counts behind some words alone."""
    day, _, rest = dotted[0].partition(".")
    month, _, year = rest.partition(".")
    before = low[: dotted.start()].replace(":", " ").split()[-1:]
    if not (month and int(day) and 0 < int(month) <= len(MONTHS)):
        return ""
    is_date = year or not _BEFORE_DOTTED.isdisjoint(before)
    return f"{int(day)} {MONTHS[int(month) - 1]} {year}".strip() if is_date else ""


def _ordered(words: Sequence[str]) -> list[str]:
    """Return English words in the order of English."""
    made: list[str] = []
    place = 0
    while place < len(words):
        word, after = words[place], words[place + 1 : place + 3]
        if word == "ago" and len(after) == 2 and after[1] in _UNITS:
            made += [*after, "ago"]
            place += 3
        elif after[:1] in (["last"], ["next"]) and (word in _NAMED or word.isdecimal()):
            made += [after[0], word]
            place += 2
        else:
            is_of_year = word == "of" and after and after[0].isdecimal() and len(after[0]) == 4
            if not is_of_year:
                made.append("before" if word == "ago" else word)
            place += 1
    return made
