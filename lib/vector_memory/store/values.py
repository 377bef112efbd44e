"""Values as the table holds them."""

from __future__ import annotations

from datetime import datetime, timezone

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def storable(text: str) -> str:
    """Return text that UTF-8 can hold: lone surrogates become question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def microseconds(moment: datetime) -> int:
    """Return the microseconds from 1970 to an aware time."""
    past = moment - _EPOCH
    return (past.days * 86_400 + past.seconds) * 1_000_000 + past.microseconds
