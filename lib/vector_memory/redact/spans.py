"""Stretches of a text that must go, and the text without them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

MARK = "[redacted:{}]"
NEAR = 48
"""Characters between two spans that are taken out with them where there are very many."""


class Span(NamedTuple):
    """A stretch from `start` up to `end`, in characters, and the name of the rule that found it."""

    start: int
    end: int
    name: str

    @property
    def size(self) -> int:
        """Its length, in characters."""
        return self.end - self.start


def merge_spans(spans: Iterable[Span], gap: int = 0) -> list[Span]:
    """Return spans in their order, those that overlap as one, named by the longest of them (by the
    first found where they are equal).

    Args:
        gap: characters between two that are made one all the same.
    """
    made: list[Span] = []
    longest = 0
    for span in sorted(spans, key=lambda item: item.start):
        if made and span.start < made[-1].end + gap:
            name = span.name if span.size > longest else made[-1].name
            longest = max(longest, span.size)
            made[-1] = Span(made[-1].start, max(made[-1].end, span.end), name)
        elif span.size:
            made.append(span)
            longest = span.size
    return made


def without(text: str, spans: Iterable[Span]) -> str:
    """Return a text with each of the merged spans replaced by `[redacted:<rule>]`."""
    parts: list[str] = []
    position = 0
    for span in spans:
        parts += [text[position : span.start], MARK.format(span.name)]
        position = span.end
    parts.append(text[position:])
    return "".join(parts)
