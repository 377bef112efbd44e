"""A statement's words by what they do: what it is about, and what it says of that.

Two statements speak against each other only if they are about one thing. So each word is of the
topic (the subject before the verb, and what narrows it: "in staging", "for the list page") or of the
value (what is said, such as "port 5432" or "with pytest"). Which it is comes from where the verb and
the prepositions stand.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from vector_memory.text import analysis, tables, wording

NUMBER = re.compile(r"[-~^<>=v$]*\d[\w.,:/-]*$")
_UNITS = {
    unit: units.split()[0]
    for units in tables.sections("grammar")["units"]
    for unit in units.split()[1:]
}
_GRAMMAR = tables.sets("grammar")
_DAYS = frozenset(day + ending for day in _GRAMMAR["days"] for ending in ("", "s"))
_MODALS = _GRAMMAR["modals"]
_AUXILIARIES = _MODALS | {"is", "was", "be", "has", "have", "had", "needs", "need", "uses", "use"}
_PREPOSITIONS = _GRAMMAR["prepositions"]
_NARROWING = _GRAMMAR["narrowing"]
"""Prepositions that narrow the topic where they stand behind the value: "in staging"."""
_FILLERS = frozenset(map(analysis.stem, _GRAMMAR["fillers"]))
"""Verbs and adverbs that say nothing of a topic."""
_DETERMINERS = frozenset(("every", "any", "old", "per"))
_OF_TIME = frozenset(
    ("before", "after", "during", "when", "while", "until", "whenever", "every", "each")
)
_MEANS = frozenset(("by", "with", "via", "through", "over"))
FROM, TIME, MEANS, PLACE, OBJECT = "from", "time", "means", "place", ""
"""How a word stands to its verb."""
_PARTICIPLES = _GRAMMAR["participles"]
_OWNING = frozenset(analysis.stem(word) for word in ("owns", "maintains", "leads", "reviews"))
"""Verbs whose subject is the value: "Ana owns the parser" is about the parser."""


class Term(NamedTuple):
    """A word that counts. `key` is equal for equal terms; `sort` is `number` (with its unit's
    dimension behind a colon), `day`, `verb`, `participle` or `word`; `place` where it stands in its
    sentence; `is_value` whether it belongs to what is said, not to what it is said of; `narrows`
    whether it says of what behind the verb: "in staging"; `way` how it stands to the verb: `FROM`, at what
    `TIME`, by what `MEANS`, in what `PLACE`, or as its `OBJECT`.
    """

    key: str
    word: str
    sort: str
    place: int
    is_value: bool
    narrows: bool
    way: str

    @property
    def is_predicate(self) -> bool:
        """Whether it is of the verb."""
        return self.sort in ("verb", "participle")


class ParsedText(NamedTuple):
    """A text's terms in their order, its tokens, and of each clause its keys and how often it denies."""

    terms: tuple[Term, ...]
    tokens: tuple[str, ...]
    clauses: tuple[tuple[frozenset[str], int], ...]

    def denials(self, about: frozenset[str] | None = None) -> int:
        """Return how often it denies something; given keys, in clauses that have half of theirs among them."""
        counts = (
            count
            for keys, count in self.clauses
            if about is None or 2 * len(keys & about) >= len(keys)
        )
        return sum(counts)

    def topic(self) -> frozenset[str]:
        """Return the keys of what it is about."""
        return frozenset(term.key for term in self.terms if not term.is_value)

    def values(self) -> frozenset[str]:
        """Return the keys of what it says, without its predicate."""
        return frozenset(term.key for term in self.terms if term.is_value and not term.is_predicate)

    def inverted(self) -> ParsedText:
        """Return it with topic and value exchanged: "Biome is our linter" is then about the linter."""
        way = MEANS if any(term.is_predicate for term in self.terms) else OBJECT
        terms = (
            term._replace(sort="participle")
            if term.is_predicate
            else term._replace(is_value=not term.is_value, narrows=False, way=way)
            for term in self.terms
        )
        return self._replace(terms=tuple(terms))

    def refused(self, signs: Collection[str]) -> frozenset[str]:
        """Return the keys of what stands right behind one of these tokens: "npm" of "not npm"."""
        words: set[str] = set()
        for place, token in enumerate(self.tokens):
            if token in signs:
                words.update(self.tokens[place + 1 : place + 2])
                if words & _PREPOSITIONS:
                    words.update(self.tokens[place + 2 : place + 3])
        return frozenset(term.key for term in self.terms if term.word in words)

    def keys(self) -> frozenset[str]:
        """Return the keys of all its terms."""
        return frozenset(term.key for term in self.terms)


@lru_cache(maxsize=1_024)
def parse(text: str) -> ParsedText:
    """Return what a text's words do, all of its sentences as one."""
    parts = wording.sentences(text[: wording.MAX_CHARS])
    sentences = [wording.tokens(part) for part in parts]
    tokens = tuple(token for sentence in sentences for token in sentence)
    terms = [tuple(_terms(sentence)) for sentence in sentences]
    keys = [frozenset(term.key for term in sentence_terms) for sentence_terms in terms]
    counts = [
        sum(token.lower() in wording.NEGATIONS for token in sentence) for sentence in sentences
    ]
    all_terms = tuple(term for sentence_terms in terms for term in sentence_terms)
    return ParsedText(all_terms, tokens, tuple(zip(keys, counts, strict=True)))


def _terms(tokens: Sequence[str]) -> Iterator[Term]:
    """Yield a sentence's terms, each with what it belongs to."""
    verb = _verb_place(tokens)
    of_owner = verb < len(tokens) and analysis.stem(tokens[verb].lower()) in _OWNING
    of_topic, has_value = verb > 0, False
    # Who owns a thing stands before the verb, or behind "by".
    way = MEANS
    for place, token in enumerate(tokens):
        if place == verb:
            of_topic, has_value = False, False
            way = MEANS if token in ("use", "uses") and "as" not in tokens else OBJECT
        elif place > verb and token in _PREPOSITIONS and has_value:
            of_topic = token in _NARROWING
        if token in _PREPOSITIONS or token in _OF_TIME:
            way = _way_after(token)
        role = _role(tokens, place, verb)
        token_terms = list(_token_terms(tokens, place))
        for key, word, sort in token_terms:
            in_topic = of_topic != (of_owner and not role)
            narrows = in_topic and place > verb and not of_owner
            yield Term(
                key,
                word,
                role if role and sort == "word" else sort,
                place,
                not in_topic,
                narrows,
                TIME if _is_time(word, sort) else way,
            )
        has_value = has_value or bool(token_terms) and place > verb and not role


def _is_time(word: str, sort: str) -> bool:
    return sort in ("day", "number:time") or _UNITS.get(word) == "time"


def _way_after(token: str) -> str:
    if token in _OF_TIME:
        return TIME
    return FROM if token == "from" else MEANS if token in _MEANS else PLACE


def _role(tokens: Sequence[str], place: int, verb: int) -> str:
    """Return which part of the predicate a token is: `verb`, `participle`, or "" for none."""
    if place == verb:
        return "verb" if verb else ""
    between = tokens[verb + 1 : place]
    if (
        place > verb
        and tokens[verb] in _MODALS
        and all(word in wording.NEGATIONS for word in between)
    ):
        return "verb"
    behind = verb + 2 if tokens[verb + 1 : verb + 2] == ("be",) else verb + 1
    return "participle" if place == behind and _is_participle(tokens, place) else ""


def _token_terms(tokens: Sequence[str], place: int) -> Iterator[tuple[str, str, str]]:
    """Yield key, word and sort of what a token stands for: nothing, a number with its unit, or a word
    with its parts as one."""
    token = tokens[place]
    before, after = tokens[place - 1] if place else "", (*tokens[place + 1 :], "")[0]
    if token == "one" and after.isalpha() and after not in _PREPOSITIONS:
        token = "1"
    if token in _UNITS and NUMBER.match(before):
        return
    if NUMBER.match(token):
        dimension = _UNITS.get(after, "")
        measure = f"{token} {after}" if dimension else token
        yield measure, measure, f"number:{dimension}"
    elif token.lower() in _DAYS or token == "may" and NUMBER.match(before):
        yield token.lower().rstrip("s"), token.lower(), "day"
    elif (
        token.lower() not in wording.NEGATIONS
        and token not in _PREPOSITIONS
        and token != "instead_of"
    ):
        for part in _parts(token):
            base = part.removeprefix("re") if part.removeprefix("re") in wording.IRREGULAR else part
            plain = wording.IRREGULAR.get(base, (base,))[0]
            terms = [part] if part == "A" else analysis.analyse(plain)
            if terms and terms[0] not in _FILLERS:
                yield terms[0], part, "word"


def _parts(token: str) -> Sequence[str]:
    """Return the words of "trunk-based"; a name or a word such as "opt-in" stays whole."""
    parts = token.split("-")
    plain = all(part.isalpha() and part.islower() for part in parts)
    return parts if plain and analysis.STOP_WORDS.isdisjoint(parts) else (token,)


def _verb_place(tokens: Sequence[str]) -> int:
    """Return where the main verb stands, 0 where a sentence begins with it."""
    if not tokens or tokens[0] in ("we", "I", "you", "they"):
        return min(1, len(tokens))
    first = tokens[0].lower()
    begins_with_verb = analysis.stem(tokens[0]) in _FILLERS and first not in _DETERMINERS
    if begins_with_verb and not first.endswith("s"):
        return 0
    for place in range(1, len(tokens)):
        token = tokens[place].lower()
        if token in _AUXILIARIES or token in wording.NEGATIONS or _looks_finite(tokens, place):
            return place
    # "Changes to payments need a review" has a verb behind; "uses Kafka" has none.
    return 0 if begins_with_verb else _before_preposition(tokens)


def _looks_finite(tokens: Sequence[str], place: int) -> bool:
    """Whether a word looks like "deletes" after "worker", and not like "keys" of "API keys are"."""
    word, before, after = tokens[place], tokens[place - 1], (*tokens[place + 1 :], "", "")
    if not (word.isalpha() and word.islower() and before not in _PREPOSITIONS and after[0]):
        return False
    if after[0] in _AUXILIARIES or after[0] == "of" or after[0].lower() in wording.NEGATIONS:
        return False
    if word.endswith("ed") and not word.endswith("eed"):
        return _AUXILIARIES.isdisjoint(tokens)
    if not word.endswith("s") or word.endswith(("ss", "us")) or before.endswith("s"):
        return False
    goes_on = after[0].islower() and not after[0].endswith("s") and after[0] not in _PREPOSITIONS
    return not (goes_on and after[1] in _PREPOSITIONS and after[1] != "of")


def _before_preposition(tokens: Sequence[str]) -> int:
    """Return the place of the verb of a sentence without "is" and the like: behind a plural, or before
    the first preposition that has another word before it ("expire" of "sessions expire after 5 min")."""
    for place in range(1, len(tokens) - 2):
        of_a_noun = tokens[place] == "of" or (place == 1 and tokens[1] in _PREPOSITIONS)
        if of_a_noun and tokens[place + 2].islower() and tokens[place + 2] not in _PREPOSITIONS:
            return place + 2
    for place, token in enumerate(tokens):
        if place > 1 and token in _PREPOSITIONS and tokens[place - 2] not in _PREPOSITIONS:
            return place - 1
    return 1 if len(tokens) > 2 else 0


def _is_participle(tokens: Sequence[str], place: int) -> bool:
    word = tokens[place]
    is_form = (
        word in wording.IRREGULAR
        or word in _PARTICIPLES
        or (word.isalpha() and word.endswith(("ed", "en", "wn")))
    )
    return is_form and tokens[place - 1] in _AUXILIARIES
