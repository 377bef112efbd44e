"""The numbers that an exchange tells of and that stand in a file, each by the word before it: "15" behind "MINUTES" in
"src/lid.py". A later edit that puts another number there is known to have changed what was told, in whatever words, and
whatever else stands in the line; what the exchange only read counts like what it wrote."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from vector_memory.text.words import names_in

LONGEST = 6
"""Digits of a number at most: a longer one is an id, or somebody's."""
_DIGITS = "0123456789"


class Value(NamedTuple):
    """A number in a file: the file and the word that stands before it, and the number."""

    place: str
    number: str


def numbers_told(texts: Iterable[str]) -> set[str]:
    """Return the numbers that texts tell, without the zeros before them."""
    return {number for text in texts for name in names_in(text) if (number := _number(name))}


def values_in(path: str, text: str, clean: Callable[[str], str]) -> list[Value]:
    """Return the numbers of a text that stands in a file, in their order, each with the word before it in its line.

    Args:
        clean: redacts a text.
    """
    return list(_values(path, clean(text)))


def values_read(
    path: str, text: str, told: Collection[str], clean: Callable[[str], str]
) -> dict[Value, None]:
    """Return those numbers of a file that was read which the exchange tells: of a long one few."""
    lines = (line for line in text.splitlines() if not numbers_told([line]).isdisjoint(told))
    return {one: None for one in values_in(path, "\n".join(lines), clean) if one.number in told}


def value_mark(value: Value) -> bytes:
    """Return a value's mark, as long as a line's: its last byte is the number's (`number_mark`)."""
    whole = "\0".join(value).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(whole, digest_size=4).digest() + number_mark(value.number)


def number_mark(number: str) -> bytes:
    """Return the byte by which a number is known among the marks of values."""
    return hashlib.blake2b(number.encode(), digest_size=1).digest()


def _values(path: str, text: str) -> Iterator[Value]:
    for line in text.splitlines():
        for word, name in pairwise(names_in(line.casefold())):
            if number := _number(name):
                yield Value(f"{path}\0{word}", number)


def _number(name: str) -> str:
    """Return the number that a name begins with ("12" of "12.0f", "2" of "02"); "" for none, and for a long one."""
    digits = name[: len(name) - len(name.lstrip(_DIGITS))].lstrip("0")
    return digits if len(digits) <= LONGEST else ""
