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
_WHOLE_PHRASES = (
    "yesterday", "today", "the day before yesterday", "recently", "week before last", "month before last",
)  # fmt: skip
_TIME_NAMES = frozenset((*WEEKDAYS, *MONTHS, *_UNITS, "weekend", "night"))
_TIMES = _TIME_NAMES | frozenset(_WHOLE_PHRASES)
_LEADING = ("since", "last", "next", "this")
_HIER = "hier"
"""Yesterday in French, here in German."""
_GERMAN, _BEFORE_DOTTED = (tables.sets("time_words")[part] for part in ("german", "dotted"))
_DIGITS = r"\d{1,4}"
_DOTTED = r"(?<![\w.])\d{1,2}\.\d{1,2}\.(?:(?:19|20)\d\d)?(?!\.?\w)"
"""5.12.2026, or 5.12., which is a version as well."""


@lru_cache(maxsize=1)
def _english_words() -> dict[str, str]:
    """Return the English words by the foreign ones."""
    english_words: dict[str, str] = {}
    for line in tables.lines("times_abroad"):
        english, _, foreign = line.partition(": ")
        english_words.update((word, english) for word in foreign.split(", "))
    return english_words


def is_month(word: str) -> bool:
    """Whether a word in small letters is a month's name that is written otherwise in English."""
    return _english_words().get(word, word) in MONTHS and word not in MONTHS


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return what finds a foreign word for a time that is none in English, several words in a row that may be
    read, and one of them."""
    english_words = _english_words()
    # "im August": the month itself is the same.
    telling = ["im"] + [
        word
        for word, english in english_words.items()
        if english in _LEADING or (word != english and english in _TIMES)
    ]
    # "am 14. November": the point is not English.
    months = "|".join(word for word, english in english_words.items() if word == english in MONTHS)
    longest_first = sorted(english_words, key=len, reverse=True)
    word_pattern = rf"(?:{'|'.join(map(re.escape, longest_first))}|{_DOTTED}|{_DIGITS})(?!\w)"
    dotted_day = (
        rf"(?:^|(?<!\w)(?:{'|'.join(sorted(_BEFORE_DOTTED))})\s)\d\d?\.\s(?:{months})(?!\w)"
    )
    any_telling = rf"(?<!\w)(?:{'|'.join(map(re.escape, telling))})(?!\w)|{dotted_day}|{_DOTTED}"
    return (
        re.compile(any_telling),
        re.compile(rf"(?<!\w){word_pattern}(?:\.?\s+{word_pattern})*"),
        re.compile(rf"(?<!\w){word_pattern}"),
    )


def without_next(text: str) -> str:
    """Return a text without its words for what comes next: "by next Friday" as "by Friday", "vendredi prochain." as
    "vendredi."."""
    kept_words: list[str] = []
    for word in text.replace("que viene", "next").split(" "):
        bare = word.rstrip(".,;:!?)")
        if _english_words().get(bare.lower(), bare) != "next":
            kept_words.append(word)
        elif kept_words:
            kept_words[-1] += word[len(bare) :]
    return " ".join(kept_words)


def in_english(low: str) -> tuple[str, Sequence[tuple[int, int]] | None]:
    """Return a text in small letters with its foreign words for times in English.

    Returns:
        The text, and from where to where in `low` each of its characters comes from; None where nothing was
        changed.
    """
    has_time, rows, words = _patterns()
    if not has_time.search(low):
        return low, None
    parts: list[str] = []
    places: list[tuple[int, int]] = []
    end = 0
    for row in rows.finditer(low):
        english = _translate_row(low, list(words.finditer(low, row.start(), row.end())))
        if not english:
            continue
        parts.append(low[end : row.start()] + english)
        places += [(place, place + 1) for place in range(end, row.start())]
        places += [row.span()] * len(english)
        end = row.end()
    parts.append(low[end:])
    places += [(place, place + 1) for place in range(end, len(low))]
    return "".join(parts), places


def _translate_row(low: str, matches: Sequence[re.Match[str]]) -> str:
    """Return words in a row in English and in its order, "" where they name no time."""
    english = _english_words()
    if any(word[0] == _HIER for word in matches) and not _GERMAN.isdisjoint(words_in(low)):
        return ""
    words = [english.get(word[0]) or _with_month_name(word, low) or word[0] for word in matches]
    if not any(word in _TIMES or " " in word for word in words):
        return ""
    return " ".join(_in_english_order(words))


def _with_month_name(date: re.Match[str], low: str) -> str:
    """Return a date such as 5.12.2026 with its month's name, "" for what is none, or may be a version: without its year
    it counts behind some words alone."""
    day, _, month_and_year = date[0].partition(".")
    month, _, year = month_and_year.partition(".")
    word_before = low[: date.start()].replace(":", " ").split()[-1:]
    if not (month and int(day) and 0 < int(month) <= len(MONTHS)):
        return ""
    is_date = year or not _BEFORE_DOTTED.isdisjoint(word_before)
    return f"{int(day)} {MONTHS[int(month) - 1]} {year}".strip() if is_date else ""


def _in_english_order(words: Sequence[str]) -> list[str]:
    """Return English words in the order of English."""
    ordered: list[str] = []
    place = 0
    while place < len(words):
        word, following = words[place], words[place + 1 : place + 3]
        if word == "ago" and len(following) == 2 and following[1] in _UNITS:
            ordered += [*following, "ago"]
            place += 3
        elif following[:1] in (["last"], ["next"]) and (word in _TIME_NAMES or word.isdecimal()):
            ordered += [following[0], word]
            place += 2
        else:
            is_of_year = (
                word == "of" and following and following[0].isdecimal() and len(following[0]) == 4
            )
            if not is_of_year:
                ordered.append("before" if word == "ago" else word)
            place += 1
    return ordered
