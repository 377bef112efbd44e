"""Whether a text says again what another says: of hits that do, the best stands for all."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import NamedTuple

from vector_memory.text import analysis, wording

SAME = 0.85
"""The share of words that two texts have in common when one may stand for both."""
WITHIN = 0.75
"""The same for an idea and the passage that it was said in."""


def says_no_more(text: str, other: str, of_turn: bool = False) -> bool:
    """Whether a text of nearly the same words says nothing that another one does not say: none of its
    words stands in another's place or in another order, and no number, name, negation or narrowing
    word is missing from the other.

    Args:
        of_turn: both were said in one turn, of the same things: the one may leave words out.
    """
    if wording.same_assertion(text, other):
        return True
    mine, theirs = _words(text), _words(other)
    missing: set[str] = set()
    added: set[str] = set()
    keys = [word.key for word in mine], [word.key for word in theirs]
    for action, start, end, there, until in SequenceMatcher(None, *keys, False).get_opcodes():
        if action == "equal":
            continue
        lost = {word.key for word in mine[start:end] if word.counts}
        instead = {word.key for word in theirs[there:until] if word.counts}
        # Words right before others narrow what these name; so does "in staging".
        narrows = lost and (end < len(mine) or any(not word.counts for word in mine[start:end]))
        if lost and instead or (narrows and not of_turn):
            return False
        if any(word.is_telling for word in mine[start:end]):
            return False
        if any(word.token in wording.NEGATIONS for word in theirs[there:until]):
            return False
        missing |= lost
        added |= instead
    return missing.isdisjoint(added)


class _Word(NamedTuple):
    """A token, by which key it is equal to others, and whether it tells anything by itself."""

    token: str
    key: str
    counts: bool

    @property
    def is_telling(self) -> bool:
        """Whether it is a number, a name, something of code, or a negation."""
        if self.token in wording.NEGATIONS:
            return True
        return self.counts and not (self.token.isalpha() and self.token.islower())


def _words(text: str) -> list[_Word]:
    tokens = [token for part in wording.sentences(text) for token in wording.tokens(part)]
    terms = [analysis.analyse(token) for token in tokens]
    return [
        _Word(token, found[0] if found else token.lower(), bool(found))
        for token, found in zip(tokens, terms, strict=True)
    ]


def contained(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of the smaller set that the other holds, 0 … 1; 1 for an empty one."""
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller else 1.0


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of common elements among all of two sets, 0 … 1; 1 for two empty sets."""
    common = len(one & other)
    union = len(one) + len(other) - common
    return common / union if union else 1.0
