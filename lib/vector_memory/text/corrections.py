"""Whether a prompt corrects what was said right before it: "hm no, on disk", "3 is too few, make it 8"."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import pairwise, takewhile

from vector_memory.text import analysis, tables
from vector_memory.text.prompts import Prompt
from vector_memory.text.words import clauses_in, letters_in, numbers_in, words_in

_GRAMMAR = tables.sets("grammar")
_REFUSING = _GRAMMAR["refusing"]
_OPENING_WORDS = _REFUSING | tables.words("acknowledgements")
_CLAUSE_END = re.compile(r"[,.;:!\n\u2013\u2014]+")


def corrects(prompt: str, before: str) -> bool:
    """Whether a prompt is about what was said before it, and refuses it, or puts another number for one of it. What is
    not sure to be a correction is none.

    Args:
        before: the exchange before it.
    """
    parsed_prompt = Prompt(prompt)
    terms_before = set(analysis.analyse(before))
    if (
        parsed_prompt.needs_nothing
        or parsed_prompt.is_question
        or terms_before.isdisjoint(analysis.analyse(prompt))
    ):
        return False
    # Who was asked answers with the same words.
    if _refuses(parsed_prompt.text) and not before.rstrip().endswith("?"):
        return True
    numbers = set(numbers_in(before))
    return parsed_prompt.is_short and any(
        _puts_another(clause, numbers) for clause in clauses_in(parsed_prompt.text)
    )


def may_correct(prompt: str) -> bool:
    """Whether a prompt may correct anything at all: it begins with a refusal, or has a number."""
    return _refuses(Prompt(prompt).text) or bool(numbers_in(prompt))


def _refuses(text: str) -> bool:
    """Whether a text begins with clauses of nothing but agreement and refusal, one of them a refusal ("hm no,"), and
    what follows neither asks, agrees or thanks, nor tells how it went or what comes first."""
    clauses = _CLAUSE_END.split(text.lower())
    words = [letters_in(clause) for clause in clauses]
    opening = list(takewhile(lambda row: row and _OPENING_WORDS.issuperset(row), words[:-1]))
    refusals = (place for place, row in enumerate(opening) if not _REFUSING.isdisjoint(row))
    place = next(refusals, None)
    if place is None or Prompt(clauses[len(opening)]).is_question:
        return False
    return all(_GRAMMAR["answering"].isdisjoint(row) for row in words[place:])


def _puts_another(clause: str, numbers: Collection[str]) -> bool:
    """Whether a clause has one of some numbers and another one, and refuses the one or puts the other for it."""
    clause_numbers = numbers_in(clause)
    if all(number in numbers for number in clause_numbers) or all(
        number not in numbers for number in clause_numbers
    ):
        return False
    words = words_in(clause)
    return not _GRAMMAR["changing a number"].isdisjoint(words) or any(
        word in _REFUSING and number in numbers for word, number in pairwise(words)
    )
