"""Rules that users and projects wrote, compiled, and what they find: within a budget of size and time, since
a repository may ship any."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from math import prod
from typing import Any

import re2

from vector_memory.errors import UnsafeTextError
from vector_memory.redact.automaton import options
from vector_memory.redact.categories import CATEGORIES
from vector_memory.redact.placeholders import placeholders
from vector_memory.redact.spans import Span

MOST_RULES = 200
LONGEST_PATTERN = 500
PATTERN_BYTES = 2**20
"""What one pattern may take as RE2's automaton: a pattern that needs more is refused."""
MOST_STEPS = 40_000
"""What the patterns of one file may have as programs, together: where an automaton gets too large, RE2 takes
about two nanoseconds for each step and byte."""
SMALL_STEPS = 200
"""A pattern that is looked for together with others like it."""
MOST_COMPILED = 4 * MOST_STEPS
"""Steps after which no more patterns are even compiled; one that is too large counts as `LARGEST`."""
LARGEST = 10_000
TOGETHER_BYTES = 8 * 2**20
WINDOW = 4_096
"""Bytes that are searched before the time is looked at."""
START_S, TEXT_S, BYTE_S = 0.2, 0.0005, 2e-6
"""Processor time of one file's rules: what they may take at once, for any text, and for each of its bytes."""
PROBE_S = 0.008
"""What one rule may take for a probe: as much as all may take for a text so long."""
PROBE_BYTES = 4_096
MOST_OVERSPENT = 3
"""Rules that may take too long, one after the other, before all others of their file go with them."""
_COUNTED = re.compile(r"\{(\d{1,4}),?(\d{0,4})\}")
MATCHES = 256
"""Matches after which the time is looked at."""


@dataclass(eq=False)
class UserRule:
    """One thing that a user or a project wants kept out.

    Attributes:
        name: what stands in its placeholder.
        pattern: in RE2's syntax; "" where it is found by its form alone (`Category.kinds`).
        line: its line in its file, from 1.
        item: the words that it was made of.
        meaning: how they were understood.
        example: something that it takes out, "" for a pattern.
        over: why it is not followed any more, "" while it is.
    """

    name: str
    pattern: str
    meaning: str
    example: str = ""
    line: int = 0
    item: str = ""
    over: str = ""
    spent_s: float = 0.0
    steps: int = 0
    compiled: Any = field(default=None, repr=False)


class Rules:
    """What one file wants kept out.

    Args:
        rules: the rules, not compiled yet.
        problems: what could not be understood, with its place.
        binding: the file is the user's own: where one of its rules cannot be followed, a text is not
            stored. A project's rule that cannot be followed is ignored.
    """

    def __init__(
        self,
        rules: Sequence[UserRule] = (),
        problems: Sequence[str] = (),
        path: str = "",
        binding: bool = False,
    ) -> None:
        self.path = path
        self.binding = binding
        self._problems = list(problems)
        self._credit_s = START_S
        self._overspent = 0
        self._searched: list[UserRule] = []
        self._together = UserRule("", "", "")
        self.rules = tuple(sorted(self._compiled(rules), key=lambda rule: rule.line))
        kinds = (CATEGORIES[rule.name].kinds for rule in self.rules if rule.name in CATEGORIES)
        self.personal = tuple(dict.fromkeys(chain.from_iterable(kinds)))
        self._admit([rule for rule in self.rules if rule.pattern])

    def __bool__(self) -> bool:
        return bool(self.rules)

    @property
    def problems(self) -> tuple[str, ...]:
        """What could not be understood, and which rules are not followed."""
        dropped = (f"{self.path}:{rule.line}: {rule.over}" for rule in self.rules if rule.over)
        return (*self._problems, *dict.fromkeys(dropped))

    def find(self, text: str) -> Iterator[Span]:
        """Yield what the rules find in a text, outside placeholders.

        Raises:
            UnsafeTextError: a rule of the user's own cannot be followed.
        """
        if not self._searched:
            self._require_all()
            return
        data = text.encode("utf-8", "replace")
        hits = self._hits(text, data)
        if len(data) == len(text):
            yield from (Span(start, end, rule.name) for rule, start, end in hits)
            return
        places = sorted({place for _, start, end in hits for place in (start, end)})
        pieces = (
            len(data[start:end].decode("utf-8", "replace"))
            for start, end in zip([0, *places], places, strict=False)
        )
        at = dict(zip(places, accumulate(pieces), strict=True))
        yield from (Span(at[start], at[end], rule.name) for rule, start, end in hits)

    def blame(self, text: str) -> bool:
        """Stop following what still finds something in a text from which all was taken out that it found;
        whether there is any such rule."""
        hits = self._hits(text, text.encode("utf-8", "replace")) if self._searched else []
        for rule, _, _ in hits:
            rule.over = "it goes on matching what it leaves of a text"
        self._require_all()
        return bool(hits)

    def drop(self, line: int, why: str) -> None:
        """Stop following the rules of a line: another process found out that they cannot be."""
        for rule in self.rules:
            if rule.line == line and rule.pattern:
                rule.over = rule.over or why

    def _require_all(self) -> None:
        if self.binding and any(rule.over for rule in self.rules):
            raise UnsafeTextError(
                "A privacy rule of yours cannot be followed, so a text was dropped.",
                "`vector-memory privacy` shows which: make it shorter, or remove it.",
            )

    def _compiled(self, rules: Sequence[UserRule]) -> Iterator[UserRule]:
        """Yield the rules that are any, compiled unless they are too large; tell of the others."""
        steps = 0
        # What may be large comes last: it takes nothing from what is small.
        for rule in sorted(rules, key=lambda rule: _estimate(rule.pattern)):
            try:
                if rule.pattern and steps <= MOST_COMPILED:
                    rule.compiled = _compiled(rule.pattern)
                rule.steps = rule.compiled.programsize if rule.compiled is not None else LARGEST
            except ValueError as error:
                self._problems.append(f"{self.path}:{rule.line}: {error}")
                continue
            steps += rule.steps if rule.pattern else 0
            yield rule

    def _admit(self, patterns: Sequence[UserRule]) -> None:
        """Take as many rules as the budget allows, the small ones first."""
        steps = 0
        for rule in sorted(patterns, key=lambda rule: rule.steps):
            steps += rule.steps
            if rule.compiled is None or steps > MOST_STEPS:
                rule.over = "it is too large, with the others of this file: repeat less in it"
            elif len(self._searched) >= MOST_RULES:
                rule.over = f"only {MOST_RULES} rules of a file count"
            elif _probed_s(rule) > PROBE_S:
                rule.over = "it takes too long"
            else:
                self._searched.append(rule)
        small = [rule.compiled.pattern for rule in self._searched if rule.steps <= SMALL_STEPS]
        if len(small) > 1:
            settings = options(most_bytes=TOGETHER_BYTES, of_utf8=True)
            self._together.compiled = re2.compile(b"(?:" + b")|(?:".join(small) + b")", settings)

    def _hits(self, text: str, data: bytes) -> list[tuple[UserRule, int, int]]:
        self._require_all()
        self._credit_s = min(START_S, self._credit_s + TEXT_S + len(data) * BYTE_S)
        masked, parts = _outside_placeholders(text, data)
        small = True
        if self._together.compiled is not None:
            small = self._occurs(self._together, masked)
            if self._together.over:
                self._together.compiled = None
                small = True
        hits: list[tuple[UserRule, int, int]] = []
        for rule in self._searched:
            if not rule.over and (small or rule.steps > SMALL_STEPS) and self._occurs(rule, masked):
                hits += self._matches(rule, data, parts)
        return [hit for hit in hits if not hit[0].over]

    def _occurs(self, rule: UserRule, masked: bytes) -> bool:
        """Whether a rule's pattern occurs. Of a long text pieces are searched first, since nothing stops
        a search that takes too long."""
        began = time.thread_time()
        for start in range(0, len(masked) if len(masked) > WINDOW else 0, WINDOW):
            rule.compiled.search(masked, start, start + WINDOW)
            began = self._charge(rule, began)
            if rule.over:
                return False
        occurs = rule.compiled.search(masked) is not None
        self._charge(rule, began)
        return occurs and not rule.over

    def _matches(
        self, rule: UserRule, data: bytes, parts: Sequence[tuple[int, int]]
    ) -> Iterator[tuple[UserRule, int, int]]:
        began, count = time.thread_time(), 0
        for first, last in parts:
            for hit in rule.compiled.finditer(data, first, last):
                start, end = hit.span()
                if end > start:
                    yield rule, start, end
                count += 1
                if count % MATCHES == 0:
                    began = self._charge(rule, began)
                    if rule.over:
                        return
        self._charge(rule, began)

    def _charge(self, rule: UserRule, began: float) -> float:
        """Take a rule's time from the credit. Where none is left, the rule that took most goes."""
        now = time.thread_time()
        rule.spent_s += now - began
        self._credit_s -= now - began
        if self._credit_s < 0:
            self._overspent += 1
            running = [
                candidate for candidate in (self._together, *self._searched) if not candidate.over
            ]
            worst = max(running, key=lambda candidate: candidate.spent_s)
            for candidate in [worst] if self._overspent <= MOST_OVERSPENT else running:
                candidate.over = "it takes too long"
            self._credit_s = min(START_S, self._credit_s + worst.spent_s)
            self._require_all()
        return now


def _outside_placeholders(text: str, data: bytes) -> tuple[bytes, list[tuple[int, int]]]:
    """Return a text's bytes with nothing in its placeholders, and the stretches between them."""
    masked, parts, position = bytearray(data), [], 0
    characters = bytes_read = 0
    for span in placeholders(text):
        start = bytes_read + len(text[characters : span.start].encode("utf-8", "replace"))
        characters, bytes_read = span.end, start + span.size
        masked[start + 1 : bytes_read - 1] = bytes(span.size - 2)
        parts.append((position, start))
        position = bytes_read
    parts.append((position, len(data)))
    return bytes(masked), parts


def _compiled(pattern: str) -> Any | None:
    """Return RE2's form of a pattern, for bytes of UTF-8; None where it would be too large.

    Raises:
        ValueError: it is too long, matches nothing at all, or RE2 does not know it.
    """
    if len(pattern) > LONGEST_PATTERN + 300:
        raise ValueError(f"a pattern has {LONGEST_PATTERN} characters at most")
    try:
        bounds = options(most_bytes=PATTERN_BYTES, of_utf8=True)
        made = re2.compile(pattern.encode("utf-8", "replace"), bounds)
    except re2.error as error:
        words = error.args[0]
        words = words.decode("utf-8", "replace") if isinstance(words, bytes) else str(words)
        if "too large" in words:
            return None
        raise ValueError(f"{words}: {pattern[:60]!r}") from error
    if made.search(b"") is not None:
        raise ValueError(
            f"it matches the empty text, so it would match everywhere: {pattern[:60]!r}"
        )
    return made


def _estimate(pattern: str) -> int:
    """Return about how large a pattern's program is: what it repeats counts as often."""
    counts = (int(most or least) for least, most in _COUNTED.findall(pattern))
    return len(pattern) * prod(min(count, 1_000) or 1 for count in counts)


def _probed_s(rule: UserRule) -> float:
    """Return the processor time that a rule takes for a text of its own letters."""
    letters = "".join(dict.fromkeys(char for char in rule.pattern if char.isalnum())) or "a"
    probe = (letters + " ").encode("utf-8", "replace")
    probe = (probe * (PROBE_BYTES // len(probe) + 1))[:PROBE_BYTES]
    best = float("inf")
    for _ in range(2):
        began = time.thread_time()
        rule.compiled.search(probe)
        for start in range(0, PROBE_BYTES, PROBE_BYTES // 4):
            rule.compiled.search(probe, start, start + PROBE_BYTES // 4)
        best = min(best, (time.thread_time() - began) / 2)
    return best
