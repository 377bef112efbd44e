"""Bytes as a word of letters, digits, hyphens and underscores, with one way to write each (RFC 4648, section 5,
without padding)."""

from __future__ import annotations

import base64


def packed(raw: bytes) -> str:
    """Return bytes as a word."""
    return base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")


def unpacked(word: str) -> bytes:
    """Return the bytes that a word stands for.

    Raises:
        ValueError: it stands for none, or they would be written otherwise.
    """
    raw = base64.b64decode(word + "=" * (-len(word) % 4), b"-_", validate=True)
    if packed(raw) != word:
        raise ValueError("not as it would be written")
    return raw
