"""A secret that is broken over lines: what of it stands on the next ones goes with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from vector_memory.redact.randomness import strangeness
from vector_memory.redact.spans import Span
from vector_memory.redact.values import is_telling

_NEXT_PART = re.compile(
    # A text that was folded to one line has a blank where the line ended.
    r"(?:[ \t]*\\{0,4}(?P<line>\n|\\{1,4}n)[ \t>|]*|\\{0,4}[ \t]+)(?P<s>[A-Za-z0-9+/_=.-]{4,400})"
    r"(?:\\{0,4}[\"'`]|[,;)|]{0,3}[ \t]*(?=\n|$|[|\]]))"
)
_LEAST = 16
_ODD = 4.5
"""Bits a character from which on what stands on a line of its own is no word."""


def find_wrapped(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Yield the parts that go on with a secret which ends its own line, or did."""
    for span in spans:
        position = span.end
        while span.size >= _LEAST and (part := _NEXT_PART.match(text, position)):
            if not _is_continued(part["s"], bool(part["line"])):
                break
            position = part.end("s")
            yield Span(*part.span("s"), span.name)


def _is_continued(part: str, on_next_line: bool) -> bool:
    if not on_next_line:
        return is_telling(part)
    return not part.isalpha() and strangeness(part) >= _ODD
