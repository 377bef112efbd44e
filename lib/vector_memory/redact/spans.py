"""Stretches of a text that must go, and the text without them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

MARK = "[redacted:{}]"


class Span(NamedTuple):
    """A stretch from `start` up to `end`, in characters, and the name of the rule that found it."""

    start: int
    end: int
    name: str

    @property
    def size(self) -> int:
        """Its length, in characters."""
        return self.end - self.start


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return spans in their order, those that overlap as one, named by the longest of them (by the
    first found where they are equal)."""
    made: list[Span] = []
    longest = 0
    for span in sorted(spans, key=lambda one: one.start):
        if made and span.start < made[-1].end:
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
