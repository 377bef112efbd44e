"""Traces of a note in what was said after it: the files and identifiers that it names, and telling phrases, that
nobody had said before. One alone may be chance; a note of which two come up was most likely used.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from vector_memory.text import analysis, mentions, tables
from vector_memory.text.words import words_in

LEAST_SIGNS = 2
"""Signs of a note that have to come up before it counts as used."""
PHRASE_WORDS, RARE_WORDS, RARE_CHARS = 3, 2, 4
"""A telling phrase: so many words in a row, stop words left out, of which so many are rare: no common words, of so
many letters at least."""
NAME_CHARS = 5
"""Shorter names stand in too many texts."""
MOST_CHARS = 100_000
_SENTENCE_ENDS = str.maketrans(".!?;:", "\n" * 5)
_COMMON_WORDS = tables.words("common_words")
_COMMON_FILES = tables.words("common_files")

Phrase = tuple[str, ...]
Sign = str | Phrase


@dataclass(frozen=True)
class SessionPiece:
    """A piece of a session: a text, and whether it is the assistant's own words rather than what a tool or the user
    told it."""

    text: str
    is_said: bool

    @cached_property
    def _lower(self) -> str:
        return self.text[:MOST_CHARS].lower()

    @cached_property
    def _phrases(self) -> frozenset[Phrase]:
        return frozenset(phrases(self.text[:MOST_CHARS]))

    def holds(self, sign: Sign) -> bool:
        """Whether a sign stands in it, a name as a whole word."""
        return _stands_in(sign, self._lower) if isinstance(sign, str) else sign in self._phrases


def is_used(note: str, before: Iterable[SessionPiece], after: Iterable[SessionPiece]) -> bool:
    """Whether enough of a note came up.

    Args:
        before: what was in sight before it was shown, and with it: signs that stand there say nothing.
        after: what followed, in its order. What the assistant was given first, it did not have of the note.
    """
    unheard, count = signs(note), 0
    for piece in before:
        unheard = {sign for sign in unheard if not piece.holds(sign)}
    for piece in after:
        heard = {sign for sign in unheard if piece.holds(sign)}
        count += len(heard) if piece.is_said else 0
        unheard -= heard
        if count >= LEAST_SIGNS:
            return True
    return False


def signs(text: str) -> set[Sign]:
    """Return what tells a text from others: names of files and identifiers in lower case, and phrases."""
    mentioned = mentions.mentions(text)
    files = (file.rstrip("/").rpartition("/")[2].lower() for file in mentioned.files)
    ids = (identifier.rstrip("()").lower() for identifier in mentioned.identifiers)
    names = [*(file for file in files if file.partition(".")[0] not in _COMMON_FILES), *ids]
    return {*(name for name in names if len(name) >= NAME_CHARS), *phrases(text)}


def phrases(text: str) -> Iterable[Phrase]:
    """Yield the telling phrases of a text, as stems."""
    for sentence in text.translate(_SENTENCE_ENDS).split("\n"):
        words = [word for word in words_in(sentence) if word not in analysis.STOP_WORDS]
        rare = [
            len(word) >= RARE_CHARS and word not in _COMMON_WORDS and not word.isdigit()
            for word in words
        ]
        for start in range(len(words) - PHRASE_WORDS + 1):
            end = start + PHRASE_WORDS
            if sum(rare[start:end]) >= RARE_WORDS:
                yield tuple(map(analysis.stem, words[start:end]))


def _stands_in(name: str, text: str) -> bool:
    place = text.find(name)
    while place >= 0:
        neighbours = text[place - 1 : place] + text[place + len(name) : place + len(name) + 1]
        if not any(sign.isalnum() or sign == "_" for sign in neighbours):
            return True
        place = text.find(name, place + 1)
    return False
