"""Whether the user says later that a rule of his holds no more, in words that are no rule themselves: "you may push to
main now" after "never push to main".

Such a sentence says little else: any other word names who else may, where or when else, who said it or what to do
about it.
"""

from __future__ import annotations

from itertools import dropwhile

from vector_memory.lifecycle import contradiction, statement
from vector_memory.lifecycle.statement import MEANS, ParsedText
from vector_memory.text import analysis, tables, wording
from vector_memory.text.words import clauses_in, words_in

LEAST_SHARED = 0.5
"""The share of a rule's words that a clause with another value must repeat ("cached for 30 minutes now"), and more than
which must be repeated where it need not be followed any more."""
_GRAMMAR = tables.sets("grammar")
_ALLOWING = _GRAMMAR["allowing"]
_REQUIRING = _GRAMMAR["weighing"] | {"must", "need", "longer", "anymore"}
_FREE = frozenset(term for word in _ALLOWING | _REQUIRING for term in analysis.analyse(word))
"""What else a sentence says that lifts a rule."""
_SPARED = frozenset(
    term for word in _GRAMMAR["types"] | {"ever"} for term in analysis.analyse(word)
)
"""What need not be said again of what is forbidden: "main" is the main branch."""
_TELLING = _GRAMMAR["modals"] | {"is", "need"}
"""Verbs that stand behind the subject of a statement, and before it in a question or a request."""
_BETWEEN = wording.NEGATIONS | {"longer", "now", "again", "still"}
_ASSENT = tables.words("acknowledgements")
"""What may stand before, in a clause of its own: "ok, you may push to main"."""
_PAST = frozenset(("was", "were", "did", "had"))
_OF_US = frozenset(("you", "we", "it", "there"))
"""Subjects of which an allowance counts, beside those that are named by a term: "I may" and "all may" are of others."""


def lifts(text: str, rule: str) -> bool:
    """Whether a sentence says that a rule holds no more: that its act may be done, need not be, or is done otherwise. A
    question, a limit to a case, or a report of what was or of what others may, lifts nothing."""
    return any(_lifts(sentence, rule) for sentence in clauses_in(text, ".;!?"))


def _lifts(sentence: str, rule: str) -> bool:
    clauses = dropwhile(
        lambda clause: _ASSENT.issuperset(words_in(clause)), clauses_in(sentence, ",")
    )
    # What stands beside may say who told so, for which case, or that it is not true: no rule of words tells all of these.
    clause, *others = [*clauses, ""][:2]
    if others != [""] or sentence.endswith("?"):
        return False
    new, old = statement.parse(clause), statement.parse(rule)
    limiting = _GRAMMAR["limiting"].difference(old.tokens)
    return (
        limiting.isdisjoint(token.lower() for token in new.tokens)
        and _is_said_of_us(new, old)
        and (_ends_rule(new, old) or _has_other_value(clause, rule))
    )


def _is_said_of_us(new: ParsedText, old: ParsedText) -> bool:
    """Whether a clause states, for now, what the speakers may do, or how a thing is: it neither asks nor requests."""
    tokens = [token.lower() for token in new.tokens]
    verb = next((place for place, token in enumerate(tokens) if token in _TELLING), None)
    if verb == 0 or not _PAST.isdisjoint(tokens):
        return False
    places = [place for place in range(verb or 0) if tokens[place] not in _BETWEEN]
    term_places = {term.place for term in new.terms}
    return not places or places[-1] in term_places or tokens[places[-1]] in _OF_US.union(old.tokens)


def _ends_rule(new: ParsedText, old: ParsedText) -> bool:
    """Whether a clause says of a rule's act, and of nothing else, that it may be done or need not be."""
    is_forbidden, words = old.denials() % 2, {token.lower() for token in new.tokens}
    if new.denials() % 2 == is_forbidden or not new.keys() <= old.keys() | _FREE:
        return False
    unsaid = old.keys() - new.keys()
    # Of an order ("push to main now") and of a report none of these is a word.
    if is_forbidden:
        means = dropwhile(lambda term: term.way == MEANS, old.terms)
        unsaid -= {term.key for term in means if term.way == MEANS}
        return unsaid <= _SPARED and not _ALLOWING.isdisjoint(words)
    is_ended = not _REQUIRING.isdisjoint(words) or not {"not", "stop"}.isdisjoint(
        token.lower() for token in new.tokens[:1]
    )
    return is_ended and len(unsaid) < LEAST_SHARED * len(old.keys())


def _has_other_value(clause: str, rule: str) -> bool:
    """Whether a clause has another value or person for what a rule says, and says nothing else."""
    new, old = statement.parse(clause), statement.parse(rule)
    shared = new.keys() & old.keys()
    if old.denials() or new.denials() or len(new.keys() - shared) != 1:
        return False
    difference = contradiction.contradiction_of(clause, rule, None)
    is_value = difference not in ("", contradiction.A_NEGATION)
    is_same = len(shared) >= LEAST_SHARED * len(old.keys())
    return is_value and is_same and not contradiction.are_of_a_series(clause, rule)
