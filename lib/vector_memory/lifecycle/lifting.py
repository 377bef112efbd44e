"""Whether the user says later that a rule of his holds no more, in words that are no rule themselves: "you may push to
main now" after "never push to main"."""

from __future__ import annotations

from vector_memory.lifecycle import contradiction, signs, statement
from vector_memory.text import tables
from vector_memory.text.words import clauses_in

LEAST_SHARED = 0.5
"""The share of a rule's words that what lifts it has, unless it says another value of the same act ("Tom reviews now")."""
_GRAMMAR = tables.sets("grammar")
_REQUIRING = _GRAMMAR["weighing"] | {"must", "need", "longer", "anymore"}
_NOT_SAYING = _GRAMMAR["modals"] | {"is"}
"""What a question or a request begins with."""
_PAST = frozenset(("was", "were", "did", "had"))


def lifts(said: str, rule: str) -> bool:
    """Whether a sentence says that a rule holds no more: that its act may be done, need not be, or is done otherwise. What
    asks, or tells of what was, does not."""
    return any(_lifts(clause, rule) for clause in clauses_in(said, ".;,!?") if clause)


def _lifts(clause: str, rule: str) -> bool:
    new, old = statement.parse(clause), statement.parse(rule)
    shared, words = old.keys() & new.keys(), {token.lower() for token in new.tokens}
    share = len(shared) / max(1, len(old.keys()))
    acts = {term.key for term in old.terms if term.is_predicate or term is old.terms[0]}
    asks = clause.endswith("?") or not _NOT_SAYING.isdisjoint(new.tokens[:1])
    if not shared or asks or not _PAST.isdisjoint(words):
        return False
    if share >= LEAST_SHARED and signs.replaces(clause, rule):
        return True
    if acts.isdisjoint(shared):
        return False
    if share > LEAST_SHARED and old.denials() % 2 != new.denials() % 2:
        # Of an order ("push to main now") and of a report none of these is a word.
        ends = _GRAMMAR["allowing"] if old.denials() % 2 else _REQUIRING
        return not ends.isdisjoint(words) or new.tokens[0].lower() in ("not", "stop")
    against = contradiction.between(clause, rule, None)
    is_value = against not in ("", contradiction.A_NEGATION)
    return is_value and not contradiction.are_of_a_series(clause, rule)
