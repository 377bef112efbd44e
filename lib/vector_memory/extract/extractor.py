"""The ideas of one stretch of text: a gate, the extractor, one more try, and what is left of it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from vector_memory.extract import prompts, schema
from vector_memory.extract.schema import Extracted
from vector_memory.text.harmless import unescape
from vector_memory.text.words import sentences_in, words_in

GATE_TOKENS = 16
ANSWER_TOKENS = 1_200
SAME_WORDS = 0.8
"""Jaccard similarity of the words from which on two texts say the same."""

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NEGATIONS = frozenset(
    ("not", "no", "never", "without", "cannot", "don't", "doesn't", "isn't", "won't", "avoid", "instead")
)  # fmt: skip
_POINTING = frozenset(("it", "this", "that", "these", "those", "they", "he", "she"))


class AskModel(Protocol):
    """Asks a model."""

    def __call__(
        self, prompt: str, max_tokens: int, schema: Mapping[str, object] | None = None
    ) -> str: ...


class ExtractedIdeas(NamedTuple):
    """What came of a text. `garbage` counts answers that could not be used."""

    ideas: list[Extracted]
    garbage: int = 0


def extract(
    text: str, known_texts: Sequence[str], ask: AskModel, gate: bool = True
) -> ExtractedIdeas:
    """Return the ideas that a model finds in a text and nobody found before.

    What `ask` raises goes through.

    Args:
        text: one stretch of text, redacted.
        known_texts: what rules found in it, or a model before.
        ask: asks the model.
        gate: whether to ask first if there is anything in it.
    """
    mark = os.urandom(6).hex()
    if gate:
        worth = _gate_verdict(ask(prompts.gate(text, mark), GATE_TOKENS))
        if not worth:
            return ExtractedIdeas([], garbage=int(worth is None))
    answer = _ask_twice(prompts.extractor(text, mark), ask)
    usable = [idea for idea in answer.ideas if sourced(idea, text) and stands_alone(idea.text)]
    return ExtractedIdeas(new_ideas(usable, known_texts), answer.garbage)


def _gate_verdict(answer: str) -> bool | None:
    """Return what the gate said; None where it said neither yes nor no."""
    return next((word == "yes" for word in words_in(answer) if word in ("yes", "no")), None)


def _ask_twice(prompt: str, ask: AskModel) -> ExtractedIdeas:
    """Ask for ideas, and once more with what was wrong."""
    complaint = ""
    for unusable in range(2):
        request = prompts.retry_prompt(prompt, complaint) if complaint else prompt
        try:
            ideas = schema.parse(ask(request, ANSWER_TOKENS, schema.json_schema()))
        except ValueError as error:
            complaint = str(error)
        else:
            return ExtractedIdeas([_unescaped(idea) for idea in ideas], garbage=unusable)
    return ExtractedIdeas([], garbage=2)


def _unescaped(idea: Extracted) -> Extracted:
    """Return an idea on one line, with the tags as they were before the prompt escaped them."""
    text, quote = (" ".join(unescape(words).split()) for words in (idea.text, idea.quote))
    return Extracted(text, idea.intent, idea.confidence, quote)


def sourced(idea: Extracted, text: str) -> bool:
    """Whether the words that an idea comes from stand in the text, and so do its numbers."""
    return normalised(idea.quote) in normalised(text) and _numbers(idea.text) <= _numbers(text)


def stands_alone(text: str) -> bool:
    """Whether a text is one sentence that does not point at something outside it."""
    first_word = "".join(words_in(text)[:1]).partition("'")[0]
    # What ends with a short word may be an abbreviation.
    ends_within = any(sentence[-5:-1].isalpha() for sentence in sentences_in(text)[:-1])
    return not ends_within and first_word not in _POINTING


def new_ideas(ideas: Sequence[Extracted], known_texts: Sequence[str]) -> list[Extracted]:
    """Return the ideas that say what neither the known texts nor an idea before them says."""
    said_texts = list(known_texts)
    fresh_ideas = []
    for idea in ideas:
        if not any(says_same(idea.text, other) for other in said_texts):
            fresh_ideas.append(idea)
            said_texts.append(idea.text)
    return fresh_ideas


def says_same(one: str, other: str) -> bool:
    """Whether a text says nothing that another does not: it stands in it, or contains it, or they
    share most words. Another number or a negation makes another statement, however alike the rest."""
    if _is_negated(one) != _is_negated(other):
        return False
    words, other_words = words_in(one), words_in(other)
    if _stands_in(words, other_words):
        return True
    if not other_words or _numbers(one) != _numbers(other):
        return False
    return _stands_in(other_words, words) or len({*words} & {*other_words}) >= SAME_WORDS * len(
        {*words} | {*other_words}
    )


def _stands_in(part: list[str], words: list[str]) -> bool:
    return f" {' '.join(part)} " in f" {' '.join(words)} "


def normalised(text: str) -> str:
    """Return a text in small letters with its white space folded and its tags unescaped."""
    return " ".join(unescape(text).casefold().split())


def _numbers(text: str) -> set[str]:
    return set(_NUMBER.findall(text))


def _is_negated(text: str) -> bool:
    return not _NEGATIONS.isdisjoint(words_in(text))
