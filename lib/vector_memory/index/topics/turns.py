"""A session's passages put together again as turns: a prompt and what came of it, as far as it was kept.

Topics are found in what is stored, not in the transcript: that is redacted, without chatter, at hand
after the transcript is gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

from vector_memory.index.voices import ASSISTANT, USER, Voice, voices
from vector_memory.text import tables
from vector_memory.text.analysis import STOP_WORDS
from vector_memory.text.harmless import without_marked
from vector_memory.text.words import letters_in

_COMMON = STOP_WORDS | tables.words("topic_words")


class Passage(NamedTuple):
    """A stored piece of an exchange: which one (`turn`, `key`: the same in every copy of the
    transcript), where (`path`, lines from 1, both ends included), and when (aware UTC)."""

    turn: int
    key: str
    text: str
    title: str
    path: str
    line_start: int
    line_end: int
    at: datetime
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class TopicTurn:
    """One exchange of a session, made of its passages in order (at least one)."""

    passages: tuple[Passage, ...]

    @property
    def first(self) -> Passage:
        """The passage that it begins with: the prompt, where there is one."""
        return self.passages[0]

    @cached_property
    def text(self) -> str:
        """All that was said and done."""
        return "\n".join(passage.text for passage in self.passages)

    @cached_property
    def spoken_text(self) -> str:
        """The same without what tools printed or the user pasted."""
        return without_marked(self.text)

    @cached_property
    def _voices(self) -> list[Voice]:
        return voices(self.text)

    @cached_property
    def prompt(self) -> str:
        """The user's words that it begins with, "" where it begins with others."""
        users = takewhile(lambda voice: voice.who == USER and not voice.refusal, self._voices)
        return "\n".join(voice.text for voice in users)

    @cached_property
    def answer(self) -> str:
        """What the assistant said."""
        return "\n".join(voice.text for voice in self._voices if voice.who in (ASSISTANT, ""))

    @cached_property
    def terms(self) -> frozenset[str]:
        """Its telling words, in lower case."""
        return terms_of(self.spoken_text)

    @cached_property
    def files(self) -> frozenset[str]:
        """The files that it touched."""
        return frozenset(file for passage in self.passages for file in passage.files)


def terms_of(text: str) -> frozenset[str]:
    """Return a text's distinct words of three letters and more, without the commonest. Not the terms
    that are searched for: comparing a few turns needs no stems, and stems take ten times as long."""
    return frozenset(words_of(text))


def words_of(text: str) -> list[str]:
    """Return the same with repetitions, in order."""
    return [word for word in letters_in(text.lower(), 3) if word not in _COMMON]


def turns_of(passages: Iterable[Passage]) -> list[TopicTurn]:
    """Return the turns of a session's passages, in order. A session may stand in several files: each
    stays together, the one that began first comes first."""
    by_path: dict[str, dict[int, list[Passage]]] = {}
    for passage in passages:
        by_path.setdefault(passage.path, {}).setdefault(passage.turn, []).append(passage)
    ordered = sorted(by_path.values(), key=_started_at)
    return [TopicTurn(tuple(turns[number])) for turns in ordered for number in sorted(turns)]


def _started_at(turns: dict[int, list[Passage]]) -> datetime:
    return min(passage.at for passages in turns.values() for passage in passages)


def lines_of(turns: Sequence[TopicTurn]) -> tuple[int, int]:
    """Return the first and the last line of turns, in the file that they begin in."""
    path = turns[0].first.path
    inside = [turn.first for turn in turns if turn.first.path == path]
    return inside[0].line_start, max(passage.line_end for passage in inside)
