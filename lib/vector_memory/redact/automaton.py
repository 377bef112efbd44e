"""Many rules looked for in one pass: RE2 says where any of them may match, whatever their number, and
the rule itself, which may look around, decides there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import takewhile
from typing import Any, NamedTuple

import re2

from vector_memory.errors import UnsafeTextError

AUTOMATON_BYTES = 32 * 2**20
"""What one automaton may take; its states are made as texts need them."""
LEAST_PLACES = 3_000
PLACES_PER_KB = 4
"""A text in which more places look like secrets, beyond the first few thousand, is no text that
anybody wants to remember: it is dropped. Ordinary text has about one in a kilobyte."""


class SecretRule(NamedTuple):
    """A kind of secret.

    Attributes:
        name: what stands in its placeholder.
        source: its pattern. The whole match is the secret, or its group `s` where it has one.
        kind: how the value is judged ("" means it always is one).
        clue: what the automaton looks for instead: something short that every match holds. Automata
            grow with what they must count.
        back: characters before a clue that a match may begin at.
        flags: those of the pattern.
    """

    name: str
    source: str
    kind: str = ""
    clue: str = ""
    back: int = 0
    flags: int = 0

    @property
    def group(self) -> str | int:
        """What of a match is the secret."""
        return "s" if "(?P<s>" in self.source else 0

    @property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, compiled when it is first needed: most of them never are."""
        return _compiled(self.source, self.flags)


@cache
def _compiled(source: str, flags: int) -> re.Pattern[str]:
    return re.compile(source, flags)


def ascii_of(text: str) -> bytes:
    """Return a text of the same length in ASCII, "?" for what is none: places in it are places in the
    text, and an automaton of bytes need not know more."""
    return text.encode("ascii", "replace")


def options(
    case_sensitive: bool = True, most_bytes: int = AUTOMATON_BYTES, of_utf8: bool = False
) -> Any:
    """Return RE2's options for patterns of bytes: of any, or of those of UTF-8."""
    settings = re2.Options()
    settings.encoding = re2.Options.Encoding.UTF8 if of_utf8 else re2.Options.Encoding.LATIN1
    settings.never_capture = True
    settings.log_errors = False
    settings.case_sensitive = case_sensitive
    settings.max_mem = most_bytes
    return settings


@cache
def finder(pattern: bytes, case_sensitive: bool = True) -> Any:
    """Return what finds a pattern in bytes, made when it is first needed."""
    return re2.compile(pattern, options(case_sensitive))


class Meter:
    """Counts the places of one text that were looked at.

    Raises:
        UnsafeTextError: they are too many (from `count`).
    """

    def __init__(self, chars: int) -> None:
        self._left: float = LEAST_PLACES + chars * PLACES_PER_KB // 1024

    def count(self, weight: float = 1.0) -> None:
        """Note one more place; one that takes little time weighs less."""
        self._left -= weight
        if self._left < 0:
            raise UnsafeTextError(
                "A text is so dense with what looks like secrets that it was dropped.",
                "Store what you want to remember of it in your own words.",
            )


def gate(clues: Iterable[bytes]) -> Any:
    """Return what tells in one pass over a text in ASCII which of several finders have to look at it.

    Args:
        clues: for each finder a pattern that every text matches in which it finds something.
    """
    return _together(_COUNT.sub(rb"{\1,}", clue) for clue in clues)


def _together(patterns: Iterable[bytes], case_sensitive: bool = True) -> Any:
    """Return what tells the places of those of some patterns that occur in bytes."""
    pattern_set = re2.Set.SearchSet(options(case_sensitive))
    for pattern in patterns:
        pattern_set.Add(pattern)
    pattern_set.Compile()
    return pattern_set


class Automaton:
    """Rules that are looked for together.

    Args:
        rules: the rules; their patterns have no backreferences.
        case_sensitive: whether case counts.
    """

    def __init__(self, rules: Sequence[SecretRule], case_sensitive: bool = True) -> None:
        self.rules = tuple(rules)
        loose = [rule.clue.encode("ascii") or _loose(rule.source) for rule in rules]
        either = b"(?:" + b")|(?:".join(loose) + b")"
        self.clue = either if case_sensitive else b"(?i:" + either + b")"
        self._any = finder(either, case_sensitive)
        self._which = _together(loose, case_sensitive)

    def matches(
        self, text: str, plain: bytes, meter: Meter
    ) -> Iterator[tuple[SecretRule, re.Match[str]]]:
        """Yield each rule's matches.

        Args:
            text: the text.
            plain: the same from `ascii_of`.
        """
        searched_to = 0
        for hit in self._any.finditer(plain):
            start, end = hit.span()
            if start < searched_to:
                continue
            meter.count()
            for place in self._which.Match(plain[start : end + _BEYOND]) or ():
                rule = self.rules[place]
                first, last = max(0, start - rule.back), end + rule.back
                far = (_NEAR if rule.back else LONGEST) if rule.clue else _BEYOND
                for matched in _beginning(rule.pattern, text, range(first, last + 1), end + far):
                    if not rule.kind:
                        searched_to = max(searched_to, matched.end())
                    yield rule, matched


def _beginning(
    pattern: re.Pattern[str], text: str, places: range, limit: int
) -> Iterator[re.Match[str]]:
    """Yield a pattern's matches that begin at one of some places. Where these are few each is tried: a search that
    finds nothing there would go on to the limit, behind every place anew."""
    if len(places) > _BEYOND:
        hits = pattern.finditer(text, places.start, limit)
        yield from takewhile(lambda matched: matched.start() in places, hits)
        return
    reached = places.start
    for place in places:
        matched = pattern.match(text, place, limit) if place >= reached else None
        if matched:
            reached = matched.end()
            yield matched


_LOOKAROUNDS = ("(?=", "(?!", "(?<=", "(?<!")
_BEFORE = "(?<!["
_COUNT = re.compile(rb"\{(\d+),\d+\}")
"""Where a gate does not count: it would need a state for each number."""
_MANY = re.compile(
    r"((?:(?<!\\)\[(?!\^(?!\\s))(?:\\.|[^\]\\])*\]|\\[Ssw])\{\d+,(?=\d\d)|\{\d+,(?=\d{4}))\d+"
)
"""Where an automaton does not: up to tens of letters, or of blanks, which end by themselves; in what spans both it must,
or each place is read again up to the text's end. The states for all such numbers did not fit `AUTOMATON_BYTES`, and RE2
goes on without any then, fifty times as slow."""
_BEYOND = 64
_NEAR = 240
LONGEST = 4_200
"""Characters that a rule may look at after a place, after a clue in the midst of a match, and after one
at its start."""


def _loose(pattern: str) -> bytes:
    """Return a pattern without lookaround. What must not stand before it stays, as one character that
    is read too: else every place in a long word would begin a match that the automaton must follow."""
    head, rest = "", pattern
    if pattern.startswith(_BEFORE):
        signs, _, rest = pattern.removeprefix(_BEFORE).partition("])")
        head = f"(?:^|[^{signs}])"
    rest = _MANY.sub(r"\1", without_lookaround(rest)).replace("(?P<s>", "(?:")
    return (head + rest).encode("ascii")


def without_lookaround(pattern: str) -> str:
    """Return a pattern without its lookarounds: it finds all that the whole one finds, and more."""
    pieces: list[str] = []
    place = 0
    while place < len(pattern):
        if pattern.startswith(_LOOKAROUNDS, place):
            place = _closing(pattern, place) + 1
            continue
        size = 2 if pattern[place] == "\\" else 1
        pieces.append(pattern[place : place + size])
        place += size
    return "".join(pieces)


def _closing(pattern: str, place: int) -> int:
    """Return where the group that opens at a place is closed."""
    depth, in_class = 0, False
    while place < len(pattern):
        char = pattern[place]
        if char == "\\":
            place += 1
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
        elif char in "()":
            depth += 1 if char == "(" else -1
            if not depth:
                break
        place += 1
    return place
