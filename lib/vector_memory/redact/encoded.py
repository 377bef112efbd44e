"""Secrets behind one layer of an encoding: percent signs, JSON escapes, HTML entities, base64, strings that
code puts together (`"a" + "b"`), lines that a backslash joins.

An encoded text is decoded, looked at, and what is found is taken out where it stood encoded. Decoding
is never stored."""

from __future__ import annotations

import binascii
import html
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from vector_memory.redact.automaton import Meter, finder
from vector_memory.redact.normalise import normalise
from vector_memory.redact.spans import Span

Find = Callable[[str], Iterable[Span]]

_ANY_ESCAPE = rb"%[0-9a-f][0-9a-f]|\\(?:u[0-9a-f]{4}|x[0-9a-f]{2}|u\{[0-9a-f]|/|\")|&(?:#[0-9]{2}|#x[0-9a-f]|lt|gt|quot|amp|apos|colon|equals|commat|period|sol|num)"
_JOINTS = (
    rb"|[\w+/=-]{4}[\"'`][ \t]*(?:[+.&][ \t]*\n?[ \t]*|\\?\n[ \t]*(?:[+.&][ \t]*)?|[ \t])[\"'`][\w+/=-]{4}"
    rb"|\\(?:\n[ \t>|]*|[ \t]+)(?:\w[\w+/=-]{3}|-[a-z])"
)
"""Where code or a shell puts the parts of one value together; of a text that was folded to one line, or that
is quoted, too."""
_ESCAPES = re.compile(
    r"(?P<percent>(?:%[0-9A-Fa-f]{2})+)"
    r"|(?P<json>(?:\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2})+)"
    r"|(?P<brace>\\u\{[0-9A-Fa-f]{1,6}\})"
    r"|(?P<joint>(?<=[\w+/=-])(?P<quote>\\{0,4}[\"'`])[ \t]*(?:[+.&][ \t]*\n?[ \t]*|\\?\n[ \t]*(?:[+.&][ \t]*)?|[ \t])(?P=quote)(?=[\w+/=-])"
    r"|\\{1,4}(?:\n[ \t>|]*|[ \t]+)(?!--|\s))"
    r'|(?P<plain>(?:\\[/"])+)'
    r"|(?P<html>(?:&(?:#[0-9]{2,7}|#[xX][0-9A-Fa-f]{2,6}|[A-Za-z]{2,8});)+)"
)
_BASE64 = (
    rb"(?:(?:^|[^A-Za-z0-9+/_-])[CDI-Za-fw-z0-9][A-Za-z0-9+/_-]{19}"
    rb"|\\n[CDI-Za-fw-z0-9][A-Za-z0-9+/_-]{18})[A-Za-z0-9+/_-]*"
)
"""A run of base64, which of printable text begins with some of its characters alone."""
_RUN_WEIGHT, _JOINT_WEIGHT = 0.05, 0.2
_WRAPPED = 60
"""Characters of base64 that fill a line at least, so that the next line may go on with it."""
_NEXT_LINE = re.compile(
    r"(?:[ \t\"',+]{0,8}(?:\n|\\{1,4}n)[ \t\"'+>|]{0,40}| )(?P<s>[A-Za-z0-9+/_-]+)"
)
"""A text that was folded to one line has a blank there."""
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r")) + b"\x7f"
_ALPHABET = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-")


class DecodedText(NamedTuple):
    """A decoded text, and its stretches: where each stands in it, where in the encoded text, and whether it
    was one run of escapes there; else both run alike up to the next."""

    text: str
    stretches: list[tuple[int, int, bool]]

    def back(self, span: Span) -> Span:
        """Return a span of the decoded text as one of the encoded text."""
        at, start, whole = self.stretches[self._stretch(span.start)]
        start += 0 if whole else span.start - at
        last = self._stretch(span.end - 1)
        at, end, whole = self.stretches[last]
        end = self.stretches[last + 1][1] if whole else end + span.end - at
        return Span(start, end, span.name)

    def _stretch(self, place: int) -> int:
        """Return the number of the stretch that a place of the decoded text stands in."""
        return bisect_right(self.stretches, (place, sys.maxsize)) - 1


def find_encoded(text: str, plain: bytes, find: Find, meter: Meter) -> Iterator[Span]:
    """Yield what `find` finds in the decoded parts of a text, where it stands encoded.

    Args:
        text: a normalised text.
        plain: the same from `ascii_of`.
        find: finds secrets in a text.
    """
    for start, end in _escaped_parts(text, plain, meter):
        view = decoded(text[start:end], meter)
        for span in find(view.text):
            back = view.back(span)
            yield Span(back.start + start, back.end + start, span.name)
    yield from _find_base64(text, plain, find, meter)


def _escaped_parts(text: str, plain: bytes, meter: Meter) -> Iterator[tuple[int, int]]:
    """Yield the lines that hold escapes, those that follow one another together; all of a text in which
    a block that spans lines may be hidden."""
    escapes = finder(_ANY_ESCAPE + _JOINTS, case_sensitive=False)
    escape = escapes.search(plain)
    if escape is None:
        return
    if (b"BEGIN" in plain or b"private" in plain.lower()) and _HIDDEN_BLOCK.search(text):
        yield 0, len(text)
        return
    start = end = -1
    while escape is not None:
        meter.count(_RUN_WEIGHT)
        first, last = escape.span()
        first = text.rfind("\n", 0, first) + 1
        last = text.find("\n", last - 1)
        last = len(text) if last < 0 else last
        if end < 0 or first > end + 1:
            if end >= 0:
                yield start, end
            start = first
        end = last
        escape = escapes.search(plain, last) if last < len(text) else None
    yield start, end


_HIDDEN_BLOCK = re.compile(
    r"(?:&lt;|&#0{0,4}60;|&#x0{0,4}3c;|%3c|\\u003c|\\x3c)/?private|BEGIN(?:%20|\+|&#32;|\\u0020)[A-Z]",
    re.IGNORECASE,
)


def decoded(text: str, meter: Meter) -> DecodedText:
    """Return a text with every run of escapes decoded once."""
    parts: list[str] = []
    stretches = [(0, 0, False)]
    decoded_place = position = 0
    for run in _ESCAPES.finditer(text):
        kind, (first, last) = run.lastgroup or "", run.span()
        # Entities take long, each of a run.
        size = 1 + (last - first) // 6 if kind == "html" else 1
        meter.count(_JOINT_WEIGHT if kind == "joint" else _RUN_WEIGHT * size)
        plain = _decode(kind, run.group())
        parts += (text[position:first], plain)
        start = decoded_place + first - position
        decoded_place = start + len(plain)
        stretches += ((start, first, True), (decoded_place, last, False))
        position = last
    parts.append(text[position:])
    return DecodedText("".join(parts), stretches)


@lru_cache(maxsize=4096)
def _decode(kind: str, run: str) -> str:
    if kind == "percent":
        return unquote_to_bytes(run).decode("utf-8", "replace")
    if kind == "json":
        codes = run.replace("\\x", "\\u").split("\\u")[1:]
        units = "".join(chr(int(code, 16)) for code in codes)
        return units.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if kind == "joint":
        return ""
    if kind == "brace":
        code = int(run[3:-1], 16)
        return chr(code) if code < 0x110000 else "\ufffd"
    return run[1::2] if kind == "plain" else html.unescape(run)


def _find_base64(text: str, plain: bytes, find: Find, meter: Meter) -> Iterator[Span]:
    """Yield the runs of base64 whose text holds a secret, the lines of one block together."""
    reached = 0
    for hit in finder(_BASE64).finditer(plain):
        start, end = hit.span()
        if start < reached:
            continue
        if text[start] not in _ALPHABET:
            start += 2 if text[start] == "\\" and text[start + 1] == "n" else 1
        lines = _lines(text, start, end)
        reached = lines[-1][1]
        for block in _blocks(lines):
            words = _text_of("".join(text[first:last] for first, last in block))
            if words and _has_secret(words, find, meter):
                yield Span(block[0][0], _end_of_padding(text, block[-1][1]), "encoded")
                if len(block) > 1:
                    break


def _lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return a run of base64, and those on the next lines that go on with it."""
    lines = [(start, end)]
    while end - start >= _WRAPPED and (following := _NEXT_LINE.match(text, end)):
        start, end = following.span("s")
        lines.append((start, end))
    return lines


def _blocks(lines: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Yield what may be one text: all lines, those before the last, which may be a word, and each alone."""
    if len(lines) > 1:
        yield lines
    if len(lines) > 2:
        yield lines[:-1]
    for line in lines:
        yield [line]


def _has_secret(words: str, find: Find, meter: Meter) -> bool:
    meter.count()
    return any(True for _ in find(normalise(words)))


def _end_of_padding(text: str, end: int) -> int:
    """Return the end with the padding that follows."""
    while end < len(text) and text[end] == "=":
        end += 1
    return end


def _text_of(run: str) -> str:
    """Return the text that a run of base64 says; "" where it says none."""
    if run.islower() or run.isdigit():
        return ""
    run = run.replace("-", "+").replace("_", "/")
    run = run[: len(run) - 1] if len(run) % 4 == 1 else run
    try:
        raw = binascii.a2b_base64(run + "=" * (-len(run) % 4))
        # Text holds no control characters.
        return raw.decode("utf-8") if raw == raw.translate(None, _CONTROLS) else ""
    except ValueError:
        return ""
