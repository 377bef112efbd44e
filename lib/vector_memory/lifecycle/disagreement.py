"""How likely a newer statement speaks against an older one that is near it, where no rule tells: "support runs
through tickets these days" after "Lena reads the support mails".

A sum of weights: how near both are, how much of each the other one says, signs of change (`data/change_cues.txt`),
numbers and negations. `benchmarks/train_disagreement.py` makes the
file of weights, and writes into it what data it was made of and what it was worth on writers left out.

Source: D. R. Cox, "The regression analysis of binary sequences", 1958 (the logistic model).
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from vector_memory.lifecycle import contradiction, signs, statement
from vector_memory.text import analysis, tables, wording

WEIGHTS_FILE = os.path.join(
    os.path.dirname(__file__), os.pardir, "data", "disagreement_weights.json"
)
LONGEST = 30
"""Words of a statement that the weights know something of."""
OF_ONE_WORDING = 0.55
"""How much two statements have in common, as the product of both shares, where the rules can read them."""
CHANGES = ("now", "ended", "changed", "otherwise")
"""The cues that say that something is not as it was."""


class Weights(NamedTuple):
    """What each feature weighs, "" for the sum's beginning, and the sum from which two statements disagree."""

    weights: Mapping[str, float]
    least: float


def disagrees(newer: str, older: str, cosine: float) -> bool:
    """Whether a newer statement most likely speaks against an older one.

    Args:
        cosine: of their vectors.
    """
    if max(len(newer.split()), len(older.split())) > LONGEST:
        return False
    by = weights()
    return odds(features(newer, older, cosine), by.weights) >= by.least


def odds(told: Mapping[str, float], by: Mapping[str, float]) -> float:
    """Return the sum of weights for the features of two statements; none where they are of one wording and about
    different things, which the rules tell better."""
    if told["alike, apart"] >= OF_ONE_WORDING:
        return -math.inf
    return sum(by[name] * value for name, value in told.items())


@cache
def weights() -> Weights:
    """Return the weights that come with the program."""
    with open(WEIGHTS_FILE, encoding="utf-8") as file:
        told = json.load(file)
    return Weights(told["weights"], told["least"])


def features(newer: str, older: str, cosine: float) -> dict[str, float]:
    """Return what the weights know of two statements, by name."""
    new, old = analysis.analyse(newer), analysis.analyse(older)
    numbers = [_numbers(text) for text in (newer, older)]
    denials = [
        sum(token.lower() in wording.NEGATIONS for token in statement.parse(text).tokens)
        for text in (newer, older)
    ]
    found = {
        "": 1.0,
        "cosine": cosine,
        "known": _share(new, old),
        "kept": _share(old, new),
        "known first": _share(_half(new), old),
        "kept first": _share(_half(old), new),
        "size": math.log1p(len(new)),
        "old size": math.log1p(len(old)),
        "rivals": not signs.about_one(frozenset(new), frozenset(old)),
        "number": _differ(*numbers),
        "same number": not numbers[0].isdisjoint(numbers[1]),
        "denied": denials[0] % 2 != denials[1] % 2,
        **{name: cue.search(newer) is not None for name, cue in _cues().items()},
    }
    found["alike"] = found["known"] * found["kept"]
    found["apart"] = contradiction.are_apart(newer, older)
    found["change"] = any(found[name] for name in CHANGES)
    for sign in ("change", "number", "denied", "apart"):
        for name in ("cosine", "known first", "kept", "kept first"):
            found[f"{sign}, {name}"] = found[sign] * found[name]
    found["alike, cosine"] = found["alike"] * cosine
    found["alike, apart"] = found["alike"] * found["apart"]
    return {name: float(value) for name, value in found.items()}


def _share(words: Sequence[str], others: Sequence[str]) -> float:
    return sum(word in others for word in words) / max(1, len(words))


def _half(words: Sequence[str]) -> Sequence[str]:
    """Return the first half of a statement's words, where what it is about most often stands."""
    return words[: max(1, len(words) // 2)]


def _numbers(text: str) -> frozenset[tuple[str, str]]:
    """Return a text's numbers, each with its dimension, and its days."""
    return frozenset(
        (term.sort, term.key)
        for term in statement.parse(text).terms
        if term.sort == "day" or term.sort.startswith("number")
    )


def _differ(one: frozenset[tuple[str, str]], other: frozenset[tuple[str, str]]) -> bool:
    """Whether both count in one dimension, and not the same."""
    return any(
        not any(found in other for found in one if found[0] == sort)
        for sort in {found[0] for found in one} & {found[0] for found in other}
    )


@cache
def _cues() -> dict[str, re.Pattern[str]]:
    return {
        name: re.compile(pattern, re.IGNORECASE)
        for name, pattern in tables.pairs("change_cues").items()
    }
