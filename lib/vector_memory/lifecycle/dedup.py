"""Whether two texts say the same, speak against each other, or belong together.

A cosine alone merges port 5432 with port 5433 and "enable" with "disable". So texts are the same
only where the cosine is high **and** they are one assertion in other grammar; what is merely close
is related, and what differs in a number or a negation is put to the user as a likely replacement.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from typing import NamedTuple

from vector_memory.lifecycle import signs, wording
from vector_memory.model import Word
from vector_memory.text import analysis

SAME_COSINE = 0.92
RELATED_COSINE = 0.75
AGAINST_COSINE = 0.65
"""How near two texts must be for a number or a negation to speak against the other one."""
AGAINST_SHARED = 0.6
"""The share of the other words that both must have in common for that."""
DENIED_SHARED = 0.75
"""The share of the shorter text's other words that both must have for a negation to do so."""
SHARED_COSINE = 0.70
"""How near two texts must be to be related by their words ..."""
SHARED_WORDS = 0.5
"""... and the share of common words for that."""
RELATED_WORDS = 0.6
"""The share of common words by which texts are related where there are no vectors."""


class Outcome(Word):
    """What a newer text is to an older one."""

    SAME = "same"
    SUPERSEDES = "supersedes"
    CONTRADICTS = "contradicts"
    RELATED = "related"
    NEW = "new"


class Verdict(NamedTuple):
    """An outcome with its reason: the words that differ, or those that say so."""

    outcome: Outcome
    reason: str = ""


_NUMBER = re.compile(r"[-~^<>=v$]*\d[\w.,:/-]*$")
_UNITS = frozenset(
    ["%", "ms", "s", "min", "h", "B", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "Mb", "Gb", "Kb"]
    + ["day", "days", "week", "weeks", "month", "months", "year", "years"]
)
_NEGATION = frozenset(
    ["not", "no", "never", "none", "nothing", "without", "cannot", "dont", "nobody", "neither"]
    + ["nor", "longer", "stop", "avoid", "except", "unless", "forbidden", "n't"]
)
_OPPOSITES = (
    ("enable", "disable"), ("enabled", "disabled"), ("enables", "disables"), ("on", "off"),
    ("accepts", "rejects"), ("accept", "reject"), ("accepted", "rejected"), ("most", "least"),
    ("starts", "ends"), ("start", "end"), ("fixed", "introduced"), ("passes", "fails"),
    ("true", "false"), ("allow", "deny"), ("allowed", "denied"), ("allow", "forbid"),
    ("allowed", "forbidden"), ("before", "after"), ("increase", "decrease"), ("minimum", "maximum"),
    ("min", "max"), ("first", "last"), ("sync", "async"), ("public", "private"), ("up", "down"),
    ("start", "stop"), ("open", "closed"), ("required", "optional"), ("must", "may"), ("with", "without"),
    ("add", "remove"), ("include", "exclude"), ("ascending", "descending"), ("always", "never"),
    ("only", "all"), ("all", "some"), ("merged", "reverted"), ("above", "below"), ("yes", "no"),
)  # fmt: skip
_OPPOSED = frozenset(pair for both in _OPPOSITES for pair in (both, both[::-1]))
A_NEGATION = "a negation"
_CALENDAR = frozenset(
    f"{day}{ending}"
    for day in ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
                "january", "february", "march", "april", "june", "july", "august", "september",
                "october", "november", "december", "today", "tomorrow", "yesterday", "weekly",
                "daily", "monthly", "hourly", "nightly", "morning", "evening", "quarterly")
    for ending in ("", "s")
)  # fmt: skip
_CODE = re.compile(r"[\w-]*[._/@#$-][\w./@#$-]*|\w*[a-z][A-Z]\w*|[A-Z][A-Z0-9]+")
_ROLES = frozenset(("over", "instead_of", "not", "before", "after", "from", "into", "by", "only"))
_REVERSING = ("un", "dis", "in", "im", "non", "de")


def text_key(text: str) -> bytes:
    """Return the hash by which equal texts are found: the journal's own."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def compare(one: str, other: str, cosine: float | None) -> Verdict:
    """Return what a newer text is to an older one.

    Args:
        one: the newer text.
        other: the older one.
        cosine: of their vectors; None where there is no model, and words alone decide.
    """
    if _is_same(one, other, cosine):
        return Verdict(Outcome.SAME)
    if sign := signs.replaces(one, other, cosine):
        return Verdict(Outcome.SUPERSEDES, f'"{sign}"')
    first, second = _Words.of(one), _Words.of(other)
    if against := _against(first, second, cosine):
        return Verdict(Outcome.CONTRADICTS, against)
    if _is_related(first, second, cosine):
        return Verdict(Outcome.RELATED, _told(first, second))
    return Verdict(Outcome.NEW)


def _is_same(one: str, other: str, cosine: float | None) -> bool:
    if cosine is None:
        return wording.same_words(one, other)
    return cosine >= SAME_COSINE and wording.same_assertion(one, other)


class _Words(NamedTuple):
    """A text's words by what they do. `order` are all tokens, `terms` the stems of what is no value
    and no negation."""

    order: tuple[str, ...]
    numbers: Counter[str]
    calendar: frozenset[str]
    code: frozenset[str]
    negated: int
    terms: frozenset[str]

    @classmethod
    def of(cls, text: str) -> _Words:
        order = tuple(
            token
            for part in wording.sentences(text[: wording.MAX_CHARS])
            for token in wording.tokens(part)
        )
        numbers = Counter(word for word in order if _NUMBER.match(word) or word in _UNITS)
        lower = [word.lower() for word in order]
        calendar = frozenset(lower) & _CALENDAR | _dated_may(lower)
        negated = sum(word in _NEGATION or word == "without" for word in lower)
        values = {*numbers, *calendar, *_NEGATION, "instead_of"}
        plain = [word for word in order if word not in values and word.lower() not in values]
        code = frozenset(word for word in plain if _CODE.fullmatch(word))
        return cls(
            order, numbers, calendar, code, negated, frozenset(analysis.analyse(" ".join(plain)))
        )


def _against(one: _Words, other: _Words, cosine: float | None) -> str:
    """Return what speaks against both texts holding at once, "" for nothing: values, negation or
    roles that differ while nearly all else is the same."""
    if cosine is not None and cosine < AGAINST_COSINE:
        return ""
    if one.code - other.code and other.code - one.code or _are_rivals(one.terms, other.terms):
        return ""
    shared = one.terms & other.terms
    whole = len(one.terms | other.terms) or 1
    least = min(len(one.terms), len(other.terms))
    if len(shared) / whole >= AGAINST_SHARED and (value := _other_values(one, other)):
        return value
    denied = _denied(one, other)
    if denied and len(shared) / max(2, least - (denied != A_NEGATION)) >= DENIED_SHARED:
        return denied
    swapped = one.terms == other.terms and sorted(one.order) == sorted(other.order)
    return "the order of the words" if swapped and _ROLES & set(one.order) else ""


def _are_rivals(one: frozenset[str], other: frozenset[str]) -> bool:
    return any((one - other) & group and (other - one) & group for group in signs.RIVALS)


def _other_values(one: _Words, other: _Words) -> str:
    """Return the numbers or days in which two texts differ, each having some of its own."""
    for first, second in (
        (one.numbers - other.numbers, other.numbers - one.numbers),
        (one.calendar - other.calendar, other.calendar - one.calendar),
    ):
        if first and second:
            return f"{_listed(second)} and {_listed(first)}"
    return ""


def _denied(one: _Words, other: _Words) -> str:
    """Return the negation or the opposites in which two texts differ."""
    if one.negated % 2 != other.negated % 2:
        return A_NEGATION
    first, second = set(one.order) - set(other.order), set(other.order) - set(one.order)
    found = next(
        ((a, b) for a in sorted(first) for b in sorted(second) if _are_opposite(a, b)), None
    )
    return f"{found[1]} and {found[0]}" if found else ""


def _are_opposite(one: str, other: str) -> bool:
    if (one, other) in _OPPOSED:
        return True
    short, long = sorted((one, other), key=len)
    return len(short) > 3 and any(long == prefix + short for prefix in _REVERSING)


def _dated_may(words: list[str]) -> frozenset[str]:
    """Return the month of May where a number beside it tells it from the verb."""
    near = (words[place - 1 : place] + words[place + 1 : place + 2]
            for place, word in enumerate(words) if word == "may")  # fmt: skip
    return frozenset("may" for some in near if any(_NUMBER.match(word) for word in some))


def _is_related(one: _Words, other: _Words, cosine: float | None) -> bool:
    if cosine is not None and cosine >= RELATED_COSINE:
        return True
    if cosine is not None and cosine < SHARED_COSINE:
        return False
    whole = len(one.terms | other.terms)
    least = RELATED_WORDS if cosine is None else SHARED_WORDS
    return whole > 0 and len(one.terms & other.terms) / whole >= least


def _told(one: _Words, other: _Words) -> str:
    """Return the words that only one of two texts has."""
    first, second = set(one.order) - set(other.order), set(other.order) - set(one.order)
    return " / ".join(_listed(words) for words in (second, first) if words)


def _listed(words: object) -> str:
    return ", ".join(sorted(map(str, words))[:6])  # type: ignore[call-overload]
