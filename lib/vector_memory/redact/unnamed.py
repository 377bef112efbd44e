"""Passwords that no name tells: "log in as anna with Hamster2Wheel", `-U scanner -P Scan4floor`, "it wants goldfish.Bowl".

People make them of words, so that nothing about them is random, and tell them without saying what they are. A linear
model adds up what a value's form and the words around it weigh. The weights were fitted by `benchmarks/train_unnamed.py`
on what several writers made up and on ordinary transcripts; `unnamed_weights.json` has the figures on writers left out.

Source: D. R. Cox, "The regression analysis of binary sequences", 1958 (the logistic model).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import groupby
from pathlib import Path

from vector_memory.redact.automaton import Meter, finder
from vector_memory.redact.randomness import strangeness
from vector_memory.redact.spans import MARK, Span
from vector_memory.redact.spoken_passwords import FAR_EAST
from vector_memory.text.technologies import CANONICAL

WEIGHTS_FILE = Path(__file__).with_name("unnamed_weights.json")
BIAS = ""
"""What the constant is called among the weights."""
_SIGNS = "!#$%&*+^~@"
_JOINTS = "-_."
_RUN = rb"[A-Za-z0-9!#$%&*+^~@._-]*"
_CLUE = (
    _RUN
    + rb"(?:[A-Za-z][!-&*+^~@._-]?[0-9]|[0-9][!-&*+^~@._-]?[A-Za-z]|[A-Za-z0-9][!#$%&*+^~@][A-Za-z0-9]|[A-Z][a-z]+[-_.][a-z]|[a-z][-_.][A-Z])"
    + _RUN
)
"""Letters beside digits, or parted by a sign, or joined with a capital."""
_CODE = (
    rb"(?:\bpin\b|keypad|(?:gate|door|alarm|safe|lock)[ -]?code|t\?rcode|deurcode|portkod|kod do |codice d|c\?digo d|kodu )"
    rb"[^\n]{0,60}?[^0-9A-Za-z.:/_-][0-9][0-9*#-]{2,8}[0-9#]"
)
"""A number, also one with the other keys of a keypad, that is spoken of as a code."""
_DIGITS = "0123456789"
_KEYS = _DIGITS + "*#-"
_GLUED_BEFORE, _GLUED_AFTER = "/\\.$@-_#%&~<{[=?", "/(\\[{<=:"
"""Beside these a run of characters is part of a path, an address, a call or code; what stands before a colon names
what follows."""
_PLACEHOLDER = MARK[: MARK.index(":") + 1]
_SHORTEST, _LONGEST, _LONGEST_NUMBER = 6, 36, 10
_SHORTEST_RUN = 4
"""Of characters in ASCII: others may belong to the value."""
_NEVER = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|[vV]?\d+(?:\.\d+)+(?:[-+.]?[a-z]+[.-]?\d*)*|\d{4}-\d\d(?:-\d\d)?(?:[T_].*)?"
    r"|\d\d?[.:]\d\d(?:[.:]\d+)?|[0-9a-f-]{7,40}|[A-Z0-9_.-]*[A-Z_-][A-Z0-9_.-]*|\d+[a-z]{1,3}|\S*&(?:nbsp|amp|[lg]t|quot)|\S*[*+]\S*\.\S*|\S*\d{4}-?Q[1-4]|\w{1,3}[&*+^%]\d+|\d+[&*+^%]\w+"
    r"|(?i:argon|k8s|ed25519|x25519|pbkdf)\w*|\S*(?i:oauth|auth0|pkce)\S*|(?i:[a-z-]+-by)"
)
"""Addresses, versions, days, times, digests, constants, quantities, quarters, sums and
names of algorithms."""
_NAMED_BY_DIGITS = (
    "auth0", "oauth2", "base64", "utf-8", "utf8", "utf16", "sha256", "sha1", "sha512", "md5", "ec2", "s3", "i18n", "l10n",
    "a11y", "e2e", "http2", "ipv4", "ipv6", "x86", "arm64",
)  # fmt: skip
"""What has digits and is a word."""
_RANDOM, _LEAST_RANDOM = 5.8, 20
"""Bits a character, and characters, from which on a value is random: whether it is secret `random_values` says."""
_WORD = re.compile(r"[^\W\d_]+|\d+|[^\w\s]")
_PART = re.compile(r"[^\W\d_][^\W\d_A-Z]*")
"""A word of a value: "Hamster2Wheel" has two."""
_BEFORE, _AFTER = 120, 60
"""Characters around a value that are looked at."""
_SHAPE = 7
"""Characters of a value's shape that are looked at: "Aa0Aa" of "Hamster2Wheel"."""
_NEAR, _THEN = 16, 8
"""Words of these that count wherever they stand."""
_CACHED = 8_192
_FORM_WEIGHT, _WEIGHT = 0.1, 0.2
"""What looking at a value's form, and around it, counts of what a text may take."""


def find_unnamed(text: str, plain: bytes, meter: Meter) -> Iterator[Span]:
    """Yield what is likely somebody's password, by its form and the words around it."""
    model = _model()
    for start, end in candidates(text, plain):
        meter.count(_FORM_WEIGHT)
        odds = model.odds_of_form(text[start:end])
        if odds < model.least_of_form:
            continue
        meter.count(_WEIGHT)
        if odds + model.odds_of(_features_around(text, start, end)) >= model.least:
            yield Span(start, end, "password")


def candidates(text: str, plain: bytes) -> Iterator[tuple[int, int]]:
    """Yield where values stand that somebody may have made up.

    Args:
        text: the text.
        plain: the same from `automaton.ascii_of`.
    """
    searched_to = 0
    for hit in finder(_CLUE).finditer(plain):
        first, last = hit.span()
        if first < searched_to or last - first < _SHORTEST_RUN:
            continue
        start, end = _value_bounds(text, first, last)
        if start < searched_to or not _is_alone(text, start, end):
            continue
        searched_to = end
        if _SHORTEST <= end - start <= _LONGEST and not _is_no_password(text[start:end]):
            yield start, end
    for hit in finder(_CODE, case_sensitive=False).finditer(plain):
        end = hit.end()
        number = text[max(0, end - _LONGEST_NUMBER) : end]
        number = number[len(number.rstrip(_KEYS)) :].lstrip("*#-")
        # "The gate code is changed monthly since May 2026": a year is seldom the code.
        is_year = len(number) == 4 and number[:2] in ("19", "20") and number.isdigit()
        is_chips = text[max(0, hit.start() - 5) : hit.start()].lower() == "gpio "
        if not (is_year or is_chips or text[end : end + 1].isalnum()):
            yield end - len(number), end


def _is_no_password(value: str) -> bool:
    """Whether a value is what nobody makes a password of, or what no person makes."""
    if _NEVER.fullmatch(value) or value.rstrip(_DIGITS + ".").lower() in CANONICAL:
        return True
    return len(value) >= _LEAST_RANDOM and strangeness(value) >= _RANDOM


def _value_bounds(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a run of characters with the letters at its ends that ASCII does not have, and without what ends a
    sentence or emphasises a word."""
    # No further than a value may be long: a text may be one word.
    least, most = max(0, end - _LONGEST - 1), min(len(text), start + _LONGEST + 1)
    while start > least and text[start - 1].isalpha() and text[start - 1] < FAR_EAST:
        start -= 1
    while end < most and text[end].isalnum() and text[end] < FAR_EAST:
        end += 1
    while start < end and not text[start].isalnum():
        start += 1
    while start < end and text[end - 1] in "._-*~&+":
        end -= 1
    value = text[start:end]
    if value.endswith("!") and value[1:-1].isalpha() and value[1:] == value[1:].lower():
        end -= 1
    return start, end


def _is_alone(text: str, start: int, end: int) -> bool:
    """Whether a run of characters is no part of a path, an address or code."""
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    if after and after in _GLUED_AFTER:
        return False
    if text[max(0, start - len(_PLACEHOLDER)) : start] == _PLACEHOLDER:
        return False
    return not before or before not in _GLUED_BEFORE or text[max(0, start - 2) : start] == " /"


def features(text: str, start: int, end: int) -> dict[str, float]:
    """Return what the weights know of a value, by name: what is not 0 of its form, and the words around it."""
    return form(text[start:end]) | _features_around(text, start, end)


def _features_around(text: str, start: int, end: int) -> dict[str, float]:
    before = _without_placeholders(text[max(0, start - _BEFORE) : start])
    after = _without_placeholders(text[end : end + _AFTER])
    traits: dict[str, float] = {}
    earlier = [_word(word) for word in _WORD.findall(before)]
    later = [_word(word) for word in _WORD.findall(after)]
    if before.endswith(('"', "'", "`")):
        traits["quoted"] = 1.0
        earlier, later = earlier[:-1], later[1:]
    traits[f"beside {before[-1:] or '^'}"] = 1.0
    traits |= {
        f"before {place} {word}": 1.0 for place, word in enumerate([*reversed(earlier[-3:])], 1)
    }
    traits |= {f"after {place} {word}": 1.0 for place, word in enumerate(later[:2], 1)}
    traits |= {f"near {word}": 1.0 for word in earlier[-_NEAR:] if len(word) > 1}
    traits |= {f"then {word}": 1.0 for word in later[:_THEN] if len(word) > 1}
    option = (before.rstrip("\"'= ").split() or [""])[-1]
    if option.startswith("-") and before[-1:] in "\"'= ":
        traits |= {"option": 1.0, f"option {option}": 1.0}
    return traits


def _without_placeholders(words: str) -> str:
    """Return words without placeholders: a value is no secret because one was taken out beside it."""
    head, *pieces = words.split(_PLACEHOLDER)
    return head + "".join(piece.partition("]")[2] for piece in pieces)


def _word(word: str) -> str:
    return "0" if word.isdigit() else word.lower()


def form(value: str) -> dict[str, float]:
    """Return what the weights know of a value itself, by name."""
    plain = value
    for name in _NAMED_BY_DIGITS:
        place = plain.lower().find(name)
        if place >= 0:
            plain = (
                plain[:place]
                + plain[place : place + len(name)].strip(_DIGITS)
                + plain[place + len(name) :]
            )
    lowered, digits = plain.lower(), sum(map(str.isdigit, plain))
    has_upper, has_lower = plain != lowered, plain != plain.upper()
    joints = sum(plain.count(joint) for joint in _JOINTS)
    traits = {
        BIAS: True,
        "strangeness": strangeness(value) - 4,
        "upper": has_upper, "begins upper": plain[:1] != lowered[:1], "number": value.isdigit(),
        "all three": has_upper and has_lower and digits > 0,
        "digits last": plain[-1:].isdigit(), "two digits last": plain[-2:].isdigit(),
        "year last": plain[-4:-2] in ("19", "20") and plain[-2:].isdigit(),
        "sign": any(sign in value for sign in _SIGNS), "sign last": value[-1] in _SIGNS,
        "capital within": has_lower and plain[1:] != lowered[1:], "joined capital": joints > 0 and has_upper and has_lower,
        "joined small": joints > 0 and not has_upper, "small first": has_upper and plain[:1].islower(),
    }  # fmt: skip
    traits |= {f"has {sign}": sign in value for sign in _SIGNS + _JOINTS}
    parts = [len(part) for part in _PART.findall(plain)]
    shape = "".join(sort for sort, _ in groupby(map(_shape_sign, plain)))
    traits |= {
        f"shape {shape[:_SHAPE]}": True,
        f"longest word {min(8, max(parts, default=0))}": True,
        f"shortest word {min(4, min(parts, default=0))}": True,
        f"words {min(4, len(parts))}": True,
        f"digits {min(4, digits)}": True,
        f"joints {min(3, joints)}": True,
        f"size {min(6, len(value) // 4)}": True,
    }
    return {name: float(has) for name, has in traits.items() if has}


def _shape_sign(char: str) -> str:
    """Return what a character counts as in a value's shape: itself if it is neither a letter nor a digit."""
    return "A" if char.isupper() else "a" if char.isalpha() else "0" if char.isdigit() else char


class _Model:
    """What each feature weighs, and from which sums on a value is looked at and counts as a password."""

    def __init__(self) -> None:
        stored = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
        self._weights: dict[str, float] = stored["weights"]
        self.least, self.least_of_form = float(stored["least"]), float(stored["least of form"])
        self.odds_of_form = lru_cache(_CACHED)(lambda value: self.odds_of(form(value)))

    def odds_of(self, traits: Mapping[str, float]) -> float:
        """Return what some features add up to."""
        return sum(self._weights.get(name, 0.0) * value for name, value in traits.items())


@cache
def _model() -> _Model:
    return _Model()
