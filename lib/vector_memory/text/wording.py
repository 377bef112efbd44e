"""Sentences in a form in which different wordings of one assertion are equal.

Nothing that carries meaning is dropped: a word, a number, a sign or a name that differs keeps two
texts apart. What is rewritten is grammar alone: a phrase moved to the front, the passive voice, two
ways to say "must". So a rewriting that is missing leaves two memories instead of one, and never
makes one of two.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from itertools import product

from vector_memory.text import tables
from vector_memory.text.words import sentences_in

Reading = tuple[str, ...]

MAX_CHARS = 2_000
"""Longer texts are only the same when they are equal."""

_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u00a0": " "})
_PREFIX = re.compile(
    r"^(?:please\s+)?(?:(?:please )?(?:note|remember|keep in mind|be aware)(?: that\b|:)|fyi\b[:,]?"
    r"|in short,|basically,|(?:note|info|reminder|important|fact):)\s*",
    re.IGNORECASE,
)
_REWRITES = [
    (re.compile(pattern, re.IGNORECASE), instead.strip('"'))
    for pattern, instead in (
        entry.split("\t") for entry in tables.lines("rewritings", os.path.dirname(__file__))
    )
]
_TOKEN = re.compile(
    r"`[^`]+`|\"[^\"]+\"|(?<!\w)'[^']+'(?!\w)|[<>=!~^+*&|]+(?=[\w.\s])|->|%|\?"
    r"|[-.~/@#$!]*\w[^\s`\"()\[\]{},;<>=!?|]*|[^\s\w`\"()\[\]{},;.!:']+"
)
_GROUPED = re.compile(r"\b\d{1,3}(?:,\d{3})+\b")
_EMPTY_WORDS = frozenset(("a", "an", "the", "please"))
_WORDS_OF = tables.sets("grammar")


def _rows(part: str) -> list[list[str]]:
    return [line.split() for line in tables.sections("grammar")[part]]


_SPELLINGS = dict(_rows("spellings"))
_FRONTING_WORDS = _WORDS_OF["fronted"]
_TYPES = _WORDS_OF["types"]
_CLAUSES = _WORDS_OF["clauses"]
_BE = frozenset(("is", "was"))
IRREGULAR = {participle: (base, was) for participle, base, was in _rows("irregular")}
NEGATIONS = _WORDS_OF["negations"]
_MODALS = frozenset(("must", "should", "may", "can", "might", "could", "will", "would", "shall"))


def same_assertion(one: str, other: str) -> bool:
    """Whether two texts assert the same, sentence by sentence, whatever their grammar."""
    return same_readings(assertion(one), assertion(other))


def assertion(text: str) -> tuple[frozenset[Reading], ...]:
    """Return the wordings of each sentence of a text, () for a longer one."""
    return tuple(map(readings, sentences(text))) if len(text) <= MAX_CHARS else ()


def same_readings(
    one: tuple[frozenset[Reading], ...], other: tuple[frozenset[Reading], ...]
) -> bool:
    """Whether two texts assert the same, by what `assertion` returns of them."""
    return len(one) == len(other) > 0 and all(
        not wordings.isdisjoint(other_wordings)
        for wordings, other_wordings in zip(one, other, strict=True)
    )


def same_words(one: str, other: str) -> bool:
    """Whether two texts differ in case, articles, white space and punctuation at most."""
    return _token_rows(one) == _token_rows(other)


def sentences(text: str) -> list[str]:
    """Return a text's sentences, without opening words such as "Note that"."""
    parts = (_PREFIX.sub("", part.strip()) for part in sentences_in(text.translate(_QUOTES)))
    return [part for part in parts if part]


def tokens(sentence: str) -> Reading:
    """Return a sentence's words, numbers and signs in their order and one spelling."""
    return tuple(token for part in _clause_tokens(sentence) for token in part)


@lru_cache(maxsize=512)
def readings(sentence: str) -> frozenset[Reading]:
    """Return the wordings of a sentence that say the same as it does."""
    parts = [part for part in _clause_tokens(sentence) if part]
    flat = tuple(token for part in parts for token in part)
    wordings = {_types_last(_without_we(flat))}
    if len(parts) > 1 and parts[0][0] in _FRONTING_WORDS and len(parts[0]) > 1:
        rest = tuple(token for part in parts[1:] for token in part)
        wordings.add(_types_last((*_without_we(rest), *parts[0])))
    wordings |= {reworded for reading in wordings for reworded in _reworded(reading)}
    if flat[:1] != ("we",) and not _MODALS & set(flat):
        # What is written as an order may be said with "must"; what merely happens may not.
        wordings |= {("must", *reading) for reading in wordings & {_types_last(flat)}}
    return frozenset(wordings)


def _token_rows(text: str) -> list[Reading]:
    return [tokens(sentence) for sentence in sentences(text)]


def _clause_tokens(sentence: str) -> list[Reading]:
    """Return the tokens of a sentence, cut at its commas."""
    text = _GROUPED.sub(
        lambda grouped: grouped[0].replace(",", ""), sentence.translate(_QUOTES).strip()
    )
    for pattern, instead in _REWRITES:
        text = pattern.sub(instead, text)
    return [_part_tokens(part) for part in re.split(r",\s+", text)]


def _part_tokens(part: str) -> Reading:
    # A capital within a sentence is a name: "team A".
    spelled = (
        raw if raw == "A" and place else _spelling(raw)
        for place, raw in enumerate(_TOKEN.findall(part))
    )
    return tuple(word for word in spelled if word and word not in _EMPTY_WORDS)


def _spelling(raw: str) -> str:
    """Return a token in one spelling: ordinary words in lower case, everything else as it is."""
    if raw[0] in "`\"'" and len(raw) > 1:
        return raw.strip("`\"'")
    raw = raw.rstrip(".:;'!") if len(raw) > 1 else raw
    letters = raw.replace("'", "").replace("-", "")
    is_plain = letters.isascii() and letters.isalpha() and raw[0].isalpha()
    is_ordinary = is_plain and raw[1:2] != "'" and (letters.islower() or letters[1:].islower())
    word = raw.lower() if is_ordinary or raw in ("A", "I") else raw
    return _SPELLINGS.get(word, word)


def _without_we(reading: Reading) -> Reading:
    return reading[1:] if reading[:1] == ("we",) and len(reading) > 2 else reading


def _types_last(reading: Reading) -> Reading:
    """Return a reading with "the flag new_checkout" as "the new_checkout flag"."""
    words = list(reading)
    for place in range(1, len(words)):
        if _is_identifier(words[place]) and words[place - 1] in _TYPES:
            first = place - 1
            if first and words[first] == "flag" and words[first - 1] == "feature":
                first -= 1
            words[first : place + 1] = [words[place], *words[first:place]]
    return tuple(words)


def _is_identifier(word: str) -> bool:
    return "_" in word.strip("_") and word != "instead_of"


def _reworded(reading: Reading) -> set[Reading]:
    """Return a reading in other grammar: the active for the passive, "V Y with X" for "use X to V
    Y"."""
    wordings = _with_for_use(reading)
    places = [place for place, word in enumerate(reading) if word in _BE or word == "be"]
    # With two clauses it would have to be known which of them a word belongs to.
    if len(places) != 1 or not _CLAUSES.isdisjoint(reading[: places[0]]):
        return wordings
    (place,) = places
    modal = "must" if reading[place - 1 : place] == ("must",) and reading[place] == "be" else ""
    if place and (reading[place] in _BE or modal):
        wordings |= _active_readings(reading, place, modal)
    return wordings


def _active_readings(reading: Reading, place: int, modal: str) -> set[Reading]:
    """Return the active sentences that say the same as a passive one.

    Args:
        place: where "is", "was" or the "be" of "must be" stands.
        modal: "must", or "" without one.
    """
    patient, following = reading[: place - bool(modal)], reading[place + 1 :]
    negated = modal and patient[-1:] == ("not",)
    if not patient or not following or negated or following[0] in ("not", "only"):
        return set()
    is_past = reading[place] == "was"
    verbs = _verbs(following[0], is_past)
    if not verbs:
        return set()
    if "by" in following[1:] and not modal:
        by_place = following.index("by", 1)
        between, agent = following[1:by_place], following[by_place + 1 :]
        if not agent or between:
            return set()
        return {(*agent, verb, *patient) for verb in verbs}
    if modal:
        base = {IRREGULAR[following[0]][0]} if following[0] in IRREGULAR else verbs
        return {("must", verb, *patient, *following[1:]) for verb in base}
    return {(verb, *patient, *following[1:]) for verb in verbs}


def _with_for_use(reading: Reading) -> set[Reading]:
    start = 1 if reading[:1] == ("must",) else 0
    if reading[start : start + 1] != ("use",) or reading.count("to") != 1:
        return set()
    to_place = reading.index("to")
    tool, purpose = reading[start + 1 : to_place], reading[to_place + 1 :]
    return {(*reading[:start], *purpose, "with", *tool)} if tool and len(purpose) > 1 else set()


@lru_cache(maxsize=4_096)
def _verbs(participle: str, past: bool) -> frozenset[str]:
    """Return the forms that a participle's verb has in the active, all that could be."""
    if participle in IRREGULAR:
        base, was = IRREGULAR[participle]
        if was == base:
            # "They set it" may be of today or of yesterday: only "sets" tells.
            return frozenset() if past else frozenset((base + "s",))
        return frozenset((was,)) if past else frozenset((base, base + "s", base + "es"))
    if not participle.isalpha() or not participle.endswith("ed") or len(participle) < 5:
        return frozenset()
    if past:
        return frozenset((participle,))
    stems = [participle[:-1], participle[:-2]]
    if participle.endswith("ied"):
        stems = [participle[:-3] + "y", participle[:-3] + "ie"]
    elif participle[-3] == participle[-4]:
        stems.append(participle[:-3])
    return frozenset(stem + ending for stem, ending in product(stems, ("", "s", "es")))
