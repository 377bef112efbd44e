"""The user's rules at a session's start, told together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from itertools import groupby

from vector_memory.model import IMPORTANT, PASSAGE, RULES, WAITING, Memory, Source
from vector_memory.observe.search import names_match
from vector_memory.retrieve import render
from vector_memory.retrieve.newer import Newer, ShelvedMemory, newer_of
from vector_memory.service.base import client_memory
from vector_memory.service.base.asker import Asker
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory import merging
from vector_memory.service.memory.passages import number_of, turn_reader
from vector_memory.service.memory.rewritten_lines import last_words, later_words
from vector_memory.service.memory.taken_back import asked_in
from vector_memory.text import days, fence
from vector_memory.text.deadlines import last_day

NOTE_TOKENS = 90
"""Tokens at most of a note at a start."""
RULE_TOKENS, CHANGE_TOKENS, MOST_RULES = 60, 30, 20
"""Tokens at most of a rule among others, and of what changed or lifted it, which comes on top; how many rules a start
tells."""
TAIL_CHARS = 40
"""By so many of its last characters a rule is found in its exchange."""
SAID_ANEW = 0.65
"""The cosine from which on a rule of a later session stands in an older one's place: of 15 pairs with 0.55, 11 were of
one thing, of 8 with this all."""
_FORBIDDING = ("never ", "don't ", "dont ", "do not ", "no ", "nie ", "niemals ")
"""How a rule begins that may hold beside another one like it."""


def in_order(shelves: Sequence[Shelf], by_shelf: Sequence[Sequence[Memory]]) -> list[Memory]:
    """Return the user's rules, what matters more and then what most likely binds first, without those that a later
    session said anew.

    Args:
        by_shelf: those of each shelf that hold now.
    """
    from vector_memory.index.rules import likelihood

    rules = [
        ShelvedMemory(place, rule)
        for place, shelf_rules in enumerate(by_shelf)
        for rule in shelf_rules
    ]
    newer = newer_of(rules, rules, shelves)
    current_rules = (
        rule for _, rule in rules if rule.id not in newer or not _is_said_anew(rule, newer[rule.id])
    )
    return sorted(
        current_rules, key=lambda rule: (rule.priority not in IMPORTANT, -likelihood(rule.text))
    )


def _is_said_anew(rule: Memory, newer: Newer) -> bool:
    """Whether a later rule is the same one. "Never edit 0009_b.sql" is another than "never edit 0007_a.sql": each forbids
    what the other does not name. Of what is to be used one takes the place of the other."""
    if newer.likeness < SAID_ANEW:
        return False
    if not all(one.text.lower().startswith(_FORBIDDING) for one in (rule, newer.memory)):
        return True
    pairs = ((rule, newer.memory), (newer.memory, rule))
    return not all(
        names_match.names_more(one.text, names_match.naming(other.title, other.text))
        for one, other in pairs
    )


def is_over(memory: Memory, now: datetime) -> bool:
    """Whether a memory is a rule whose own words say that it holds until a day, and that day is over; not where it was
    given another end, nor where it is something to do.

    Args:
        now: the time in the user's time zone.
    """
    # A day without a year is meant as at the last time that the rule was said.
    sayings = map(days.parse_local, merging.sessions_of(memory).values())
    said_at = days.local_time(max([memory.created_at, *filter(None, sayings)]), days.zone_of(now))
    end = last_day(memory.text, said_at)
    if end is None or end > now or memory.valid_until or memory.kind in WAITING:
        return False
    from vector_memory.index import rules

    return memory.kind in RULES or rules.binds(memory.text)


class StartRules:
    """The user's rules, each said once, told together: alone each would take half as much again for its first line.

    Args:
        asker: whose stores have the rules.
        notes: a start's, to which theirs is added.
        client_sentences: what the client has told the model itself: it is not said again.
    """

    def __init__(
        self,
        ctx: Context,
        asker: Asker,
        notes: list[fence.Note],
        client_sentences: frozenset[str],
    ) -> None:
        self._ctx, self._asker, self._notes = ctx, asker, notes
        self._client_sentences = client_sentences
        self._readers = [turn_reader(shelf) for shelf in asker.shelves]
        self._rules: list[Memory] = []
        self._changes: dict[str, str] = {}
        self._positions: dict[str, int] = {}
        self._note_index = 0

    def wants(self, memory: Memory) -> bool:
        """Whether a rule is to be told if there is room."""
        is_full = len(self._rules) >= MOST_RULES
        return not is_full and not client_memory.repeats(memory.text, self._client_sentences)

    def add(self, memory: Memory, room: int) -> int:
        """Add a rule where it fits, and return what it took of the room: tokens, 0 where it does not. One that was
        corrected at once says so."""
        self._changes[memory.id] = self.change_of(memory)
        self._positions[memory.id] = self._position(memory)
        note = self._note([*self._rules, memory])
        cost = note.tokens - (self._notes[self._note_index].tokens if self._rules else 0)
        if cost > room:
            return 0
        if not self._rules:
            self._note_index = len(self._notes)
        self._notes[self._note_index : self._note_index + 1] = [note]
        self._rules.append(memory)
        return cost

    def change_of(self, rule: Memory) -> str:
        """Return what is told behind a rule: what the user said against it right after it, when he had changed what it
        made, and when he lifted it; "" for none."""
        later = (
            later_word
            for place, read in enumerate(self._readers)
            for later_word in last_words(later_words(self._ctx, self._asker, place, read, rule))
        )
        return "".join(f" · {asked_in(*later_word, CHANGE_TOKENS)}" for later_word in later)

    def _position(self, rule: Memory) -> int:
        """Return where a rule stands in its exchange: what it leans on stands before it, and is often a rule, too."""
        passages = [
            passage for read in self._readers for passage in read(rule) if passage.kind == PASSAGE
        ]
        text = "\n".join(passage.text for passage in sorted(passages, key=number_of))
        # By its end: what it begins with may be the title that was put before it.
        return text.casefold().find(rule.text.casefold()[-TAIL_CHARS:])

    def _note(self, rules: Sequence[Memory]) -> fence.Note:
        if len(rules) == 1:
            bare_rule = replace(rules[0], title="", source=Source())
            note, change = render.note(bare_rule, "", NOTE_TOKENS), self._changes[rules[0].id]
            return fence.Note(note.id, note.head, note.text + change, note.foreign, note.is_cut)
        by_time = sorted(rules, key=lambda rule: (rule.created_at, self._positions[rule.id]))
        first, last = _day(by_time[0]), _day(by_time[-1])
        span = f"{first} to {last}" if first < last else f"{first}"
        head = f"{span} · what the user wants kept to, in his words"
        lines = []
        for day, day_rules in groupby(by_time, key=_day):
            # A day is named once for all its rules: that leaves room for one rule more in each dozen.
            lines += [f"{day}:"] if first < last else []
            texts = ((rule.id, " ".join(rule.text.split())) for rule in day_rules)
            lines += (f"- {id[:8]} {fence.cut(text, RULE_TOKENS)}{self._changes[id]}" for id, text in texts)  # fmt: skip
        also = tuple(rule.id for rule in rules[1:])
        return fence.Note(rules[0].id, head, "\n".join(lines), also=also)


def _day(rule: Memory) -> date:
    return days.local_time(rule.created_at).date()
