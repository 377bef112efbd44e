"""Whether a text answers an open question, or says that a todo is done. Only what is plain counts: a
question that is taken for answered is not asked again."""

from __future__ import annotations

import os

from vector_memory.lifecycle import signs
from vector_memory.text import analysis, deadlines, tables
from vector_memory.text.patterns import PatternTable
from vector_memory.text.wording import IRREGULAR
from vector_memory.text.words import clauses_in, words_in

QUESTION_COSINE = 0.60
TODO_COSINE = 0.60
COVERED = 0.75
"""The share of what the question or the todo is about that the text must name."""

_GRAMMAR = tables.sets("grammar")
_ASKING, _FILLERS = (
    frozenset(term for word in _GRAMMAR[part] for term in analysis.analyse(word))
    for part in ("asking", "fillers")
)
_HAVING = tables.sets("grammar")["having"]
"""What stands before a verb where something has been done."""
_POINTS = ".,;:!()\"'"
_TABLE = PatternTable("done_phrases", os.path.dirname(__file__))


def answers_question(text: str, question: str, cosine: float | None) -> bool:
    """Whether a text states what a question asks for."""
    if "?" in text or "?" not in question or (cosine is not None and cosine < QUESTION_COSINE):
        return False
    asked, said = _about(question), _terms(text)
    beyond = said - _terms(question)
    chosen = "choice" in _TABLE.found(question) and len(said & asked) < len(asked)
    return _covers(asked, said, 0.5 if chosen else COVERED) and (bool(beyond) or chosen)


def says_done(text: str, todo: str, cosine: float | None) -> bool:
    """Whether a text says that a todo is done: by a word for that, or by the todo's own verb ("send the report", "the
    report is sent"). Where it is not known to be near the todo, one of its clauses must name nothing else."""
    if not may_say_done(text) or (cosine is not None and cosine < TODO_COSINE):
        return False
    asked = _about(deadlines.without_days(todo)) - _FILLERS
    if cosine is None:
        parts = clauses_in(deadlines.without_days(text), ".!,;:")
        return any(_is_done(part, asked) and _names_only(part, asked) for part in parts)
    return _is_done(text, asked)


def _is_done(text: str, asked: frozenset[str]) -> bool:
    done = _done(text)
    says = "done" in _TABLE.found(text) or not done.isdisjoint(asked)
    return says and _covers(asked, _terms(text) | done, COVERED)


def _names_only(text: str, asked: frozenset[str]) -> bool:
    return _terms(_with_bases(text)) - _done(text) - _FILLERS - _ASKING <= asked


def may_say_done(text: str) -> bool:
    """Whether a text says of anything that it is done."""
    phrases = _TABLE.found(text)
    return (
        "?" not in text and "not_done" not in phrases and ("done" in phrases or bool(_done(text)))
    )


def _done(text: str) -> frozenset[str]:
    """Return the verbs, as terms, of which a text says that they have been done: "is renewed", "sent the report"."""
    said = words_in(text)
    participles = {
        word
        for place, word in enumerate(said)
        if (word.endswith("ed") or word in IRREGULAR)
        and (place == 0 or not _HAVING.isdisjoint(said[max(0, place - 2) : place]))
    }
    return _terms(_with_bases(" ".join(participles)))


def _with_bases(text: str) -> str:
    """Return a text with the verbs of its irregular participles: "send" for "sent"."""
    bases = ((word, IRREGULAR.get(word.strip(_POINTS).lower())) for word in text.split())
    return " ".join(word if base is None else base[0] for word, base in bases)


def _covers(asked: frozenset[str], said: frozenset[str], least: float) -> bool:
    covered = len(asked) >= 2 and len(asked & said) / len(asked) >= least
    return covered and not signs.are_rivals(asked, said)


def _about(text: str) -> frozenset[str]:
    return _terms(text) - _ASKING


def _terms(text: str) -> frozenset[str]:
    return frozenset(analysis.analyse(text))
