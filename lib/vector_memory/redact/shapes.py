"""Keys that are known by their shape, which the tables name: patterns have no nested repetition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from vector_memory.redact.automaton import Automaton, Meter, SecretRule
from vector_memory.redact.spans import Span
from vector_memory.text import tables


def _headed_rule(name: str, heads: str, rest: str) -> SecretRule:
    """A rule for keys that start with one of the heads: it and a few characters are the clue. A key that
    the text's end cuts is one, too."""
    head = f"(?:{'|'.join(re.escape(beginning) for beginning in heads.split())})"
    if not rest.startswith("["):
        return SecretRule(name, f"(?<![A-Za-z0-9]){head}{rest}")
    # The class of characters with which it begins.
    first = rest[: rest.index("]") + 1]
    clue = f"(?:^|[^A-Za-z0-9]){head}{first}{{8}}"
    return SecretRule(name, f"(?<![A-Za-z0-9]){head}(?:{rest}|{first}{{16,}}\\Z)", clue=clue)


def _shaped_rule(name: str, pattern: str, clue: str = "", back: str = "0") -> SecretRule:
    return SecretRule(name, pattern, clue=clue, back=int(back))


RULES = (
    *(_headed_rule(*line.split("\t")) for line in tables.lines("key_heads")),
    *(_shaped_rule(*line.split("\t")) for line in tables.lines("key_shapes")),
)


@cache
def automaton() -> Automaton:
    """Return what finds them."""
    return Automaton(RULES)


def find_shapes(text: str, plain: bytes, meter: Meter) -> Iterator[Span]:
    """Yield keys of known shape."""
    for rule, match in automaton().matches(text, plain, meter):
        yield Span(*match.span(rule.group), rule.name)
