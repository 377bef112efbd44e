"""Whether a prompt corrects what was said right before it: "hm no, on disk", "3 is too few, make it 8"."""

from __future__ import annotations

import re
from itertools import takewhile

from vector_memory.text import analysis, tables
from vector_memory.text.prompts import Prompt
from vector_memory.text.words import letters_in, numbers_in, words_in

_TAKING_BACK = tables.sets("grammar")["taking back"]
_OPENING = _TAKING_BACK | tables.words("acknowledgements")
_ANYWHERE = frozenset(("instead", "rather", "actually", "lieber"))
"""Those that take back wherever they stand in a short prompt."""
_CLAUSE_END = re.compile(r"[,.;:!\n\u2013\u2014]+")


def corrects(prompt: str, before: str) -> bool:
    """Whether a prompt is about what was said before it, and takes it back, or names a number of it and another one.

    Args:
        before: the exchange before it.
    """
    said = Prompt(prompt)
    known = set(analysis.analyse(before))
    if said.needs_nothing or said.text.endswith("?") or known.isdisjoint(analysis.analyse(prompt)):
        return False
    if _opens_anew(said.text):
        return True
    if not said.is_short:
        return False
    own, others = set(numbers_in(prompt)), set(numbers_in(before))
    is_other_number = bool(own & others) and bool(own - others)
    return is_other_number or not _ANYWHERE.isdisjoint(words_in(prompt))


def _opens_anew(text: str) -> bool:
    """Whether a text begins with clauses of nothing but agreement and refusal, one of them a refusal: "hm no,"."""
    clauses = map(letters_in, map(str.lower, _CLAUSE_END.split(text)[:-1]))
    opening = takewhile(lambda words: words and _OPENING.issuperset(words), clauses)
    return any(not _TAKING_BACK.isdisjoint(words) for words in opening)
