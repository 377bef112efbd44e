"""JSON with one way to write each value (RFC 8785), so that what was signed can be written again."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

LARGEST = 1 << 53
"""From here on whole numbers are not told apart by programs that keep numbers as doubles."""


def canonical_bytes(value: Any) -> bytes:
    """Return JSON values in their canonical form, as UTF-8.

    Raises:
        ValueError: a value has no such form: NaN, an integer beyond 2^53, half a character, a key that is no
            string, or something that JSON does not know.
    """
    return _text(value).encode("utf-8")


def _text(value: Any) -> str:
    if value is None or isinstance(value, (bool, str)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int):
        if abs(value) > LARGEST:
            raise ValueError(f"{value} is beyond 2^53")
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_text, value)) + "]"
    if isinstance(value, dict):
        if not all(isinstance(name, str) for name in value):
            raise ValueError("a key is no string")
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{_text(name)}:{_text(value[name])}" for name in names) + "}"
    raise ValueError(f"JSON knows no {type(value).__name__}")


def _number(value: float) -> str:
    """Return a number as ECMAScript writes it: the same digits as Python's, other exponents."""
    if not math.isfinite(value):
        raise ValueError(f"{value} is no number of JSON")
    if value == 0:
        return "0"
    digits = repr(value)
    if 1e-6 <= abs(value) < 1e21:
        return f"{Decimal(digits):f}".removesuffix(".0")
    mantissa, _, exponent = digits.partition("e")
    return f"{mantissa}e{int(exponent):+}"
