"""What a sentence is meant as, and whether it is worth keeping: linear models that were fitted on sentences
labelled by reading.

Two sets of weights, since not all is always known of a sentence. `meaning` adds up its form, its turns of phrase and
its vector; `words` does without the vector, where there is no model or one that the weights are not for, and for
sentences in another language than English, of which the vector knows little. Each has a row for the worth, and one
for each kind. `benchmarks/train_ideas.py` makes the file of weights, and writes into it what data it was made of and
what it was worth on sources left out.

Source: D. R. Cox, "The regression analysis of binary sequences", 1958 (the logistic model).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from vector_memory.index import rules
from vector_memory.index.plain_kinds import plain_kind
from vector_memory.index.units import RULES, Unit, cues, form, is_change_report, is_narration
from vector_memory.index.voices import USER
from vector_memory.model import FACT, QUESTION, TODO
from vector_memory.text import analysis
from vector_memory.text.deadlines import has_deadline

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vector_memory.model import Vector, Vectors

WEIGHTS_FILE = os.path.join(os.path.dirname(__file__), os.pardir, "data", "idea_weights.json")
MEANING, WORDS = "meaning", "words"
LEAST_ABROAD = 0.5
"""The worth from which a sentence in another language is kept: fewer of its turns of phrase are known."""
LEAST_PLAIN = 0.25
"""The worth from which a sentence is kept that says its kind itself, a rule of the user's, and an open box: few of the
labelled sentences are one, and whoever writes "from now on" or "the root cause was" means it to last."""
LEAST_TODO = 0.05
"""The same of "TODO: …" and "Left open: whether …", and of an open box in Japanese, Chinese or Korean: that is short, and
says little besides."""


@dataclass(frozen=True)
class Verdict:
    """What a sentence is meant as (one of `model.INTENTS`), `worth`, 0 … 1: how likely it is worth keeping, and
    whether that is enough."""

    intent: str
    worth: float
    is_kept: bool


@dataclass(frozen=True)
class Weights:
    """The fitted models.

    Attributes:
        model: the embedding model whose vectors `meaning` knows.
        intents: what the rows of weights stand for, after the first, which is for the worth.
        tables: by set, (1 + intents, features + dimensions) weights.
        least: by set, the worth from which a sentence is kept: of the user's, of the assistant's.
    """

    model: str
    intents: tuple[str, ...]
    tables: Mapping[str, NDArray[np.float64]]
    least: Mapping[str, tuple[float, float]]


@cache
def weights() -> Weights:
    """Return the weights that come with the program, read when they are first needed."""
    with open(WEIGHTS_FILE, encoding="utf-8") as file:
        data = json.load(file)
    return Weights(
        model=data["model"],
        intents=tuple(data["intents"]),
        tables={name: np.array(table, float) for name, table in data["tables"].items()},
        least={name: (least[0], least[1]) for name, least in data["least"].items()},
    )


def verdicts(
    units: Sequence[Unit], vectors: Vectors | None, by: Weights | None = None
) -> list[Verdict]:
    """Return what each sentence is worth.

    Args:
        units: the sentences.
        vectors: (len(units), dim) those of their texts, by the model that the weights know; None for none.
        by: other weights than those that come with the program.
    """
    by = by or weights()
    judged = []
    for place, unit in enumerate(units):
        table = WORDS if unit.is_foreign or vectors is None else MEANING
        phrases = cues(unit)
        row = features(
            unit, phrases, None if vectors is None or unit.is_foreign else vectors[place]
        )
        least = LEAST_ABROAD if unit.is_foreign else by.least[table][unit.speaker != USER]
        is_users = unit.speaker == USER
        plain_intent = plain_kind(unit.text, is_users)
        binds = is_users and (phrases[RULES] or has_deadline(unit.text) or rules.binds(unit.text))
        if plain_intent or binds or unit.is_deferred or unit.done is False:
            # Where no spaces part the words, the weights know too few of them to tell the items of such a list apart.
            is_listed = unit.done is False and analysis.is_unspaced(unit.text)
            says_little = is_listed or plain_intent in (TODO, QUESTION)
            least = min(least, LEAST_TODO if says_little else LEAST_PLAIN)
        verdict = _verdict(by.intents, by.tables[table] @ row, least)
        is_passing = is_narration(unit) or (
            (plain_intent or verdict.intent) == FACT and is_change_report(unit)
        )
        judged.append(replace(verdict, worth=0.0, is_kept=False) if is_passing else verdict)
    return judged


def features(
    unit: Unit, phrases: Mapping[str, bool], vector: Vector | None = None
) -> NDArray[np.float64]:
    """Return what the weights know of a sentence: 1, what its form and its turns of phrase (`phrases`) tell, the same
    again where it is the user's, its vector."""
    row = np.array([1.0, *map(float, (*form(unit).values(), *phrases.values()))])
    whole = np.concatenate([row, row * (unit.speaker == USER)])
    return whole if vector is None else np.concatenate([whole, vector])


def _verdict(intents: Sequence[str], odds: NDArray[np.float64], least: float) -> Verdict:
    worth = float(1.0 / (1.0 + np.exp(-np.clip(odds[0], -30, 30))))
    return Verdict(intents[int(np.argmax(odds[1:]))], worth, worth >= least)
