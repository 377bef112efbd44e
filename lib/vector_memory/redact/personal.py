"""Personal data that can be told by its form: payment cards, social security numbers, bank accounts,
and, where they are asked for, e-mail addresses and telephone numbers."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Any

from vector_memory.redact.automaton import Meter, finder
from vector_memory.redact.spans import Span
from vector_memory.text import tables

_ANY_CARD = rb"[0-9]{4}(?:[0-9]{9}|[ -][0-9]{4,6}[ -][0-9]{4})"
_ANY_SSN = rb"(?i)[0-9]{3}-[0-9]{2}-[0-9]{4}|\bssn|social security"
_ANY_PHONE = rb"\+[0-9]{1,3}[ .(-]?[0-9]|[0-9)][ .-][0-9]{3,4}[ .-][0-9]{3,4}"
_ANY_IBAN = rb"\b[A-Z]{2}[0-9]{2}[ -]?[A-Z0-9]{4}[ -]?[A-Z0-9]{4}"
_ANY_MAIL = rb"(?i)[a-z0-9._%+-]@[a-z0-9-]"

_CARD = re.compile(
    r"(?<![\w.\-/#+])(?:\d{13,16}|\d{4}([ -])\d{4}\1\d{4}\1\d{1,7}|\d{4}([ -])\d{6}\2\d{4,5})(?![\w-]|\.\d|/\d)"
)
_OF_ISSUER = re.compile(
    r"(?=.{16}$)(?:4|5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720|6011|64[4-9]|65|62|35(?:2[89]|[3-8])"
    r"|5018|5020|5038|5893|6304|6759|676[1-3])"
    r"|(?=.{15}$)(?:3[47]|1800|2131)|(?=.{14}$)(?:30[0-5]|3[689])|(?=.{13}$)4"
)
"""How the numbers of so many digits begin that card issuers give."""
_NOT_CARDS = (
    "id", "hash", "sha", "time", "timestamp", "ts", "seq", "offset", "size", "bytes", "line", "rev", "build",
    "version", "sum",
)  # fmt: skip
"""How names of numbers end that are no cards'."""
_SSN = re.compile(
    r"(?<![\w.\-/+])(?P<dashed>(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4})(?![\w-]|\.\d)"
    r"|(?:\bssn|social security (?:number|no\.?|#)?)[\"']?\s{0,3}(?:is|[:=#])?\s{0,3}[\"']?(?!000|666|9)"
    r"(?P<named>\d{3}[ .]?\d{2}[ .]?\d{4})(?!\d)",
    re.IGNORECASE,
)
_IBAN = re.compile(
    r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,4})?(?![A-Za-z0-9])"
)
_IBAN_SIZES = {
    country: int(size)
    for size, countries in tables.pairs("iban_sizes", os.path.dirname(__file__)).items()
    for country in countries.split()
}
_MAIL = re.compile(r"(?<![\w.%+-])[\w.%+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])")
_PHONE = re.compile(
    r"(?<![\w.\-/:#])(?:\+\d{1,3}[ .-]?(?:\(0?\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,4}){2,4}"
    r"|\(\d{2,4}\)[ .-]?\d{3,4}[ .-]\d{3,4}|\d{3}[ .-]\d{3}[ .-]\d{4})(?:\s?x\d{1,5})?(?![\w-]|\.\d)"
)
DEFAULT = ("card", "ssn", "iban")


def _card(text: str, hit: re.Match[str]) -> tuple[int, int] | None:
    """Return where a card number stands: of an issuer, grouped as cards are, with a good check digit."""
    digits = "".join(filter(str.isdigit, hit.group()))
    before = text[max(0, hit.start() - 16) : hit.start()].rstrip(" \t\n\"':=").lower()
    is_card = _OF_ISSUER.match(digits) and luhn(digits) and not before.endswith(_NOT_CARDS)
    return hit.span() if is_card else None


def luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of the others.

    Source: ISO/IEC 7812-1, annex B.
    """
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0 and len(set(digits)) > 1


def _iban(text: str, hit: re.Match[str]) -> tuple[int, int] | None:
    """Return where a bank account number of a country's length with good check digits stands."""
    start, whole = hit.start(), hit.group()
    fitting = (stop for stop in _group_ends(whole) if is_iban(whole[:stop]))
    stop = next(fitting, 0)
    return (start, start + stop) if stop else None


def _group_ends(whole: str) -> list[int]:
    """Return where a number may end, the longest first: what follows it may look like another group."""
    spaces = [place for place, char in enumerate(whole) if char in " -"]
    return [len(whole), *reversed(spaces)]


def is_iban(number: str) -> bool:
    """Whether it is a bank account number.

    Source: ISO 13616-1, ISO/IEC 7064 (mod 97-10).
    """
    plain = number.replace(" ", "").replace("-", "")
    if len(plain) != _IBAN_SIZES.get(plain[:2]):
        return False
    return int("".join(str(int(char, 36)) for char in plain[4:] + plain[:4])) % 97 == 1


def _phone(text: str, hit: re.Match[str]) -> tuple[int, int] | None:
    """Return where a telephone number stands: with a country's code, or in one of the usual groupings."""
    return hit.span() if 7 <= sum(map(str.isdigit, hit.group())) <= 15 else None


Place = Callable[[str, re.Match[str]], tuple[int, int] | None]
KINDS: dict[str, tuple[bytes, re.Pattern[str], Place]] = {
    "card": (_ANY_CARD, _CARD, _card),
    # With their dashes, or so named.
    "ssn": (_ANY_SSN, _SSN, lambda text, hit: hit.span(str(hit.lastgroup))),
    "iban": (_ANY_IBAN, _IBAN, _iban),
    "email": (_ANY_MAIL, _MAIL, lambda text, hit: hit.span()),
    "phone": (_ANY_PHONE, _PHONE, _phone),
}
"""Of each kind a clue, a pattern, and what tells where in a match of it the data stands."""
_AROUND = 80
_CLUE_WEIGHT = 0.2


def find_personal(kind: str, text: str, plain: bytes, meter: Meter) -> Iterator[Span]:
    """Yield the personal data of a kind."""
    clue, pattern, place_of = KINDS[kind]
    for start, end in _windows(finder(clue).finditer(plain), meter):
        for hit in pattern.finditer(text, start, end):
            if place := place_of(text, hit):
                meter.count()
                yield Span(*place, kind)


def _windows(clues: Iterator[Any], meter: Meter) -> Iterator[tuple[int, int]]:
    """Yield the surroundings of clues, those that overlap as one."""
    start = end = -1
    for clue in clues:
        meter.count(_CLUE_WEIGHT)
        first, last = clue.span()
        if end < 0 or first - _AROUND > end:
            if end >= 0:
                yield start, end
            start = max(0, first - _AROUND)
        end = last + _AROUND
    if end >= 0:
        yield start, end
