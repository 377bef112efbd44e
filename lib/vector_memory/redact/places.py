"""Places where a secret stands by convention: headers, addresses, command lines, SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from vector_memory.redact.automaton import Automaton, Meter, SecretRule
from vector_memory.redact.spans import Span
from vector_memory.redact.values import PASSWORD, is_made, is_said, is_secret, is_telling
from vector_memory.text import tables


def _place_rule(name: str, kind: str, pattern: str, clue: str = "", back: str = "0") -> SecretRule:
    return SecretRule(name, pattern, kind.strip("-"), clue, int(back), re.IGNORECASE)


PLACES = tuple(_place_rule(*line.split("\t")) for line in tables.lines("secret_places"))
COMMANDS = tuple(_place_rule(*line.split("\t")) for line in tables.lines("secret_commands"))

_EMPTY_PASSWORDS = re.compile(
    r"(?:password|passwd|pass|pw|pwd|token|user|\*{1,40}|x{2,40}|\.{3}|your.*|<.*|%[A-Za-z_]+%|%s|\{.*|\$\{?\w.*|\[redacted.*|\d{1,5}(?:/.*)?)",
    re.IGNORECASE,
)


@cache
def automata() -> tuple[Automaton, ...]:
    """Places on their own, and command lines: those reach far, over other places."""
    return tuple(Automaton(rules, case_sensitive=False) for rules in (PLACES, COMMANDS))


def find_places(text: str, plain: bytes, meter: Meter) -> Iterator[Span]:
    """Yield the secrets in known places."""
    for automaton in automata():
        for rule, match in automaton.matches(text, plain, meter):
            if _is_secret(match["s"], rule.kind):
                yield Span(*match.span("s"), rule.name)


_COOKIES = str.maketrans("=;,", "   ")
"""What parts a header's cookies."""


def _is_secret(value: str, kind: str) -> bool:
    if "[redacted" in value:
        return False
    if kind == "cookie":
        return any(map(is_telling, value.translate(_COOKIES).split()))
    if kind == "url":
        return not _EMPTY_PASSWORDS.fullmatch(value)
    if kind == "made":
        return is_made(value)
    if kind == "said":
        return is_said(value, PASSWORD)
    return not kind or is_secret(value, kind, quoted=True)
