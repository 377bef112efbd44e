"""Rules that users write in plain Markdown: what stands under a heading about privacy, compiled.

A list item is a pattern (`/…/`, `/…/i` or in backticks), a term (in quotes or plain), or the name of a
category (credentials, employer, personal, financial, health), which may name terms after a colon."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import re2

from vector_memory.redact.spans import Span

HEADING = re.compile(
    r"^(#{1,6})\s+(?:[^\w#]{0,4}\s*)?(?:privacy|redact(?:ion|ed|s)?|sensitive (?:data|information)|"
    r"confidential(?:ity)?|(?:never|do not|don't) (?:remember|store|record|save))\b[^\n]*$",
    re.IGNORECASE,
)
_ANY_HEADING = re.compile(r"^(#{1,6})\s+\S")
_ITEM = re.compile(r"^\s{0,8}(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(.+?)\s*$")
_FENCE = re.compile(r"^\s{0,3}(?:```|~~~)")
_SLASHED = re.compile(r"(?:^|(?<=\s))/((?:[^/\\\n]|\\.)+)/([a-z]*)(?=$|[\s,;.])")
_TICKED = re.compile(r"`([^`\n]+)`")
_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|(?<!\w)'([^'\n]+)'(?!\w)")
_CATEGORY = re.compile(
    r"^(?:(?:never|do not|don't) (?:remember|store|record|save)\s+)?(?:any |all |my |our |the )*"
    r"(credentials?|secrets?|employer|company|personal|financial|finances?|health|medical)"
    r"(?:[ -](?:data|details|info|information|names?|records?|matters))?(?:\s*[:(–—-]\s*(.+?)\)?)?\.?$",
    re.IGNORECASE,
)
_NAMES = {
    "credential": "credentials", "secret": "credentials", "secrets": "credentials",
    "company": "employer", "finance": "financial", "finances": "financial", "medical": "health",
}  # fmt: skip
MOST_RULES = 200
LONGEST_PATTERN = 500
LONGEST_TERM = 120
SHORTEST_TERM = 2
PATTERN_BYTES = 2**20
"""What one pattern may take as RE2's automaton: a pattern that needs more is refused."""

_SENTENCE = r"[^.!?\n]{0,300}"
CATEGORIES: dict[str, tuple[str, ...]] = {
    # The rules that are always on are about credentials; said so, values of weak names go too.
    "credentials": (
        r"(?i)\b(?:password|passphrase|passcode|pin|token|secret|api[ _-]?key|login|credentials?)\b[\"']?(?:\s{1,2}(?:is|was)|\s?[:=])\s{0,3}[^\s,;]{3,200}",
    ),
    "employer": (
        r"\b(?:[Ee]mployer|[Cc]ompany|[Ww]ork(?:s|ed|ing)? (?:at|for)|[Ee]mployed (?:at|by))(?: is| was|:)? {0,2}[A-Z][\w&.-]{1,40}(?: (?:[A-Z][\w&.-]{1,40}|GmbH|AG|Inc|Ltd|LLC|&)){0,4}",
    ),
    "personal": (
        r"(?i)\b(?:born (?:on|in)|date of birth|birthday|dob)\b[^\n.]{0,12}?\d[\d./ -]{3,12}|\b(?:my|his|her|their|home|postal) address\b[^\n]{0,120}|\bpassport\b[^\n\d]{0,20}[A-Z0-9]{6,12}\b",
    ),
    "financial": (
        r"(?i)\b(?:salary|salaries|wage|income|revenue|turnover|profit|budget|invoice|account balance|net worth|bonus|loan|mortgage|debt)\b" + _SENTENCE,
        r"(?i)\b(?:account|routing|sort code|bic|swift)\b(?: number| no\.?|#)?[:= ]{1,3}[A-Z0-9-]{6,34}\b",
    ),
    "health": (
        r"(?i)\b(?:diagnos(?:is|ed|es)|medication|prescri(?:bed|ption)|therap(?:y|ist)|symptoms?|illness|disease|disorder|surgery|pregnan(?:t|cy)|depress(?:ed|ion)|anxiety|cancer|diabetes|hiv|blood pressure|sick leave|disability|allerg(?:y|ic|ies))\b" + _SENTENCE,
    ),
}  # fmt: skip
PERSONAL_OF = {
    "personal": ("email", "phone", "ssn", "card", "iban"),
    "financial": ("card", "iban"),
}
"""What a category finds by its form beside its words."""


@dataclass(frozen=True)
class Rules:
    """What one user or project wants kept out: patterns with the names of their placeholders, kinds of
    personal data, and what could not be used."""

    patterns: tuple[tuple[str, str], ...] = ()
    personal: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    _compiled: tuple[tuple[str, Any], ...] = field(default=(), compare=False, repr=False)

    def find(self, text: str) -> Iterator[Span]:
        """Yield what the patterns find in a text."""
        for name, pattern in self._compiled:
            for found in pattern.finditer(text):
                if found.end() > found.start():
                    yield Span(found.start(), found.end(), name)

    def plus(self, other: Rules) -> Rules:
        """Return these rules and others together: rules only ever add."""
        if not other or other == self:
            return self
        return Rules(
            (*self.patterns, *other.patterns),
            tuple(dict.fromkeys((*self.personal, *other.personal))),
            tuple(dict.fromkeys((*self.categories, *other.categories))),
            (*self.problems, *other.problems),
            (*self._compiled, *other._compiled),
        )

    def __bool__(self) -> bool:
        return bool(self.patterns or self.personal)


def parse(markdown: str, where: str) -> Rules:
    """Return the rules that a Markdown text has under headings about privacy.

    Args:
        where: the file's name, for problems.
    """
    patterns: list[tuple[str, str]] = []
    categories: list[str] = []
    problems: list[str] = []
    for number, item in _items(markdown):
        try:
            for name, pattern in _patterns_of(item, categories):
                _compile(pattern)
                patterns.append((name, pattern))
        except ValueError as error:
            problems.append(f"{where}:{number}: {error}")
    if len(patterns) > MOST_RULES:
        problems.append(f"{where}: only the first {MOST_RULES} rules count, of {len(patterns)}")
    kept = tuple(dict.fromkeys(patterns[:MOST_RULES]))
    personal = tuple(kind for one in categories for kind in PERSONAL_OF.get(one, ()))
    return Rules(
        kept,
        tuple(dict.fromkeys(personal)),
        tuple(dict.fromkeys(categories)),
        tuple(problems),
        tuple((name, _compile(pattern)) for name, pattern in kept),
    )


def _items(markdown: str) -> Iterator[tuple[int, str]]:
    """Yield the list items under headings about privacy, with their lines' numbers."""
    depth, fenced = 0, False
    for number, line in enumerate(markdown.splitlines(), 1):
        if _FENCE.match(line):
            fenced = not fenced
        if fenced:
            continue
        if heading := _ANY_HEADING.match(line):
            level = len(heading[1])
            if HEADING.match(line):
                depth = min(depth, level) if depth else level
            elif depth and level <= depth:
                depth = 0
        elif depth and (item := _ITEM.match(line)):
            yield number, item[1]


def _patterns_of(item: str, categories: list[str]) -> list[tuple[str, str]]:
    """Return an item's patterns with the names of their placeholders; note its category.

    Raises:
        ValueError: it is neither a pattern nor a term nor a category.
    """
    item = item.strip().strip("*_").strip()
    if category := _CATEGORY.match(item):
        name = category[1].lower()
        name = _NAMES.get(name, name)
        categories.append(name)
        terms = [one.strip(" \"'`“”.") for one in re.split(r"[,;]", category[2] or "")]
        named = [(name, _term(one)) for one in terms if one]
        return [*((name, pattern) for pattern in CATEGORIES[name]), *named]
    slashed = [("rule", _flagged(one[1], one[2])) for one in _SLASHED.finditer(item)]
    ticked = [("rule", one) for one in _TICKED.findall(item)]
    if slashed or ticked:
        return slashed or ticked
    quoted = ["".join(one) for one in _QUOTED.findall(item)]
    return [("rule", _term(one)) for one in quoted or [item]]


def _flagged(pattern: str, flags: str) -> str:
    if set(flags) - set("imsgu"):
        raise ValueError(f"unknown flags {flags!r}: only i, m and s are known")
    known = "".join(one for one in "ims" if one in flags)
    return (f"(?{known})" if known else "") + pattern.replace(r"\/", "/")


def _term(words: str) -> str:
    """Return the pattern of a term: whatever its case, as whole words."""
    words = words.strip()
    if not SHORTEST_TERM <= len(words) <= LONGEST_TERM:
        raise ValueError(f"a term has {SHORTEST_TERM} to {LONGEST_TERM} characters: {words[:40]!r}")
    head = r"\b" if words[0].isascii() and words[0].isalnum() else ""
    tail = r"\b" if words[-1].isascii() and words[-1].isalnum() else ""
    spaced = r"\s{1,4}".join(re2.escape(one) for one in words.split())
    return f"(?i){head}{spaced}{tail}"


def _compile(pattern: str) -> Any:
    """Return RE2's form of a pattern.

    Raises:
        ValueError: it is too long, needs too much memory, matches nothing at all, or RE2 does not know it.
    """
    if len(pattern) > LONGEST_PATTERN + 200:
        raise ValueError(f"a pattern has {LONGEST_PATTERN} characters at most")
    made = re2.Options()
    made.log_errors = False
    made.max_mem = PATTERN_BYTES
    try:
        compiled = re2.compile(pattern, made)
    except re2.error as error:
        words = error.args[0]
        words = words.decode("utf-8", "replace") if isinstance(words, bytes) else str(words)
        raise ValueError(f"{words}: {pattern[:60]!r}") from error
    if compiled.search("") is not None:
        raise ValueError(
            f"it matches the empty text, so it would match everywhere: {pattern[:60]!r}"
        )
    return compiled


def all_patterns(rules: Sequence[Rules]) -> Rules:
    """Return several rules as one."""
    total = Rules()
    for one in rules:
        total = one if not total else total.plus(one)
    return total
