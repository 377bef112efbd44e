"""All finders of secrets over one text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cache, partial
from typing import Any

from vector_memory.redact import (
    blocks,
    columns,
    fields,
    pairs,
    personal,
    places,
    random_values,
    shapes,
    unnamed,
)
from vector_memory.redact.automaton import Meter, ascii_of, gate
from vector_memory.redact.normalise import folded
from vector_memory.redact.spans import Span

Find = Callable[[str, bytes, Meter], Iterator[Span]]


@cache
def finders() -> tuple[Any, list[tuple[str, Find]]]:
    """Return finders, each with the kind of personal data that it finds, and what tells which of them have
    to look at a text. Keys by their shape and random values are none of them: with these the gate would make
    states for as long as it reads what is random."""
    with_clues: list[tuple[bytes, str, Find]] = [
        (blocks.CLUE, "", blocks.find_blocks),
        (b"|".join(automaton.clue for automaton in places.automata()), "", places.find_places),
        (pairs.CLUE, "", pairs.find_pairs),
        (columns.CLUE, "", columns.find_columns),
        (fields.CLUE, "", fields.find_fields),
        (columns.INTO, "", columns.find_inserted),
    ]
    for kind, (clue, *_) in personal.KINDS.items():
        with_clues.append((clue, kind, partial(personal.find_personal, kind)))
    return gate(clue for clue, _, _ in with_clues), [(kind, find) for _, kind, find in with_clues]


def find_secrets(text: str, kinds: Collection[str], meter: Meter) -> Iterator[Span]:
    """Yield every secret in a normalised text, in no order; they may overlap.

    Args:
        text: the text.
        kinds: of personal data that are secret too.

    Raises:
        UnsafeTextError: nearly all of it looks like secrets.
    """
    text = folded(text)
    plain = ascii_of(text)
    keys = list(shapes.find_shapes(text, plain, meter))
    yield from keys
    private = sorted(key.start for key in keys if key.name == "private-key")
    without_public = blocks.without_public(text, plain, private)
    if without_public is not text:
        text, plain = without_public, ascii_of(without_public)
    clues, all_finders = finders()
    for place in sorted(clues.Match(plain) or ()):
        kind, find = all_finders[place]
        if not kind or kind in kinds:
            yield from find(text, plain, meter)
    # What another finder names says more than "secret".
    yield from random_values.find_randoms(text, plain, meter)
    yield from unnamed.find_unnamed(text, plain, meter)
