"""All finders of secrets over one text."""

from __future__ import annotations

from collections.abc import Iterator

from vector_memory.redact.automaton import Meter
from vector_memory.redact.blocks import find_keys, find_private
from vector_memory.redact.pairs import find_pairs
from vector_memory.redact.places import find_places
from vector_memory.redact.randoms import find_randoms
from vector_memory.redact.shapes import find_shapes
from vector_memory.redact.spans import Span


def find_secrets(text: str, plain: bytes, meter: Meter) -> Iterator[Span]:
    """Yield every secret in a normalised text, in no order; they may overlap.

    Args:
        text: the text.
        plain: the same from `ascii_of`.

    Raises:
        UnsafeTextError: nearly all of it looks like secrets.
    """
    yield from find_private(text)
    yield from find_keys(text, meter)
    yield from find_shapes(text, plain, meter)
    yield from find_places(text, plain, meter)
    yield from find_pairs(text, plain, meter)
    yield from find_randoms(text, plain, meter)
