"""Which of memories that are worded alike comes first: the one that holds more of the question.

Scores are sums of many things, and among texts that differ in one number or name all of them are
noise. There the question's own words decide.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from vector_memory.model import Memory
from vector_memory.text import analysis

ALIKE = 0.5
"""The share of the longer text's words that two have in common when they are worded alike."""
MOST_CHARS = 600
"""Longer texts say many things: no word of the question decides between them."""
LEAST_WORDS = 3
"""Words from which on a text that has all of a question's words in their order is what was asked for."""
PART = 1 / 3
"""The share of a text that the question must be for that."""
_WORD = re.compile(r"\d+(?:[.,]\d+)*(?=[^\W\d_]{1,3}\b)|\w+(?:[-./:@#+]+\w+)*")
"""A word, or a number whose unit is written with it: 30s is 30 s."""
_TELLING = frozenset(("not", "no", "never", "cannot", "only", "before", "after", "on", "off"))


class Wording(NamedTuple):
    """A text's words in their order, lower-case, how many they are, and the stems of those that tell something."""

    words: str
    """Each between two spaces, so that words that follow each other are found as they stand."""
    length: int
    stems: frozenset[str]


@lru_cache(maxsize=2_048)
def wording_of(text: str) -> Wording:
    """Return a text's words, whatever their case and the signs between them."""
    words = [word.lower() for word in _WORD.findall(text)]
    telling = {word for word in words if word in _TELLING or word not in analysis.STOP_WORDS}
    return Wording(f" {' '.join(words)} ", len(words), frozenset(map(analysis.stem, telling)))


def holds_as_much(question: str, text: str, other_text: str) -> bool:
    """Whether one text holds all words of a question that the other holds."""
    question_stems = wording_of(question).stems
    return question_stems & wording_of(other_text).stems <= wording_of(text).stems


def in_own_words(question: str, memory: Memory) -> bool:
    """Whether a memory is asked for in its own words: they are the question, or it is a good part of
    them as it stands."""
    question_wording, memory_wording = wording_of(question), wording_of(_comparable_text(memory))
    if question_wording.words == memory_wording.words:
        return question_wording.length > 0
    if question_wording.length < max(LEAST_WORDS, PART * memory_wording.length):
        return False
    return question_wording.words in memory_wording.words


def settled(question: str, ranked: Sequence[tuple[Memory, float]]) -> list[float]:
    """Return the scores by which memories stand that have been ranked for a question.

    What is asked for in its own words stands first. Of texts that are worded alike, one that lacks a
    word of the question that another one holds goes right behind that one.

    Args:
        question: its text.
        ranked: memories with their scores, best first.

    Returns:
        The scores in the same order, changed by no more than what a place takes.
    """
    scores = [score for _, score in ranked]
    question_stems = wording_of(question).stems
    stems = [wording_of(_comparable_text(memory)).stems for memory, _ in ranked]
    held_stems = [question_stems & text_stems for text_stems in stems]
    # Every two are compared, so sets are numbers of which each bit stands for a stem.
    bit_of: dict[str, int] = {}
    bits = [
        sum([1 << bit_of.setdefault(stem, len(bit_of)) for stem in text_stems])
        for text_stems in stems
    ]
    sizes = [max(1, len(text_stems)) for text_stems in stems]
    holding_more: dict[frozenset[str], list[int]] = {}
    # What holds most first, so that each goes behind the last place of those that hold more.
    for place in sorted(range(len(ranked)), key=lambda place: -len(held_stems[place])):
        own_bits, size, own_held = bits[place], sizes[place], held_stems[place]
        if own_held not in holding_more:
            fuller = (other for other, other_held in enumerate(held_stems) if own_held < other_held)
            holding_more[own_held] = sorted(fuller, key=scores.__getitem__)
        for other in holding_more[own_held]:
            if scores[other] > scores[place]:
                # Behind those that stand before it anyway it need not go.
                break
            if (own_bits & bits[other]).bit_count() >= ALIKE * max(size, sizes[other]):
                scores[place] = math.nextafter(scores[other], -math.inf)
                break
    top_score = max(scores, default=0.0)
    for place in range(len(ranked) - 1, -1, -1):
        if in_own_words(question, ranked[place][0]):
            top_score = scores[place] = math.nextafter(top_score, math.inf)
    return scores


def _comparable_text(memory: Memory) -> str:
    """Return a memory's text, "" for what is not compared: a long one, and a question that was stored,
    which is no answer to itself."""
    is_question = memory.kind == "question" or memory.text.rstrip().endswith("?")
    return "" if is_question or len(memory.text) > MOST_CHARS else memory.text
