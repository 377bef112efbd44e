"""What a category of private matters takes out, and the pattern of whatever is said of one matter."""

from __future__ import annotations

import os
import re

import re2

from vector_memory.text import tables

REST = r"(?:[^.!?\n]|[.!?][^\s])*"
"""The rest of a sentence: a point within a number ends none."""


class Category:
    """What a part of the table says of a category, or of a kind of personal data.

    Attributes:
        named: the pattern of its names.
        example: something that it takes out.
        words: the pattern of what it is about, "" for none.
        patterns: what it looks for.
        kinds: the kinds of personal data that it finds by their form.
    """

    def __init__(self, lines: list[str]) -> None:
        values: dict[str, list[str]] = {}
        for line in lines:
            name, _, value = line.partition(": ")
            values.setdefault(name, []).append(value)
        self.named, self.example = values["named"][0], values["example"][0]
        self.words = "".join(values.get("words", []))
        patterns = (pattern.replace("<words>", self.words) for pattern in values.get("find", ()))
        self.patterns = tuple(pattern.replace("<rest>", REST) for pattern in patterns)
        self.kinds = tuple("".join(values.get("form", [])).split())


_TABLE = tables.sections("categories", os.path.dirname(__file__))
CATEGORIES = {name: Category(lines) for name, lines in _TABLE.items()}
_NAMED = re.compile(
    rf"(?:{'|'.join(f'(?P<{name}>{each.named})' for name, each in CATEGORIES.items())})"
    r"(?:[ -](?:data|details|info|information|names?|records?|matters|addresses|address|numbers?))*",
    re.IGNORECASE,
)
_WORDS = "|".join(each.words for each in CATEGORIES.values() if each.words)
_SENSITIVE = re.compile(rf"\b(?:{_WORDS}|birthdays?)\b", re.IGNORECASE)


def category_of(words: str) -> str:
    """Return the category, or the kind of personal data, that some words name; "" for none."""
    match = _NAMED.fullmatch(words)
    return str(match.lastgroup) if match else ""


def sensitive_word(words: str) -> str:
    """Return what of some words a category looks for, "" for nothing."""
    word = _SENSITIVE.search(words)
    return word[0] if word else ""


def term(words: str) -> str:
    """Return the pattern of a term: whatever its case, as whole words."""
    spaced = r"\s{1,4}".join(_word_pattern(word) for word in words.split())
    return f"(?i){_as_words(words, spaced)}"


def _as_words(words: str, pattern: str) -> str:
    """Return the pattern of some words as one that begins and ends with whole words."""
    edges = (words[0], words[-1])
    head, tail = (r"\b" if edge.isascii() and edge.isalnum() else "" for edge in edges)
    return f"{head}{pattern}{tail}"


def _word_pattern(word: str) -> str:
    """Return the pattern of a word, with "ss" for "ß" and the other way round: capitals have no "ß"."""
    parts = word.replace("ß", "ss").replace("ẞ", "ss").replace("SS", "ss").split("ss")
    return "(?:ss|ß)".join(map(re2.escape, parts))


def matter(words: str) -> str:
    """Return the pattern of every sentence in which something is mentioned, in singular or plural."""
    if words.lower() in ("address", "addresses"):
        return CATEGORIES["personal"].patterns[0]
    spaced = r"\s{1,4}".join(_word_pattern(word) for word in words.split()[:-1])
    last = _inflected(words.split()[-1])
    whole = rf"{spaced}\s{{1,4}}{last}" if spaced else last
    return rf"(?i)(?:[^\s.!?]{REST})?{_as_words(words, whole)}{REST}"


def _inflected(word: str) -> str:
    for ending, rest in (
        ("ies", "(?:y|ies)"),
        ("y", "(?:y|ies)"),
        ("ss", "ss(?:es)?"),
        ("s", "s?"),
    ):
        if len(word) > len(ending) + 2 and word.lower().endswith(ending):
            return f"{_word_pattern(word[: -len(ending)])}{rest}"
    return f"{_word_pattern(word)}(?:s|es)?"
