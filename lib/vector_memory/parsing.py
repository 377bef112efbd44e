"""JSON from outside, read so that it takes memory in proportion. Standard library only, Python 3.9."""

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SMALL_BYTES = 256 * 1024
MOST_VALUES = 200_000
"""About how many values one text of JSON may hold: each takes fifty bytes or more once it is parsed, and
two in a text, so that megabytes of empty lists would become gigabytes."""


def is_crowded(raw: bytes) -> bool:
    """Whether a text of JSON would become far larger than it is: it holds more values than talk ever
    does. Marks within its strings count too."""
    if len(raw) < SMALL_BYTES:
        return False
    return sum(raw.count(mark) for mark in (b",", b"[", b"{")) > MOST_VALUES


def load(raw: bytes) -> "Any":
    """Return what a text of JSON says.

    Raises:
        ValueError: it is no JSON, nested too deep, or crowded.
    """
    if is_crowded(raw):
        raise ValueError("it holds more than %d values" % MOST_VALUES)
    try:
        return json.loads(raw)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
