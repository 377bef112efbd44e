"""How likely a newer statement speaks against an older one that is near it, where no rule tells: "support runs
through tickets these days" after "Lena reads the support mails".

A sum of weights: how near both are, how much of each the other one says, signs of change (`change_phrases.txt`)
and numbers. `benchmarks/train_disagreement.py` makes the file of weights, and writes into it what data it was made of
and what it was worth on writers left out.

Source: D. R. Cox, "The regression analysis of binary sequences", 1958 (the logistic model).
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from functools import cache

from vector_memory.lifecycle import statement
from vector_memory.text import analysis
from vector_memory.text.patterns import PatternTable

WEIGHTS_FILE = os.path.join(
    os.path.dirname(__file__), os.pardir, "data", "disagreement_weights.json"
)
LONGEST = 30
"""Words of a statement that the weights know something of."""
_TABLE = PatternTable("change_phrases", os.path.dirname(__file__))


def disagrees(newer: str, older: str, cosine: float) -> bool:
    """Whether a newer statement most likely speaks against an older one.

    Args:
        cosine: of their vectors.
    """
    if max(len(newer.split()), len(older.split())) > LONGEST:
        return False
    feature_weights, least_odds = weights()
    return odds(features(newer, older, cosine), feature_weights) >= least_odds


def odds(values: Mapping[str, float], feature_weights: Mapping[str, float]) -> float:
    """Return the sum of weights for the features of two statements."""
    return sum(feature_weights[name] * value for name, value in values.items())


@cache
def weights() -> tuple[Mapping[str, float], float]:
    """Return what each feature weighs, as it comes with the program, and the sum from which two statements disagree."""
    with open(WEIGHTS_FILE, encoding="utf-8") as file:
        data = json.load(file)
    return data["weights"], data["least"]


def features(newer: str, older: str, cosine: float) -> dict[str, float]:
    """Return what the weights know of two statements, by name."""
    new, old = analysis.analyse(newer), analysis.analyse(older)
    numbers = [_numbers(text) for text in (newer, older)]
    new_in_old, old_in_new = _share(new, old), _share(old, new)
    phrases = _TABLE.found(newer)
    values = {
        "": 1.0,
        "cosine": cosine,
        "known": new_in_old,
        "kept": old_in_new,
        "alike": new_in_old * old_in_new,
        "alike, cosine": new_in_old * old_in_new * cosine,
        "size": math.log1p(len(new)),
        "old size": math.log1p(len(old)),
        "number": not numbers[0] <= numbers[1] and not numbers[1] <= numbers[0],
        "same number": not numbers[0].isdisjoint(numbers[1]),
        **{name: name in phrases for name in _TABLE.parts},
    }
    return {name: float(value) for name, value in values.items()}


def _share(words: Sequence[str], others: Sequence[str]) -> float:
    return sum(word in others for word in words) / max(1, len(words))


def _numbers(text: str) -> frozenset[str]:
    """Return a text's numbers, each with its unit, and its days."""
    terms = statement.parse(text).terms
    return frozenset(term.key for term in terms if term.sort == "day" or "number" in term.sort)
