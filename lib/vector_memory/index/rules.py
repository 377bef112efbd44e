"""What of a user's words binds later sessions: a convention, a choice to keep to, a limit, what is not to be touched.

People hardly ever say "always": they say "kamal stays", "amounts are integer cents", "conversion happens on our server".
So a linear model adds up what a sentence's form, its turns of phrase and its single words weigh. They were fitted by
`benchmarks/train_rules.py` on sentences labelled by reading; `data/rule_weights.json` has the figures on sources left
out. It reads the sentence alone, so that it serves what was stored before, too.

Source: D. R. Cox, "The regression analysis of binary sequences", 1958 (the logistic model).
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import dropwhile

from vector_memory.index.plain_kinds import plain_kind
from vector_memory.index.units import LONGEST, PATTERNS, Unit, cues, form
from vector_memory.index.voices import USER
from vector_memory.model import PREFERENCE
from vector_memory.text import analysis, tables
from vector_memory.text.words import clauses_in

WEIGHTS_FILE = os.path.join(os.path.dirname(__file__), os.pardir, "data", "rule_weights.json")
LIKELY = 0.45
"""The probability from which a sentence counts as binding."""
BIAS = ""
"""What the constant is called among the weights."""
_FORM_FEATURES = (
    "size", "asked", "asks", "ended", "loud", "code", "named", "digits", "colon", "small",
)  # fmt: skip
_PATTERN_FEATURES = ("reaches", "reserved", "general", "universal", "once")
"""Of what the form tells, and of the expressions, what helps on sources left out."""
_TOKEN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+|[?!.,:;=`]")
_NUMBER = "0"
_GERMAN = "german"
_MODALS = ("can", "could", "may", "must", "should", "want")
_ASKING = ("how", "what", "when", "where", "which", "who", "why")
_BETWEEN_ITEMS = (_NUMBER, "and", ",")
_SPEAKERS = ("i", "i'll", "i'd", "man", "we", "we'll", "we'd")
"""Who asks, or answers: "solltest du …, frag vorher" is no question."""


@lru_cache(2048)
def binds(text: str) -> bool:
    """Whether a user's sentence, or an idea made of one, likely binds later sessions; one that begins as a rule does
    ("Never …", "From now on …", "Ne jamais lancer …") says so itself, and one that asks or answers by its word order
    does not."""
    if plain_kind(text, is_users=True) == PREFERENCE:
        return True
    # Before it may stand the sentence that it leans on.
    last_sentence = clauses_in(_sentence(text).strip())[-1]
    is_asserted = not _asks_or_answers(*_words_in_english(last_sentence))
    return is_asserted and likelihood(text) >= LIKELY


@lru_cache(2048)
def likelihood(text: str) -> float:
    """Return how likely a user's sentence binds later sessions, 0 … 1."""
    weights = _weights()
    odds = sum(weights.get(name, 0.0) * value for name, value in features(text).items())
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, odds))))


def features(text: str) -> Mapping[str, float]:
    """Return what the weights know of a sentence, by name: what is not 0 of its form, its turns of phrase and its words."""
    sentence = _sentence(text)
    words, is_abroad = _words_in_english(sentence)
    unit = Unit(sentence, sentence, USER, False, "", "", (), None, 0.0, is_foreign=is_abroad)
    form_values = form(unit)
    values = {name: float(form_values[name]) for name in _FORM_FEATURES}
    values |= {f"cue {name}": float(has) for name, has in cues(unit).items()}
    values |= {
        f"it {name}": float(bool(PATTERNS[name].search(sentence))) for name in _PATTERN_FEATURES
    }
    values |= dict.fromkeys((f"word {word}" for word in words), 1.0)
    if words:
        values |= {f"first {words[0]}": 1.0, f"last {words[-1]}": 1.0}
    return {BIAS: 1.0} | {name: value for name, value in values.items() if value}


def _sentence(text: str) -> str:
    # What is longer is no sentence, and its end tells no more.
    return _untitled(text[: 2 * LONGEST].replace("\u2019", "'"))


def _untitled(text: str) -> str:
    """Return the words of an idea without the title in brackets that it has where its sentence says too little alone."""
    title, _, rest = text.partition("]")
    return rest[1:] if title[:1] == "[" and rest[:1] == " " else text


def _words_in_english(sentence: str) -> tuple[list[str], bool]:
    """Return the words and signs of a sentence, of a German one those that all German is made of in English, and
    whether it is in another language."""
    words = [_NUMBER if word.isdigit() else word for word in _TOKEN.findall(sentence.lower())]
    is_abroad = analysis.is_abroad(sentence)
    if not is_abroad:
        return words, False
    stop_words = analysis.stop_words_by_language()
    counts = {language: len(stops.intersection(words)) for language, stops in stop_words.items()}
    is_german = counts[_GERMAN] == max(counts.values())
    return [_german_words().get(word, word) for word in words] if is_german else words, True


def _asks_or_answers(words: Sequence[str], is_abroad: bool) -> bool:
    """Whether a sentence asks without its sign ("können wir …", "was nehmen wir …", which the weights know of English), or speaks of an item
    of a list by its number alone ("1 we don't need", "3 machen wir später")."""
    first, second, third, *_ = (*words, "", "", "")
    is_inverted = first in _MODALS and second in _SPEAKERS and "then" not in words
    is_question = is_abroad and (is_inverted or (first in _ASKING and third in _SPEAKERS))
    behind, verb_behind, *_ = (*dropwhile(_BETWEEN_ITEMS.__contains__, words), "", "")
    is_of_items = behind in _SPEAKERS or (is_abroad and verb_behind in _SPEAKERS)
    return is_question or (first == _NUMBER and is_of_items)


@cache
def _german_words() -> dict[str, str]:
    groups = tables.groups("rule_words_german").items()
    return {word: english for english, words in groups for word in words}


@cache
def _weights() -> dict[str, float]:
    with open(WEIGHTS_FILE, encoding="utf-8") as file:
        data: dict[str, dict[str, float]] = json.load(file)
    return data["weights"]
