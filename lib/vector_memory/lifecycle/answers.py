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
    question_terms, text_terms = _subject_of(question), signs.terms_of(text)
    new_terms = text_terms - signs.terms_of(question)
    offers_choice = "choice" in _TABLE.found(question) and len(text_terms & question_terms) < len(
        question_terms
    )
    return _covers(question_terms, text_terms, 0.5 if offers_choice else COVERED) and (
        bool(new_terms) or offers_choice
    )


def says_done(text: str, todo: str, cosine: float | None) -> bool:
    """Whether a text says that a todo is done."""
    if "?" in text or (cosine is not None and cosine < TODO_COSINE):
        return False
    phrases = _TABLE.found(text)
    is_done = "done" in phrases and "not_done" not in phrases
    return is_done and _covers(_subject_of(todo), signs.terms_of(text), COVERED)


def _covers(subject: frozenset[str], text_terms: frozenset[str], least_share: float) -> bool:
    covered = len(subject) >= 2 and len(subject & text_terms) / len(subject) >= least_share
    return covered and not signs.are_rivals(subject, text_terms)


def _subject_of(text: str) -> frozenset[str]:
    return signs.terms_of(text) - _ASKING
