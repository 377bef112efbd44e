"""A topic's name: a short title from the prompt that began it, else its most telling words."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from vector_memory.index.memories import title_of
from vector_memory.index.tools import clip
from vector_memory.index.topics.turns import TopicTurn, terms_of, words_of
from vector_memory.text import prompts, tables
from vector_memory.text.analysis import STOP_WORDS
from vector_memory.text.statements import CODE, capitalised, statements

NAME_CHARS = 60
KEYWORDS = 4
LEAST_TERMS = 2
"""Telling words that a prompt needs to name a topic."""

READ_CHARS = 2_000
STATEMENTS = 3
"""Of a prompt, so many statements are looked at for a title."""
LEAST_CLAUSE = 18

_PATTERNS = tables.patterns("topic_phrases", os.path.dirname(__file__))
_CLAUSE = re.compile(r"\s*(?:[;:]\s|,\s(?:and|but|so|which|because|then|as)\s|\s[–—-]\s|\.\s|\?|!)")
_TITLE_END = "\\ .…,;:-–—?!("


def name_of(turns: Sequence[TopicTurn], counts: Mapping[str, int], total: int) -> str:
    """Return the name of a stretch of turns, at most NAME_CHARS characters.

    Args:
        counts: in how many turns of the session each word is.
        total: how many turns the session has.
    """
    for turn in turns[:2]:
        title = prompt_title(turn.prompt)
        if title:
            return title
    words = keywords(turns, counts, total)
    return clip(", ".join(words) or title_of(turns[0].spoken_text) or "Conversation", NAME_CHARS)


def prompt_title(prompt: str) -> str:
    """Return a prompt as a title: without address and courtesy, its first clause; "" where it says
    too little to name anything."""
    if prompts.Prompt(prompt).needs_nothing:
        return ""
    for statement in statements(prompt[:READ_CHARS])[:STATEMENTS]:
        text = _first_clause(statement.text) if statement.form != CODE else ""
        if len(terms_of(text)) >= LEAST_TERMS:
            return capitalised(_whole_phrases(text))
    return ""


def _whole_phrases(text: str) -> str:
    """Return a clause without what does not fit into a name: as many of its phrases as do, and none of the words
    that a next one would begin with."""
    fitting = text[:NAME_CHARS]
    if len(text) > NAME_CHARS:
        next_phrases = _PATTERNS["phrase_begins"].finditer(text, LEAST_CLAUSE, NAME_CHARS + 2)
        ends = [phrase.start() for phrase in next_phrases]
        fitting = text[: ends[-1]] if ends else clip(text, NAME_CHARS)
    before, bracket, inside = fitting.rpartition(" (")
    if bracket and ")" not in inside:
        fitting = before
    words = fitting.rstrip(_TITLE_END).split(" ")
    while len(words) > 1 and words[-1].lower() in STOP_WORDS:
        words.pop()
    return " ".join(words).rstrip(_TITLE_END)


def _first_clause(sentence: str) -> str:
    """Return a sentence's first clause without what is said to be polite."""
    words = sentence.replace("\u2019", "'").split(" ")
    text = " ".join(word.removeprefix("@") or word for word in words)
    while courtesy := _PATTERNS["courtesy"].match(text):
        text = text[courtesy.end() :]
    clause = _CLAUSE.search(text, LEAST_CLAUSE)
    return text[: clause.start()] if clause else text


def keywords(turns: Sequence[TopicTurn], counts: Mapping[str, int], total: int) -> list[str]:
    """Return the words that tell a stretch from the rest of its session, by tf-idf, the most telling
    first."""
    inside = Counter(word for turn in turns for word in words_of(turn.spoken_text))
    return sorted(
        inside, key=lambda term: (-inside[term] * _rarity(counts.get(term, 1), total), term)
    )[:KEYWORDS]


def _rarity(count: int, total: int) -> float:
    return math.log(1 + total / max(1, count))
