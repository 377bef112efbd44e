"""Whether two texts say the same, speak against each other, or belong together.

A cosine alone merges port 5432 with port 5433 and "enable" with "disable". So texts are the same
only where the cosine is high **and** they are one assertion in other grammar; what is merely close
is related, and what says another thing of one subject is put to the user as a likely replacement.
"""

from __future__ import annotations

from typing import NamedTuple

from vector_memory.journal.rows import text_hash
from vector_memory.lifecycle import contradiction, disagreement, signs, statement
from vector_memory.lifecycle.statement import ParsedText
from vector_memory.model import Word
from vector_memory.text import wording

SAME_COSINE = 0.92
RELATED_COSINE = 0.75
SHARED_COSINE = 0.70
"""How near two texts must be to be related by their words ..."""
SHARED_WORDS = 0.5
"""... and the share of common words for that."""
RELATED_WORDS = 0.6
"""The share of common words by which texts are related where there are no vectors."""


class Outcome(Word):
    """What a newer text is to an older one."""

    SAME = "same"
    SUPERSEDES = "supersedes"
    CONTRADICTS = "contradicts"
    RELATED = "related"
    NEW = "new"


class Comparison(NamedTuple):
    """An outcome with its reason: the words that differ, or those that say so."""

    outcome: Outcome
    reason: str = ""


text_key = text_hash
"""Returns the hash by which equal texts are found: the journal's own."""


def compare(newer: str, older: str, cosine: float | None, *, are_short: bool = False) -> Comparison:
    """Return what a newer text is to an older one.

    Args:
        newer: one text.
        older: the other one.
        cosine: of their vectors; None where there is no model, and words alone decide.
        are_short: whether both are short statements that were told to be remembered, of which the fitted weights
            know what contradicts; among what is said in sessions they see a contradiction in every fourth pair.
    """
    if _is_same(newer, older, cosine):
        return Comparison(Outcome.SAME)
    if sign := signs.replaces(newer, older, cosine):
        return Comparison(Outcome.SUPERSEDES, f'"{sign}"')
    new, old = statement.parse(newer), statement.parse(older)
    if not contradiction.are_of_a_series(newer, older):
        if difference := contradiction.contradiction_of(newer, older, cosine):
            return Comparison(Outcome.CONTRADICTS, difference)
        if are_short and cosine is not None and disagreement.disagrees(newer, older, cosine):
            return Comparison(Outcome.CONTRADICTS, _differing_words(new, old))
    if _is_related(new.keys(), old.keys(), cosine):
        return Comparison(Outcome.RELATED, _differing_words(new, old))
    return Comparison(Outcome.NEW)


def _is_same(newer: str, older: str, cosine: float | None) -> bool:
    if cosine is None:
        return wording.same_words(newer, older)
    return cosine >= SAME_COSINE and wording.same_assertion(newer, older)


def _is_related(new_keys: frozenset[str], old_keys: frozenset[str], cosine: float | None) -> bool:
    if cosine is not None and cosine >= RELATED_COSINE:
        return True
    if cosine is not None and cosine < SHARED_COSINE:
        return False
    all_count = len(new_keys | old_keys)
    least_share = RELATED_WORDS if cosine is None else SHARED_WORDS
    return all_count > 0 and len(new_keys & old_keys) / all_count >= least_share


def _differing_words(new: ParsedText, old: ParsedText) -> str:
    """Return the words that only one of two texts has."""
    old_words, new_words = set(old.tokens) - set(new.tokens), set(new.tokens) - set(old.tokens)
    return " / ".join(", ".join(sorted(words)[:6]) for words in (old_words, new_words) if words)
