"""Secrets that span lines: private keys, and what the user marked as private."""

from __future__ import annotations

import re

_BEGIN = re.compile(
    r"-{4,5} ?BEGIN ([A-Z0-9 ]{0,40})(?:PRIVATE KEY|SECRET KEY|OPENSSH KEY)(?: BLOCK)? ?-{4,5}"
)
_END = re.compile(
    r"-{4,5} ?END [A-Z0-9 ]{0,40}(?:PRIVATE KEY|SECRET KEY|OPENSSH KEY)(?: BLOCK)? ?-{4,5}"
)
_KEY_LINE = re.compile(
    r"""(?:\\{1,4}[nrt]|[\s"'+,>#|*/])*"""
    r"""(?:[A-Za-z0-9+/=_-]{16,}|(?:Proc-Type|DEK-Info|Comment|Version|Hash): [^\n\\"]{0,120}"""
    r"""|[A-Za-z0-9+/]{1,64}={1,2})"""
)
_PUTTY = re.compile(r"PuTTY-User-Key-File-\d: [^\n]{1,80}\n(?:[^\n]{1,200}\n?){1,80}")
_PRIVATE_OPEN = re.compile(r"<private\b[^<>\n]{0,200}>", re.IGNORECASE)
_PRIVATE_CLOSE = re.compile(r"</private\s{0,8}>", re.IGNORECASE)
_PRIVATE_MARK = "[redacted:private]"
_KEY_MARK = "[redacted:private-key]"
LONGEST_KEY = 20_000
"""Characters between a private key's first and last line at most."""


def redact_private(text: str) -> tuple[str, int]:
    """Replace `<private>…</private>`; one that is never closed reaches to the end."""
    if "<" not in text or not _PRIVATE_OPEN.search(text):
        return text, 0
    parts: list[str] = []
    position = count = 0
    while opened := _PRIVATE_OPEN.search(text, position):
        parts += [text[position : opened.start()], _PRIVATE_MARK]
        count += 1
        position = _private_end(text, opened.end())
    parts.append(text[position:])
    return "".join(parts), count


def _private_end(text: str, position: int) -> int:
    """Return where a private block ends whose opening tag ends at `position`, with those inside."""
    depth = 1
    while depth:
        closed = _PRIVATE_CLOSE.search(text, position)
        if closed is None:
            return len(text)
        depth += len(_PRIVATE_OPEN.findall(text, position, closed.start())) - 1
        position = closed.end()
    return position


def redact_keys(text: str) -> tuple[str, int]:
    """Replace private key blocks, whole or cut short, on lines or with literal `\\n`."""
    total = 0
    if "PRIVATE KEY" in text or "SECRET KEY" in text or "OPENSSH KEY" in text:
        text, total = _redact_pem(text)
    if "PuTTY-User-Key-File-" in text:
        text, count = _PUTTY.subn(_KEY_MARK, text)
        total += count
    return text, total


def _redact_pem(text: str) -> tuple[str, int]:
    parts: list[str] = []
    position = count = 0
    while begun := _BEGIN.search(text, position):
        end = _key_end(text, begun.end())
        if end is None:
            parts.append(text[position : begun.end()])
            position = begun.end()
            continue
        parts += [text[position : begun.start()], _KEY_MARK]
        position = end
        count += 1
    parts.append(text[position:])
    return "".join(parts), count


def _key_end(text: str, start: int) -> int | None:
    """Return where the key ends whose first line ends at `start`; None when no key follows."""
    following = _BEGIN.search(text, start)
    limit = min(following.start() if following else len(text), start + LONGEST_KEY)
    body = _body_end(text, start, limit)
    ended = _END.search(text, start, limit)
    if ended and (body > start or "\n" in text[start : ended.start()]):
        return ended.end()
    return body if body > start else None


def _body_end(text: str, position: int, limit: int) -> int:
    """Return the end of the lines of key material that follow `position`."""
    while matched := _KEY_LINE.match(text, position, limit):
        position = matched.end()
    return position
