"""Secrets that span lines: private keys, and what the user marked as private; and public keys, which are none."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence

from vector_memory.redact.automaton import Meter, finder
from vector_memory.redact.spans import Span

_EDGE = re.compile(
    r"-{4,5} ?(BEGIN|END) [A-Z0-9 ]{0,40}(?:PRIVATE KEY|SECRET KEY|OPENSSH KEY)(?: BLOCK)? ?-{4,5}"
)
_KEY_LINE = re.compile(
    r"""(?:\\{1,4}[nrt]|[\s"'+,>#|*/]|\d{1,5}[\t→])*"""
    r"""(?:(?P<body>[A-Za-z0-9+/=_-]{16,}|[A-Za-z0-9+/]{1,64}={1,2})"""
    r"""|(?:Proc-Type|DEK-Info|Comment|Version|Hash): [^\n\\"]{0,120})"""
)
_PUTTY_LINE = (
    r"""(?:[ \t"',]{0,4}(?:\\{1,4}r)?(?:\n|\\{1,4}n)[ \t>+|#*"'-]{0,12}(?:\d{1,5}[\t→:|][ ]?)?(?:[A-Za-z0-9+/]{16,100}={0,2}"""
    r"""|(?:[A-Z][\w-]{3,20}: [^\n]{0,200}?|[A-Za-z0-9+/]{1,15}={0,2})(?=[ \t"',]{0,4}(?:\n|\\|\Z))))"""
)
_IN_PUTTY = r"(?:(?!\n\s*\n|PuTTY-)[\s\S])"
_PUTTY_HEAD = (
    r"""(?:Encryption: (?:none|aes[\w-]{1,20})(?=[\s\\"']|\Z)|(?:Public|Private)-Lines: \d)"""
)
_PUTTY = re.compile(
    rf"PuTTY-User-Key-File-\d: (?:{_IN_PUTTY}{{1,20000}}?Private-(?:MAC|Hash): [0-9a-f]{{1,64}}"
    rf"|(?:{_IN_PUTTY}{{1,200}}?{_PUTTY_HEAD}(?:{_IN_PUTTY}{{1,600}}?[A-Za-z0-9+/]{{64,}}){{1,200}}"
    rf"|[\w@.-]{{1,80}}{_PUTTY_LINE}){_PUTTY_LINE}*)"
)
"""A key of PuTTY up to its last line, or of one that is cut off: from its head up to its last full line, none far from the
one before, whatever stands before them, and the lines behind that may be its own."""
_PRIVATE_TAG = re.compile(r"<private\b[^<>\n]{0,200}>|</private\s{0,8}>", re.IGNORECASE)
CLUE = rb"(?i:<private)|(?:PRIVATE|SECRET|OPENSSH) KEY|PuTTY-User-Key-File-"
"""What every text holds in which there is one."""
LONGEST_KEY = 20_000
"""Characters between a private key's first and last line at most."""


_PUBLIC = (
    rb"-----BEGIN [A-Z0-9 ]*(?:PUBLIC KEY|CERTIFICATE)[A-Z ]*-----|\bpk_(?:live|test)_[A-Za-z0-9]+"
    rb"|\b(?:ssh|ecdsa|sk)-[a-z0-9@.-]+[ \t]+AAAA[A-L](?:[HXn3]N[rz]|[GWm2]Vj)[A-Za-z0-9+/]+=*"
)
"""A key of ssh repeats in its base64 how the name of its kind begins: "ss", "sk" or "ec"."""
_PUBLIC_SIGNS = (b"PUBLIC KEY", b"CERTIFICATE", b"pk_", b"AAAA")
"""One of which each has: most texts have none."""
_WITHOUT_SIGNS = str.maketrans("", "", "+/")
_BLANK, _LAST_LINE = "^", 40
"""A sign that no finder takes for part of a value, and characters behind a block's last full line."""
_LEAST_BODY = 20
"""Characters between a key's first and last line at least, where they stand on one line; fewer are an
example in prose."""


def find_blocks(text: str, plain: bytes, meter: Meter) -> Iterator[Span]:
    """Yield private blocks, and private keys, whole or cut short, on lines or with literal `\\n`."""
    yield from _find_private(text)
    yield from _find_pem(text, meter)
    for key in _PUTTY.finditer(text):
        yield Span(*key.span(), "private-key")


def without_public(text: str, plain: bytes, private: Sequence[int]) -> str:
    """Return a text of the same length without what is public by its form: whole blocks of public keys and certificates,
    keys of ssh, publishable keys. Chance makes them look like whatever the words around them say.

    Args:
        text: the text.
        plain: the same from `ascii_of`.
        private: where private keys begin, in order: what holds one is public in name alone.
    """
    if not any(sign in plain for sign in _PUBLIC_SIGNS):
        return text
    parts, position = [], 0
    for hit in finder(_PUBLIC).finditer(plain):
        start, end = hit.span()
        is_block = text[start] == "-"
        if is_block:
            start, end = end, _body_end(text, end, end + LONGEST_KEY)
            if text.find("-----END", end, end + _LAST_LINE) < 0 or (
                bisect(private, start) < bisect(private, end)
            ):
                continue
        for first, last in _key_lines(text, start, end) if is_block else [(start, end)]:
            parts += [text[position:first], _BLANK * (last - first)]
            position = last
    return "".join([*parts, text[position:]])


def _find_private(text: str) -> Iterator[Span]:
    """Yield `<private>…</private>`; one that is never closed reaches to the end."""
    start = depth = 0
    for tag in _PRIVATE_TAG.finditer(text):
        closes = tag.group().startswith("</")
        if not depth and closes:
            continue
        start = start if depth else tag.start()
        depth += -1 if closes else 1
        if not depth:
            yield Span(start, tag.end(), "private")
    if depth:
        yield Span(start, len(text), "private")


def _find_pem(text: str, meter: Meter) -> Iterator[Span]:
    position = 0
    while edge := _EDGE.search(text, position):
        position = edge.end()
        if edge[1] == "BEGIN":
            meter.count()
            end = _key_end(text, position)
            if end is not None:
                yield Span(edge.start(), end, "private-key")
            position = end or position


def _key_end(text: str, start: int) -> int | None:
    """Return where the key ends whose first line ends at `start`; None when no key follows."""
    edge = _EDGE.search(text, start, start + LONGEST_KEY)
    between = text[start : edge.start()] if edge and edge[1] == "END" else ""
    if edge and (len(between) >= _LEAST_BODY or "\n" in between):
        return edge.end()
    limit = edge.start() if edge else min(len(text), start + LONGEST_KEY)
    body = _body_end(text, start, limit)
    return body if body > start else None


def _key_lines(text: str, position: int, limit: int) -> Iterator[tuple[int, int]]:
    """Yield the places of the lines from `position` on that are base64 and no more: what a header says, or a name with
    its value, is as private in a public block as anywhere."""
    while matched := _KEY_LINE.match(text, position, limit):
        position = matched.end()
        if (matched["body"] or "_").rstrip("=").translate(_WITHOUT_SIGNS).isalnum():
            yield matched.span("body")


def _body_end(text: str, position: int, limit: int) -> int:
    """Return the end of the lines of key material that follow `position`."""
    while matched := _KEY_LINE.match(text, position, limit):
        position = matched.end()
    return position
