"""How much a text that others wrote looks like instructions to the model that will read it.

A mark for the reader, not a filter: whoever wants to can write around it. What keeps text from being
obeyed is how it is put before the model; this only says where to look, and holds back what is plain.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import string
from functools import cache
from typing import NamedTuple

from vector_memory.model import SUSPICION
from vector_memory.text import tables
from vector_memory.text.harmless import INVISIBLE
from vector_memory.text.patterns import PatternSet

LABELLED = 3
"""From this score on a text is shown with a warning."""
HELD = 6
"""From this score on hooks hold back what tools and others wrote: two signs of weight, or one with two
small ones."""
HELD_QUOTED = 9
"""The same for the assistant's own words: talk about attacks is quoted talk."""
MAX_CHARS = 40_000
MOST_RUNS = 8
MOST_TAGS = 3
LEAST_HIDDEN = 4

_ENCODED_RUN = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{48,8000}={0,2}")
_THREE_WORDS = re.compile(r"[A-Za-z]{2,}\s+[A-Za-z]{2,}\s+[A-Za-z]{2,}")
_TAG_CHARACTERS = re.compile("[\U000e0020-\U000e007e]+")


class Suspicion(NamedTuple):
    """How much a text looks like instructions to a model, 0 for not at all, and by which signs."""

    score: int
    reasons: tuple[str, ...]


def assess(text: str, raw: str = "") -> Suspicion:
    """Return how much a text looks like instructions to a model.

    Args:
        text: what is stored, from its start; the end of a very long one is looked at too.
        raw: the text as it came, where what cannot be seen was taken out of it.
    """
    text = _both_ends(text)
    weights = dict(_signs(text))
    hidden = _hidden_texts(raw)
    if hidden:
        weights["is hidden"] = LABELLED
    for hidden_text in (*hidden, *_decoded_texts(text)):
        signs = dict(_signs(hidden_text))
        if signs:
            weights.setdefault("is encoded", 2)
        weights.update({name: max(value, weights.get(name, 0)) for name, value in signs.items()})
    ordered = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    return Suspicion(sum(weights.values()), tuple(name for name, _ in ordered))


def mark(suspicion: Suspicion, least: int) -> dict[str, object]:
    """Return what a memory's `extra` says of a suspicious text, {} of one that is not.

    Args:
        least: the score from which on no hook brings it.
    """
    if suspicion.score < LABELLED:
        return {}
    held_mark = {"held": True} if suspicion.score >= least else {}
    return {SUSPICION: {"score": suspicion.score, "reasons": list(suspicion.reasons), **held_mark}}


def mark_of_quoted(text: str) -> dict[str, object]:
    """Return the `mark` of what the assistant said, who may be quoting."""
    return mark(assess(text), HELD_QUOTED)


def mark_of_mixed(theirs: str, own_words: str) -> dict[str, object]:
    """Return the `mark` of what the assistant said together with others' words, which are looked at as
    strictly as where they stand alone."""
    strict = assess(theirs)
    return mark(strict, HELD) if strict.score >= HELD else mark_of_quoted(f"{own_words}\n{theirs}")


def _both_ends(text: str) -> str:
    half = MAX_CHARS // 2
    return text if len(text) <= MAX_CHARS else f"{text[:half]}\n{text[-half:]}"


def _signs(text: str) -> dict[str, int]:
    """Return the weight of each kind of sign in a text: of several of a kind the heaviest."""
    weights: dict[str, int] = {}
    for place in _patterns().found(text):
        name, weight, _ = _table()[place]
        weights[name] = max(weight, weights.get(name, 0))
    return weights


@cache
def _patterns() -> PatternSet:
    return PatternSet([pattern for _, _, pattern in _table()])


@cache
def _table() -> tuple[tuple[str, int, str], ...]:
    """Return each sign with its weight and its pattern."""
    parts, signs = {}, []
    for line in tables.lines("suspicion", os.path.dirname(__file__)):
        head, _, pattern = line.partition(" " if line.startswith("<") else ": ")
        if line.startswith("<"):
            parts[head] = pattern
            continue
        for part, words in parts.items():
            pattern = pattern.replace(part, words)
        signs.append((head[2:], int(head[0]), pattern))
    return tuple(signs)


def _decoded_texts(text: str) -> list[str]:
    """Return the words that runs of Base64 or hexadecimal digits in a text hold."""
    runs = _ENCODED_RUN.findall(text)[: 2 * MOST_RUNS]
    return list(filter(None, map(_decoded_words, runs)))


def _decoded_words(run: str) -> str:
    run = run.removeprefix("0x")
    is_hex = not run.strip(string.hexdigits)
    try:
        raw = bytes.fromhex(run) if is_hex else base64.b64decode(run + "=" * (-len(run) % 4))
        words = raw.decode("utf-8")
    except (ValueError, binascii.Error):
        return ""
    return words if _THREE_WORDS.search(words) else ""


def _hidden_texts(raw: str) -> list[str]:
    """Return what is written in characters that nobody sees: tag characters spell it out."""
    if raw.isascii() or not INVISIBLE.search(raw):
        return []
    runs = [run for run in _TAG_CHARACTERS.findall(raw) if len(run) >= LEAST_HIDDEN]
    # Flags of regions are spelled in tag characters too: five or six after a black flag.
    spelled = ["".join(chr(ord(char) - 0xE0000) for char in run) for run in runs[:MOST_TAGS]]
    return [words for words in spelled if len(words) > 7]
