"""Whether a text answers an open question, or says that a todo is done. Only what is plain counts: a
question that is taken for answered is not asked again."""

from __future__ import annotations

import os

from vector_memory.lifecycle import signs
from vector_memory.text import analysis, tables
from vector_memory.text.patterns import PatternTable

QUESTION_COSINE = 0.60
TODO_COSINE = 0.60
COVERED = 0.75
"""The share of what the question or the todo is about that the text must name."""

_ASKING = frozenset(
    term for word in tables.sets("grammar")["asking"] for term in analysis.analyse(word)
)
_TABLE = PatternTable("done_phrases", os.path.dirname(__file__))


def answers_question(text: str, question: str, cosine: float | None) -> bool:
    """Whether a text states what a question asks for."""
    if "?" in text or "?" not in question or (cosine is not None and cosine < QUESTION_COSINE):
        return False
    asked, said = _about(question), signs.terms_of(text)
    beyond = said - signs.terms_of(question)
    chosen = "choice" in _TABLE.found(question) and len(said & asked) < len(asked)
    return _covers(asked, said, 0.5 if chosen else COVERED) and (bool(beyond) or chosen)


def says_done(text: str, todo: str, cosine: float | None) -> bool:
    """Whether a text says that a todo is done."""
    if "?" in text or (cosine is not None and cosine < TODO_COSINE):
        return False
    phrases = _TABLE.found(text)
    says = "done" in phrases and "not_done" not in phrases
    return says and _covers(_about(todo), signs.terms_of(text), COVERED)


def _covers(asked: frozenset[str], said: frozenset[str], least: float) -> bool:
    covered = len(asked) >= 2 and len(asked & said) / len(asked) >= least
    return covered and not signs.are_rivals(asked, said)


def _about(text: str) -> frozenset[str]:
    return signs.terms_of(text) - _ASKING
