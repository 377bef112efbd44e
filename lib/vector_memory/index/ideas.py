"""From what was said in an exchange to ideas: single assertions, each with what it leans on.

Which sentences are worth it a fitted model says (`index/worth.py`). An idea is named by its words, so that what
is said again adds nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import chain, dropwhile, pairwise
from typing import NamedTuple

from vector_memory.index import rules
from vector_memory.index.boxes import CUT
from vector_memory.index.plain_kinds import plain_kind
from vector_memory.index.tools import clip
from vector_memory.index.units import PATTERNS, Unit, cues
from vector_memory.index.voices import USER
from vector_memory.index.worth import Verdict
from vector_memory.model import (
    BINDING,
    CAUSE,
    CONCLUSION,
    FACT,
    OPEN_KINDS,
    PREFERENCE,
    PROBLEM,
    QUESTION,
    SOLUTION,
    TODO,
    Priority,
)
from vector_memory.standing import DONE
from vector_memory.text import analysis, priorities, tables
from vector_memory.text.chatter import is_chatter, without_applause
from vector_memory.text.deadlines import has_deadline
from vector_memory.text.statements import capitalised
from vector_memory.text.words import names_in, numbers_in, runs_in

LONGEST_IDEA = 350
MOST_IDEAS = 40
"""Ideas of one exchange at most: beyond that it is a pasted document."""
NAMED = "idea:"
"""How the name of an idea begins."""
FIRM = 0.85
"""From this worth on an idea is trusted more."""
LEAST_TERMS, FEW_TERMS = 4, 2
"""Words that say something, which a sentence needs to be understood without the one before; and where it is
itself what the exchange is about."""
LISTED = 0.6
"""The share of a box's words from which a sentence of the same exchange says it again."""
SAYING = 0.4
"""And the share of the sentence's own words that stand in boxes: else it says something of its own."""
MOST_INTRODUCING = 7
"""Words at most that introduce a rule."""

_POINTING_WORDS = ("this", "that", "the")
_FILE_NOUNS = ("file", "module", "script", "component", "template", "page", "class")
_ANSWER_OF_A_FORM = '"="'
"""What the client writes between a question that the assistant had the user asked and his answer."""
_GRAMMAR = tables.sets("grammar")
_PROJECT_NOUNS = ("codebase", "project", "repo", "repository")
"""What "this" means, whatever was said before."""
_FORMER = ("former", "latter", "same")
_IT_IS = ("it is ", "it's ", "it’s ")
_INTRODUCING_WORDS = frozenset(("it", "that", "these", "this", "those"))
"""What may point at what follows, not only at what was said before."""
_ORDERING_CUES = ("asks", "binds", "is", "orders", "settles", "wants", "we", "wishes")
"""Turns of phrase of which a rule has one, and what went wrong, told in few words ("joins once, never again"), has none."""
_HALF_SIGNS = (",", ":", ";", "(", "-", "\u2013", "\u2014")
"""How a sentence ends whose other half is missing: nobody is bound by it."""


class Idea(NamedTuple):
    """One assertion. `text` can be understood alone; `unit` is the sentence as it was said."""

    text: str
    intent: str
    worth: float
    unit: Unit
    is_answered: bool

    @property
    def name(self) -> str:
        """What it is known by: a hash of its words."""
        words = " ".join(runs_in(self.text.lower()))
        digest = hashlib.blake2b(words.encode("utf-8", "replace"), digest_size=12)
        return NAMED + digest.hexdigest()

    @property
    def confidence(self) -> float:
        """How far to trust it, 0.3 … 0.7: the user's more than the assistant's, what is said plainly more
        than what is hedged."""
        level = 0.6 if self.unit.speaker == USER else 0.5
        level += 0.1 if self.worth >= FIRM else 0.0
        return round(level - (0.15 if PATTERNS["hedged"].search(self.unit.text) else 0.0), 2)

    @property
    def priority(self) -> Priority:
        """What the words suggest, of what may bind later sessions; of what the assistant says, never more
        than usual: only the user makes something important."""
        if self.unit.speaker != USER or self.intent not in BINDING:
            return Priority.NORMAL
        return priorities.suggest(self.text)

    @property
    def extra(self) -> dict[str, object]:
        """What of it is kept beside its text."""
        return {DONE: True} if self.is_answered and self.intent in OPEN_KINDS else {}


def ideas(
    judged: Sequence[tuple[Unit, Verdict]], title: str = "", files: Sequence[str] = ()
) -> list[Idea]:
    """Return the ideas of an exchange, the worthiest first.

    Args:
        judged: its sentences, in their order, with what each is worth.
        title: what the exchange is about, "" where nobody knows.
        files: the files that it was at work on.
    """
    kept = [(unit, verdict) for unit, verdict in judged if verdict.is_kept and not unit.file]
    kept_texts = {unit.text for unit, _ in kept}
    last_solution = max(
        (place for place, (_, verdict) in enumerate(kept) if verdict.intent == SOLUTION), default=-1
    )
    is_explained = any(_explains_cause(unit) for unit, _ in judged)
    boxes = _ideas_of_boxes([unit for unit, _ in judged if unit.file])
    listed_names = {box.name for box in boxes}
    listed = [set(analysis.analyse(box.text)) for box in boxes if not box.is_answered]
    by_name: dict[str, Idea] = {}
    for place, (unit, verdict) in enumerate(kept):
        text = self_contained_text(unit, title, files)
        intent = intent_of(unit, verdict)
        if intent in BINDING and is_explained and _may_be_report(unit, judged):
            intent = PROBLEM
        if intent in BINDING and _is_half(unit.text):
            continue
        if (
            not unit.heading
            and _leans_on_before(unit)
            and kept_texts.intersection(unit.before[-1:])
        ):
            # What it leans on is an idea, and whoever is given that one reads on in the passage.
            continue
        is_mended = intent == PROBLEM and place < last_solution
        # A todo, or what has a date, is settled by work alone: an answer only takes note of it.
        takes_work = intent == TODO or has_deadline(unit.text)
        is_settled = unit.has_work or bool(files) if takes_work else unit.is_answered
        is_answered = bool(unit.done) or is_mended or (unit.speaker == USER and is_settled)
        if intent in OPEN_KINDS and _ANSWER_OF_A_FORM in unit.text:
            # The assistant asked, and what stands there is the answer.
            continue
        if intent in (SOLUTION, *OPEN_KINDS) and _says_what_is_listed(unit, listed):
            continue
        if text and not (intent == QUESTION and unit.speaker == USER and unit.is_answered):
            # What was looked up and told is no question any more, and the passage has the answer.
            idea = Idea(text, intent, verdict.worth, unit, is_answered)
            by_name.setdefault(idea.name, idea)
    unlisted = (idea for idea in by_name.values() if idea.name not in listed_names)
    return sorted([*boxes, *unlisted], key=lambda idea: -idea.worth)[: MOST_IDEAS + len(listed)]


def _ideas_of_boxes(boxes: Sequence[Unit]) -> list[Idea]:
    """Return what was added to to-do lists, and what was ticked off there: todos, word for word, as each box was left
    at the end; one for each list in which it stands."""
    last_boxes = {(unit.file, unit.text.rstrip(CUT)): unit for unit in boxes}
    todos = [Idea(unit.text, TODO, 1.0, unit, bool(unit.done)) for unit in last_boxes.values()]
    return todos[:MOST_IDEAS]


def _says_what_is_listed(unit: Unit, listed_terms: Sequence[set[str]]) -> bool:
    """Whether the assistant says what it put on a list ("Noted in `TODO.md`: …"), and not much else."""
    terms = set(analysis.analyse(unit.text))
    repeats_box = any(len(terms & box) >= max(FEW_TERMS, LISTED * len(box)) for box in listed_terms)
    is_all = len(terms.intersection(chain(*listed_terms))) >= SAYING * len(terms)
    return unit.speaker != USER and repeats_box and is_all


def intent_of(unit: Unit, verdict: Verdict) -> str:
    """Return what a sentence is meant as: its box, its question mark, what it says plainly of itself and who speaks
    settle what the model leaves open. Only the user decides and prefers, unless the assistant says so plainly."""
    if unit.refusal:
        return PREFERENCE
    if unit.done is not None:
        return SOLUTION if unit.done else TODO
    plain_intent = plain_kind(unit.text, unit.speaker == USER)
    if unit.is_deferred or unit.text.endswith("?"):
        return QUESTION
    if plain_intent not in ("", FACT):
        return plain_intent
    is_own = unit.speaker == USER and _ANSWER_OF_A_FORM not in unit.text
    if is_own and rules.binds(unit.text):
        return verdict.intent if verdict.intent in BINDING else PREFERENCE
    is_binding = not plain_intent and verdict.intent in BINDING
    return CONCLUSION if is_binding and unit.speaker != USER else plain_intent or verdict.intent


def _explains_cause(unit: Unit) -> bool:
    """Whether the assistant says plainly that it found the cause of something, in a sentence or right before it."""
    sentences = (*unit.before[-1:], unit.text)
    return unit.speaker != USER and any(plain_kind(text, False) == CAUSE for text in sentences)


def _may_be_report(unit: Unit, judged: Sequence[tuple[Unit, Verdict]]) -> bool:
    """Whether what the user begins with tells as well what goes wrong as what is to be kept to: whoever finds the cause
    of that took it for a report. Where another sentence of his says enough to be the report, it is that one."""
    if any(
        other != unit and other.speaker == USER and _count_terms(other.text) >= LEAST_TERMS
        for other, _ in judged
    ):
        return False
    is_first = unit.speaker == USER and not (unit.before or unit.refusal)
    is_plain = plain_kind(unit.text, is_users=True) != ""
    return is_first and not is_plain and not any(cues(unit)[name] for name in _ORDERING_CUES)


def _is_half(text: str) -> bool:
    """Whether a text breaks off: behind a sign or a word that more must follow."""
    last_word = "".join(text.lower().split()[-1:])
    return last_word.endswith(_HALF_SIGNS) or last_word in _GRAMMAR["breaking off"]


def self_contained_text(unit: Unit, title: str, files: Sequence[str]) -> str:
    """Return a sentence with what it leans on: what was refused, the heading, the sentence before where it
    begins with a pronoun or names nothing, the file where it says "this file"; "" where nothing tells what
    it is about, or both are too long together."""
    text = capitalised(_bare_sentence(unit))
    if len(files) == 1 and _names_this_file(text) and files[0] not in text:
        text = f"{text.rstrip('.')} ({files[0]})."
    lead = unit.refusal or unit.heading
    if lead and lead.lower() not in text.lower():
        return _within_limit(f"{lead}: {text}", "" if _leans_on_before(unit) else text)
    if _says_enough(
        unit.text, unit.speaker == USER, " ".join(unit.before[-1:])
    ) and not _leans_on_before(unit):
        return _within_limit(text, text)
    before = next((sentence for sentence in reversed(unit.before) if not is_chatter(sentence)), "")
    if before:
        return _within_limit(f"{before} {text}", "")
    subject = _without_connective(title.rstrip("…. "))
    own_words, subject_words = text.casefold().rstrip("?!. "), subject.casefold()
    if subject and subject_words not in own_words and own_words not in subject_words:
        return _within_limit(f"[{title}] {text}", "")
    return "" if _leans_on_before(unit) or _count_terms(unit.text) < FEW_TERMS else text


def _says_enough(text: str, is_users: bool, before: str = "") -> bool:
    """Whether a sentence has words enough to be understood alone; few are enough for a rule of the user's that points
    at nothing else: "Never push to main." What the number is of that it says again stands in the sentence before."""
    terms = _count_terms(text)
    is_pointing = not _GRAMMAR["leaning"].isdisjoint(names_in(text.lower()))
    is_pointing = is_pointing or not {*numbers_in(before)}.isdisjoint(numbers_in(text))
    is_plain_rule = is_users and not is_pointing and rules.binds(text)
    return terms >= LEAST_TERMS or (terms >= FEW_TERMS and is_plain_rule)


def _count_terms(text: str) -> int:
    return len(analysis.said_words(text))


def _names_this_file(text: str) -> bool:
    words = names_in(text.lower())
    return any(
        first in _POINTING_WORDS and second in _FILE_NOUNS for first, second in pairwise(words)
    )


def _bare_sentence(unit: Unit) -> str:
    return _without_connective(without_applause(unit.text)).strip() or unit.text


def _without_connective(text: str) -> str:
    """Return a text without the word by which it goes on from what was said before it."""
    first, _, rest = text.partition(" ")
    return rest.lstrip(", ") if first.rstrip(",").lower() in _GRAMMAR["going on"] else text


def _leans_on_before(unit: Unit) -> bool:
    """Whether a sentence begins with a word for what was said before it, unless that only introduces a rule of the
    user's."""
    text = _bare_sentence(unit).lower()
    return _points_back(text) and not (unit.speaker == USER and _introduces_a_rule(text))


def _points_back(text: str) -> bool:
    words = names_in(text) if text[:1].isalpha() else []
    opening = (*dropwhile(lambda word: word in _GRAMMAR["joining"], words), "", "")
    return opening[0] in _GRAMMAR["leaning"] or (opening[0] == "the" and opening[1] in _FORMER)


def _introduces_a_rule(text: str) -> bool:
    """Whether a rule that can be understood alone follows on few words ("That said, we …", "This is important: never …"),
    or the sentence that "it" stands for ("It is important that all …")."""
    words, names = text.split(), names_in(text)
    # "This, please: never …", "This one, …": something is named, of which the rule is.
    is_name = words[0].endswith((",", ":")) or names[1:2] == ["one"]
    if is_name or not _INTRODUCING_WORDS.intersection(names[:1]):
        return False
    for place, word in enumerate(words[:MOST_INTRODUCING], 1):
        following = " ".join(words[place:]).removeprefix("but ")
        goes_on = following.partition(" ")[0] in _GRAMMAR["joining"] or _points_back(following)
        leans = goes_on or any(
            name in _GRAMMAR["leaning"] and next_name not in _PROJECT_NOUNS
            for name, next_name in pairwise([*names_in(following), ""])
        )
        # Behind "true" or "likely", or after a "not", no rule follows on "that"; behind a noun it begins a relative clause.
        is_weighed = words[place - 2] in _GRAMMAR["weighing"] and "not" not in words[:place]
        is_clause = word == "that" and text.startswith(_IT_IS) and is_weighed
        is_rule = is_clause or (word.endswith((",", ":")) and rules.binds(following))
        if is_rule and not leans and _says_enough(following, True):
            return True
    return False


def _within_limit(longer: str, text: str) -> str:
    return longer if len(longer) <= LONGEST_IDEA else clip(text, LONGEST_IDEA)
