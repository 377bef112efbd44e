"""A secret that is broken over lines: what of it stands on the next ones goes with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from vector_memory.redact.randomness import strangeness
from vector_memory.redact.spans import Span

_NEXT_LINE = re.compile(
    # A break behind a backslash is a space by now where a text was folded to one line.
    r"(?:[ \t]*\\?\n[ \t>|]*|\\{1,4}[ \t]+)(?P<s>[A-Za-z0-9+/_=.-]{4,400})(?:\\?[\"'`]|[,;)|]{0,3}[ \t]*(?=\n|$|[|\]]))"
)
_LEAST = 16
_ODD = 4.5


def find_wrapped(text: str, found: Iterable[Span]) -> Iterator[Span]:
    """Yield the lines that go on with a secret which ends its own line."""
    for span in found:
        position = span.end
        while span.size >= _LEAST and (line := _NEXT_LINE.match(text, position)):
            if line["s"].isalpha() or strangeness(line["s"]) < _ODD:
                break
            position = line.end("s")
            yield Span(*line.span("s"), span.name)
