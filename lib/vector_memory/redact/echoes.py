"""A secret that was told by its name stands elsewhere in the same text without one: it goes there too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vector_memory.redact.spans import MARK, Span
from vector_memory.redact.values import is_telling

MOST = 200
LONGEST = 400
_NOT_ECHOED = frozenset({"private", "private-key", "encoded"})


def find_echoes(text: str, found: Sequence[Span]) -> Iterator[Span]:
    """Yield the other places of the values that were found, where a value can be nothing else."""
    values = {text[one.start : one.end]: one.name for one in found if one.name not in _NOT_ECHOED}
    strong = [
        one for one in values if len(one) <= LONGEST and is_telling(one) and MARK[:10] not in one
    ]
    for value in strong[:MOST]:
        place = text.find(value)
        while place >= 0:
            yield Span(place, place + len(value), values[value])
            place = text.find(value, place + len(value))
