"""What lifted a rule of the user's, whenever he said it ("you may push to main now"). It parses sentences, which no module
does that a daemon loads at its start: callers import this one when they need it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from vector_memory.index import rules
from vector_memory.index.plain_kinds import plain_kind
from vector_memory.index.units import PATTERNS, units
from vector_memory.index.voices import USER, voices
from vector_memory.lifecycle.lifting import lifts
from vector_memory.model import OPEN_KINDS, PASSAGE, CleanText, Memory, Scope, unique
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory.merging import sessions_of
from vector_memory.service.memory.taken_back import talk_of
from vector_memory.text import analysis, tables
from vector_memory.text.words import clauses_in

MOST_ALIKE, MOST_ROWS = 20, 2_000
"""Passages that may lift a rule, and how many hold a word that is looked for: more take too long to rank."""
STEM_CHARS = 3
"""By so many letters a term is looked for in a clause before that is parsed: "copi" in "copy"."""
_LITTLE = frozenset(
    term
    for sort in ("fillers", "negations")
    for word in tables.sets("grammar")[sort]
    for term in analysis.analyse(word)
)
"""Terms of a rule that what lifts it need not have: "never use"."""
_UNSURE = ("hedged", "knows not", "once")
"""Patterns of sentences that lift no rule: they are unsure, or for this time alone."""


def lifting(shelf: Shelf, memory: Memory, scope: Scope) -> Memory | None:
    """Return the passage in which the user said last that a decision or wish of his holds no more, with that sentence
    alone; None where it is no rule, or he has not said so since he last said it."""
    if not rules.binds(memory.text):
        return None
    last_said_at = max(sessions_of(memory).values())
    terms = [term for term in unique(analysis.query_terms(memory.text)) if term not in _LITTLE]
    passage_scope = replace(
        scope, projects=(memory.project,), kinds=(PASSAGE,), since=memory.created_at
    )
    # What was said months ago is cold, and the rule is not.
    candidates = shelf.journal.matching(
        terms, passage_scope, MOST_ALIKE, cold=True, most_rows=MOST_ROWS, pairs=len(terms) > 1
    )
    texts = shelf.journal.letters([candidate.seq for candidate in candidates])
    passages = shelf.journal.by_seqs([seq for seq, text in texts if any(_lines_about(text, terms))])
    for passage in sorted(
        passages.values(), key=lambda passage: (passage.created_at, passage.seq), reverse=True
    ):
        if passage.created_at.isoformat() <= last_said_at or not talk_of([passage]):
            continue
        for unit in units(_lines_about(passage.text, terms)):
            if unit.speaker == USER and lifts(unit.text, memory.text) and _is_sure(unit.text):
                # A part of a redacted text is redacted.
                return replace(passage, text=CleanText(f"User: {unit.text}"))
    return None


def _lines_about(text: str, terms: Collection[str]) -> Iterator[str]:
    """Yield the user's lines of a passage, as passages, that seem to have two of a rule's terms in a clause, or its only
    one: to parse one takes longer than to look into hundreds."""
    least = min(2, len(terms))
    for voice in voices(text):
        for line in voice.text.split("\n") if voice.who == USER else ():
            clauses = clauses_in(line.lower(), ".;!?")
            if any(
                sum(term[:STEM_CHARS] in clause for term in terms) >= least for clause in clauses
            ):
                yield f"User: {line}"


def _is_sure(text: str) -> bool:
    """Whether a user's sentence is no guess, for more than this time, and does not tell what goes wrong."""
    is_open = plain_kind(text, is_users=True) in OPEN_KINDS
    return not (is_open or any(PATTERNS[name].search(text) for name in _UNSURE))
