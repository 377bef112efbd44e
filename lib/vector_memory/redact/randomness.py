"""How unlike words a value is: under pairs of letters as words and identifiers have them."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path

DATA = Path(__file__).with_name("letters.txt")
ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789-"
"""The last stands for all that is neither a letter nor a digit, and for the ends of a word."""
SCALE = 8
"""What is stored of a pair: its improbability in eighths of a bit, as a character from "!" on."""
_OTHER = ALPHABET[-1]
_ENOUGH = 40
"""Characters of a value that are looked at: more tell no more."""
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])")
_FOLD = {code: chr(code).lower() if chr(code).isalnum() else _OTHER for code in range(128)}


def pairs_of(value: str) -> list[tuple[str, str]]:
    """Return the pairs of neighbours in a value, its ends included; humps part words."""
    plain = value[:_ENOUGH].encode("ascii", "replace").decode("ascii")
    row = _OTHER + _HUMP.sub(_OTHER, plain).translate(_FOLD) + _OTHER
    return list(pairwise(row))


@cache
def _bits() -> dict[tuple[str, str], float]:
    stored = DATA.read_text(encoding="ascii").strip()
    pairs = ((first, second) for first in ALPHABET for second in ALPHABET)
    return {pair: (ord(char) - 33) / SCALE for pair, char in zip(pairs, stored, strict=True)}


def strangeness(value: str) -> float:
    """Return how improbable a value is as a word or an identifier, in bits for each character: words have
    some 3, random letters and digits 5 and more."""
    pairs = pairs_of(value)
    return sum(map(_bits().__getitem__, pairs)) / len(pairs)
