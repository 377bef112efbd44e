"""Whether two texts say the same.

A cosine alone merges port 5432 with port 5433 and "enable" with "disable". So texts are the same
only where the cosine is high **and** no word speaks against it; what is merely close is related.
"""

from __future__ import annotations

import hashlib
import re

from vector_memory import analysis

SAME_COSINE = 0.92
RELATED_COSINE = 0.80

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_CODE = re.compile(r"[\w./-]*[_./][\w./-]*\w|\b\w*[a-z][A-Z]\w*\b|`[^`]+`|--?\w[\w-]*")
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][a-zA-Z]+\b")
_NEGATION = frozenset(
    [
        "not",
        "no",
        "never",
        "none",
        "nothing",
        "without",
        "cannot",
        "cant",
        "dont",
        "doesnt",
        "didnt",
        "isnt",
        "arent",
        "wasnt",
        "wont",
        "shouldnt",
        "mustnt",
        "couldnt",
        "wouldnt",
        "longer",
        "stop",
        "avoid",
        "except",
        "unless",
        "instead",
    ]
)
_OPPOSITES = (
    ("enable", "disable"), ("enabled", "disabled"), ("on", "off"), ("true", "false"),
    ("allow", "deny"), ("allow", "forbid"), ("add", "remove"), ("before", "after"),
    ("increase", "decrease"), ("min", "max"), ("minimum", "maximum"), ("first", "last"),
    ("always", "never"), ("frontend", "backend"), ("client", "server"), ("sync", "async"),
    ("public", "private"), ("left", "right"), ("up", "down"), ("start", "stop"),
    ("open", "closed"), ("read", "write"), ("input", "output"), ("old", "new"),
    ("dev", "prod"), ("development", "production"), ("staging", "production"),
)  # fmt: skip
_WORD = re.compile(r"[a-z]+")
_CALENDAR = frozenset(
    [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "today",
        "tomorrow",
        "yesterday",
        "weekly",
        "daily",
        "monthly",
        "hourly",
        "nightly",
        "morning",
        "evening",
    ]
)


def text_key(text: str) -> bytes:
    """Return the hash by which equal texts are found: the journal's own."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def compare(one: str, other: str, cosine: float) -> str:
    """Return `same`, `related` or `new` for two texts and their vectors' cosine similarity."""
    if cosine >= SAME_COSINE and not differ(one, other):
        return "same"
    return "related" if cosine >= RELATED_COSINE else "new"


def differ(one: str, other: str) -> bool:
    """Whether words speak against two texts saying the same, however close their vectors are:
    numbers, negation, opposites, days and months, identifiers, names, word order, or a content
    word on each side that the other lacks."""
    return any(_marks(one, kind) != _marks(other, kind) for kind in _KINDS) or _words_differ(
        one, other
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower().replace("'", "").replace("\u2019", ""))


_KINDS = ("number", "negation", "opposite", "calendar", "code", "name")


def _marks(text: str, kind: str) -> frozenset[str]:
    if kind == "number":
        return frozenset(_NUMBER.findall(text))
    if kind == "code":
        return frozenset(found.strip("`") for found in _CODE.findall(text))
    if kind == "name":
        return frozenset(_NAME.findall(text))
    words = frozenset(_words(text))
    if kind == "negation":
        return words & _NEGATION
    if kind == "calendar":
        return words & _CALENDAR
    return words & frozenset(word for pair in _OPPOSITES for word in pair)


def _words_differ(one: str, other: str) -> bool:
    """Whether each side holds a content word that the other lacks, or the same words stand in
    another order ("A calls B", "B calls A")."""
    first, second = analysis.analyse(one), analysis.analyse(other)
    only_first, only_second = set(first) - set(second), set(second) - set(first)
    if only_first and only_second:
        return True
    common = set(first) & set(second)
    return [term for term in first if term in common] != [term for term in second if term in common]
