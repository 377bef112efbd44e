"""What redaction leaves in a text: no rule looks into it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from vector_memory.redact import categories, personal, places, shapes, values
from vector_memory.redact.spans import Span

_LIKE_ONE = re.compile(r"\[redacted:([a-z0-9-]{2,40})\]")


def placeholders(text: str) -> Iterator[Span]:
    """Yield the placeholders in a text, each with its rule's name. What merely looks like one is none: a
    word that is to go could stand in it."""
    if "[redacted:" in text:
        for hit in _LIKE_ONE.finditer(text):
            if hit[1] in _names():
                yield Span(hit.start(), hit.end(), hit[1])


@cache
def _names() -> frozenset[str]:
    tables = (*shapes.RULES, *places.PLACES, *places.COMMANDS)
    fixed_names = ("rule", "private", "private-key", "encoded", "unsafe")
    kinds = (values.PASSWORD, values.SECRET, values.KEY)
    categories_and_kinds = (*categories.CATEGORIES, *personal.KINDS)
    return frozenset((*(rule.name for rule in tables), *fixed_names, *kinds, *categories_and_kinds))
