"""Names of technologies, each with the other ways in which people write it."""

from __future__ import annotations

import re
from functools import cache

from vector_memory.text import analysis, tables
from vector_memory.text.words import words_in

# Words that are mostly plain English count only where they are written as a name.
_ORDINARY = tables.words("technologies_ordinary")


def _table() -> dict[str, str]:
    names: dict[str, str] = {}
    for line in tables.lines("technologies"):
        name, _, aliases = line.partition(":")
        for alias in (name, *filter(None, (word.strip() for word in aliases.split(",")))):
            names[alias.lower()] = name
    return names


CANONICAL = _table()
"""Lower-case name or alias → the name it goes by."""


@cache
def _pattern() -> re.Pattern[str]:
    names = "|".join(re.escape(name) for name in sorted(CANONICAL, key=len, reverse=True))
    return re.compile(rf"(?<![\w./@-])(?:{names})(?![\w/-]|\.\w)", re.IGNORECASE)


def technologies(text: str) -> tuple[str, ...]:
    """Return the technologies that a text names, by the names they go by, each once, in order."""
    names: dict[str, None] = {}
    for match in _pattern().finditer(text):
        word = match[0]
        if word.lower() in _ORDINARY and not _is_written_as_name(text, match):
            continue
        names.setdefault(CANONICAL[word.lower()])
    return tuple(names)


def canonical(name: str) -> str:
    """Return the name that a technology goes by, or the name as it is, in lower case."""
    return CANONICAL.get(name.lower(), name.lower())


def _is_written_as_name(text: str, match: re.Match[str]) -> bool:
    """Whether an ordinary word is written as a name: with a capital inside a sentence, or quoted. "Go" behind a
    number is a French unit (gigabytes) where no version follows in the line and nothing says that the text is English."""
    start = match.start()
    if start and text[start - 1] == "`":
        return True
    before = text[:start].rstrip()
    begins_sentence = not before or before[-1] in ".!?:"
    if match[0] == "Go" and _is_counted(text, match) and not _has_english(text):
        return False
    return match[0][0].isupper() and not begins_sentence


def _is_counted(text: str, match: re.Match[str]) -> bool:
    """Whether a number stands before a word in its line, and no version behind it: not in "Python 3.12, Go 1.22"."""
    before = text[: match.start()].rpartition("\n")[2].split()[-1:]
    after = text[match.end() :].partition("\n")[0].split()[:1]
    is_version = any(word[0].isdigit() and "." in word.strip(".") for word in after)
    return any(word[-1].isdigit() for word in before) and not is_version


def _has_english(text: str) -> bool:
    """Whether a text has little words of English, and is not in another language by more of that one's."""
    return not (analysis.STOP_WORDS.isdisjoint(words_in(text)) or analysis.is_abroad(text))
