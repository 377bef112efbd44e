"""Whether a text says again what another says: of hits that do, the best stands for all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from vector_memory.model import Memory
from vector_memory.text import analysis, wording

SAME = 0.85
"""The share of words that two texts have in common when one may stand for both."""
WITHIN = 0.75
"""The same for an idea and the passage that it was said in."""
FEW = 400
"""So many are compared before those are looked for that have the same words: reading these takes longer."""
_NOTHING = frozenset(("",))
_Index = defaultdict[object, list["_Comparable"]]


class SaidTexts:
    """What memories say that were told, the best first.

    A long list would compare each with all before it: only those are compared that may be repeated, by one of their
    turn, terms and words.
    """

    def __init__(self) -> None:
        self._comparables: list[_Comparable] = []
        self._by_turn: _Index = defaultdict(list)
        self._by_term: _Index = defaultdict(list)
        self._by_word: _Index = defaultdict(list)
        self._by_opening: _Index = defaultdict(list)
        self._read = 0

    def add(self, memory: Memory, terms: frozenset[str], against: Sequence[Memory] = ()) -> bool:
        """Note what a memory says, unless it says again what one said before it; whether it was noted.

        Args:
            terms: of its title and its text.
            against: what it contradicts: that is no repetition, however alike the words.
        """
        comparable, rivals = _Comparable(memory, terms), {other.id for other in against}
        if any(
            comparable.repeats(other)
            for other in self._near(comparable)
            if other.memory.id not in rivals
        ):
            return False
        self._comparables.append(comparable)
        for term in comparable.terms or _NOTHING:
            self._by_term[term].append(comparable)
        if comparable.turn is not None:
            self._by_turn[comparable.turn].append(comparable)
        return True

    def _near(self, comparable: _Comparable) -> list[_Comparable]:
        """Return what a memory may repeat, and as little else as can be told without comparing."""
        term_lists = sorted(
            (self._by_term.get(term, []) for term in comparable.terms or _NOTHING), key=len
        )
        # What has the share `SAME` of all terms lacks fewer of these than are looked at.
        looked_at = term_lists[: int((1 - SAME) * len(term_lists)) + 1]
        near = _distinct(self._by_turn.get(comparable.turn, []), *looked_at)
        if len(near) <= FEW or not comparable.text.telling:
            return near
        self._index_words()
        # It repeats what has all its telling words, and so the rarest of them, or begins with the same assertion.
        rarest = min((self._by_word.get(word, []) for word in comparable.text.telling), key=len)
        return _distinct(
            rarest, *(self._by_opening.get(words, []) for words in comparable.text.openings)
        )

    def _index_words(self) -> None:
        """Find by their words, too, those that were noted since: in a short list nobody asks for that."""
        for comparable in self._comparables[self._read :]:
            for word in comparable.text.word_keys:
                self._by_word[word].append(comparable)
            for words in comparable.text.openings:
                self._by_opening[words].append(comparable)
        self._read = len(self._comparables)


def _distinct(*lists: list[_Comparable]) -> list[_Comparable]:
    return list({id(comparable): comparable for comparable in chain(*lists)}.values())


class _Comparable:
    """A memory, and what of it is compared with others, each made once."""

    def __init__(self, memory: Memory, terms: frozenset[str]) -> None:
        self.memory = memory
        self.terms = terms
        source = memory.source
        # Who asks is not helped by the question: what answers it must stand beside it.
        has_turn = memory.is_captured and memory.kind != "question"
        self.turn = (source.session, source.turn) if has_turn else None

    def repeats(self, other: _Comparable) -> bool:
        """Whether it says again what a better one says, and nothing else: in nearly the same words, or, of one
        turn, in words that the other has."""
        of_turn = (
            self.turn is not None
            and self.turn == other.turn
            and contained(self._own_terms, other._own_terms) >= WITHIN
        )
        is_alike = of_turn or jaccard(self.terms, other.terms) >= SAME
        return is_alike and self.text.says_no_more(other.text, of_turn)

    @cached_property
    def _own_terms(self) -> frozenset[str]:
        # Without its title's, which all of a turn have.
        return frozenset(analysis.analyse(self.memory.text))

    @cached_property
    def text(self) -> _Text:
        """Its text by its words."""
        return _Text(self.memory.text)


def says_no_more(text: str, other: str, of_turn: bool = False) -> bool:
    """Whether a text of nearly the same words says nothing that another one does not say: none of its
    words stands in another's place or in another order, and no number, name, negation or narrowing
    word is missing from the other.

    Args:
        of_turn: both were said in one turn, of the same things: the one may leave words out.
    """
    return _Text(text).says_no_more(_Text(other), of_turn)


class _Text:
    """A text by its words.

    Attributes:
        openings: the wordings of its first sentence.
        word_keys: its words; `telling` those of them that tell something by themselves.
    """

    def __init__(self, text: str) -> None:
        self._assertion = wording.assertion(text)
        self.openings = self._assertion[0] if self._assertion else frozenset[wording.Reading]()
        self._words = _words(text)
        self._keys = [word.key for word in self._words]
        self.word_keys = frozenset(self._keys)
        self.telling = frozenset(word.key for word in self._words if word.is_telling)

    def says_no_more(self, other: _Text, of_turn: bool) -> bool:
        """Whether it says nothing that another one does not say: `says_no_more`."""
        if wording.same_readings(self._assertion, other._assertion):
            return True
        # Wherever it may stand in the other: comparing them word by word takes far longer.
        return self.telling <= other.word_keys and self._stands_within(other, of_turn)

    def _stands_within(self, other: _Text, of_turn: bool) -> bool:
        words, other_words = self._words, other._words
        missing: set[str] = set()
        added: set[str] = set()
        matched = SequenceMatcher(None, self._keys, other._keys, False)
        for action, start, end, other_start, other_end in matched.get_opcodes():
            if action == "equal":
                continue
            lost_words = {word.key for word in words[start:end] if word.counts}
            new_words = {word.key for word in other_words[other_start:other_end] if word.counts}
            # Words right before others narrow what these name; so does "in staging".
            narrows = lost_words and (
                end < len(words) or any(not word.counts for word in words[start:end])
            )
            if lost_words and new_words or (narrows and not of_turn):
                return False
            if any(word.is_telling for word in words[start:end]):
                return False
            if any(word.token in wording.NEGATIONS for word in other_words[other_start:other_end]):
                return False
            missing |= lost_words
            added |= new_words
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
        _Word(token, token_terms[0] if token_terms else token.lower(), bool(token_terms))
        for token, token_terms in zip(tokens, terms, strict=True)
    ]


def contained(terms: frozenset[str], other_terms: frozenset[str]) -> float:
    """Return the share of the smaller set that the other holds, 0 … 1; 1 for an empty one."""
    smaller = min(len(terms), len(other_terms))
    return len(terms & other_terms) / smaller if smaller else 1.0


def jaccard(terms: frozenset[str], other_terms: frozenset[str]) -> float:
    """Return the share of common elements among all of two sets, 0 … 1; 1 for two empty sets."""
    common = len(terms & other_terms)
    union = len(terms) + len(other_terms) - common
    return common / union if union else 1.0
