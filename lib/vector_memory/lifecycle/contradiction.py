"""Whether two statements speak against each other: other things said of one subject."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from vector_memory.lifecycle import statement
from vector_memory.lifecycle.statement import FROM, MEANS, OBJECT, PLACE, TIME, ParsedText, Term
from vector_memory.text import analysis, tables, wording

LEAST_COSINE = 0.35
"""How near two texts must be to be of one subject."""
LEAST_SHARED = 0.5
"""The share of the shorter text's words that both must have in common, those of its differing value
left out."""
PREDICATE = frozenset(("verb", "participle"))
WORDS = PREDICATE | {"word"}
A_NEGATION = "a negation"
_OPPOSED = frozenset(
    pair
    for both in map(str.split, tables.sections("grammar")["opposites"])
    for pair in (tuple(both), tuple(reversed(both)))
)
_ROLES = frozenset(("over", "instead_of", "not", "before", "after", "from", "into", "by", "only"))
_ADDING = frozenset(("too", "also", "additionally", "another", "besides"))
_CHANGING = frozenset(("now", "instead", "instead_of"))
_HAVING = frozenset(("has", "have"))
_OF_TIME = frozenset(("day", "number:time"))
_REFUSING = ("instead_of", "over", "not", "never")
_GRAMMAR = tables.sets("grammar")
_SEVERAL = frozenset(map(analysis.stem, _GRAMMAR["several"]))
"""Verbs that take several objects: a program calls one thing and another."""

_ERRANDS = _GRAMMAR["errands"]
"""What begins with one of these is to be done: "buy eggs" leaves "buy milk" as it is."""


def contradiction_of(newer: str, older: str, cosine: float | None) -> str:
    """Return what speaks against both texts holding at once, "" for nothing.

    Args:
        newer: one text.
        older: the other one.
        cosine: of their vectors; None where there is no model, and words alone decide.

    Returns:
        What differs: "5432 and 5433", the older one first.
    """
    if cosine is not None and cosine < LEAST_COSINE:
        return ""
    new, old = _align_subjects(statement.parse(newer), statement.parse(older))
    if numbers := _differing_measures(new, old):
        return numbers
    if _is_reordered(new, old) and not wording.same_assertion(newer, older):
        return "the order of the words"
    sides = _side(new, old), _side(old, new)
    if _are_apart(*sides):
        return ""
    return _opposed_words(*sides) or _differing_values(*sides)


def are_of_a_series(newer: str, older: str) -> bool:
    """Whether two statements are alike but for two places or more, one of them in what they are about: "machine m7
    holds shard 12" and "machine m8 holds shard 31" are about two machines."""
    new, old = statement.parse(newer), statement.parse(older)
    spans = SequenceMatcher(None, old.tokens, new.tokens, autojunk=False).get_opcodes()
    equal_count = sum(end - start for tag, start, end, _, _ in spans if tag == "equal")
    differing = [
        (set(old.tokens[at:end]), set(new.tokens[new_start:new_end]))
        for tag, at, end, new_start, new_end in spans
        if tag == "replace"
    ]
    topics = [{term.word for term in text.terms if not term.is_value} for text in (old, new)]
    return (
        len(differing) > 1
        and equal_count >= LEAST_SHARED * max(len(old.tokens), len(new.tokens))
        and any(
            topics[0] & old_words and topics[1] & new_words for old_words, new_words in differing
        )
    )


def _align_subjects(new: ParsedText, old: ParsedText) -> tuple[ParsedText, ParsedText]:
    """Return both statements with the same subject, where one of them can be turned round: "Biome is our linter" is
    about the linter where the other statement is, as "Postmark sends our emails" is about the emails."""
    has_same_verb = _predicates(new.terms) == _predicates(old.terms)
    if has_same_verb and not new.topic() & old.topic() and not (_has_verb(new) and _has_verb(old)):
        if old.topic() and new.values() <= old.topic():
            return new.inverted(), old
        if new.topic() and old.values() <= new.topic():
            return new, old.inverted()
    return new, old


def _differing_measures(new: ParsedText, old: ParsedText) -> str:
    """Return the measures in which alone two statements differ, wherever they stand: "coverage below 80 % fails"."""
    if len(new.terms) != len(old.terms):
        return ""
    pairs = [
        (old_term, new_term)
        for old_term, new_term in zip(old.terms, new.terms, strict=True)
        if old_term.key != new_term.key
    ]
    if any(
        old_term.sort != new_term.sort or not old_term.sort.partition("number:")[2]
        for old_term, new_term in pairs
    ):
        return ""
    return " and ".join(_joined_words(side) for side in zip(*pairs, strict=True))


class _Side(NamedTuple):
    """One of two statements, and what it alone has: words of its value and of its topic."""

    text: ParsedText
    value: Sequence[Term]
    topic: Sequence[Term]


def _side(text: ParsedText, other: ParsedText) -> _Side:
    keys, other_keys = text.keys(), other.keys()
    own_terms = [term for term in text.terms if term.key not in other_keys]
    value_terms = _value_terms(own_terms, [term for term in other.terms if term.key not in keys])
    return _Side(text, value_terms, [term for term in own_terms if term not in value_terms])


def _only_one_denies(new: ParsedText, old: ParsedText) -> bool:
    """Whether one of both is denied, in clauses about what the other one says, and the other one not."""
    return new.denials(old.keys()) % 2 != old.denials(new.keys()) % 2


def _value_terms(own_terms: Sequence[Term], other_terms: Sequence[Term]) -> list[Term]:
    """Return those of the words that only one text has which belong to its value. "In Memcached" may
    say where something is, or of where it holds: where the other text has a value instead, it is one."""
    value_terms = [term for term in own_terms if term.is_value]
    # "Ends in March", "ends in June"
    are_days = all(term.sort not in WORDS for term in (*own_terms, *other_terms))
    if value_terms or not (are_days or any(term.is_value for term in other_terms)):
        return value_terms
    return [term for term in own_terms if term.narrows]


def _are_apart(newer: _Side, older: _Side) -> bool:
    """Whether two statements share too little, or are about different things: each topic has a word of
    its own, or one is about a part of what the other is about ("carts", "guest carts"; "the limit",
    "the limit in CI"), or they say it with other verbs."""
    (new, new_values, new_topic), (old, old_values, old_topic) = newer, older
    shared = new.keys() & old.keys()
    least_topic = min(len(new.keys()) - len(new_values), len(old.keys()) - len(old_values))
    if not shared or len(shared) < LEAST_SHARED * least_topic:
        return True
    if new_topic and old_topic or any(term.narrows for term in (*new_topic, *old_topic)):
        return True
    if new_topic and _predicates(old_values) or old_topic and _predicates(new_values):
        return True
    if _narrows(new, old, new_topic) or _narrows(old, new, old_topic):
        return True
    if not new.topic() or not old.topic() or new.topic() & old.topic():
        return False
    # "Write comments in English" and "comments are written in French" are of one thing all the same;
    # two that act on each other are not.
    has_shared_verb = _predicates(new.terms) & old.keys() or _predicates(old.terms) & new.keys()
    return not has_shared_verb or _has_verb(new) and _has_verb(old)


def _has_verb(text: ParsedText) -> bool:
    return any(term.sort == "verb" for term in text.terms)


def _predicates(terms: Iterable[Term]) -> set[str]:
    return {term.key for term in terms if term.sort in PREDICATE}


def _narrows(text: ParsedText, other: ParsedText, extra: Sequence[Term]) -> bool:
    """Whether one of the extra words of a topic stands right before a word of both topics."""
    topics = other.topic()
    return any(
        term in extra
        and after.place == term.place + 1
        and after.key in topics
        and not after.is_value
        for term, after in zip(text.terms, text.terms[1:], strict=False)
    )


def _is_reordered(new: ParsedText, old: ParsedText) -> bool:
    return (
        new.topic() == old.topic()
        and sorted(new.tokens) == sorted(old.tokens)
        and new.tokens != old.tokens
        and bool(_ROLES & set(new.tokens))
    )


def _opposed_words(newer: _Side, older: _Side) -> str:
    """Return the negation or the opposites in which two statements of one topic differ."""
    new, old = newer.text, older.text
    if refused := new.refused(("instead_of",)) & old.keys() - old.refused(_REFUSING):
        return f"not {' '.join(sorted(refused))}"
    new_tokens, old_tokens = set(new.tokens) - set(old.tokens), set(old.tokens) - set(new.tokens)
    opposed = next(
        (
            (old_token, new_token)
            for old_token in sorted(old_tokens)
            for new_token in sorted(new_tokens)
            if _are_opposite(old_token, new_token)
        ),
        (),
    )
    # What is denied or reversed must be the same: "starts at 1 s" and "ends at 60 s" both hold.
    if all(any(term.word not in opposed for term in side.value) for side in (newer, older)):
        return ""
    if _only_one_denies(new, old):
        return A_NEGATION
    return " and ".join(opposed)


def _are_opposite(word: str, other: str) -> bool:
    return (word.lower(), other.lower()) in _OPPOSED


def _differing_values(newer: _Side, older: _Side) -> str:
    """Return the values in which two statements of one topic differ, "" where not each has its own."""
    if not newer.value or not older.value or _only_one_denies(newer.text, older.text):
        return ""
    sorts = [{term.sort for term in side.value} for side in (older, newer)]
    if any(side_sorts <= PREDICATE for side_sorts in sorts) or all(
        side_sorts & PREDICATE for side_sorts in sorts
    ):
        # "Is written in Rust" and "calls the lexer": both may be true.
        return ""
    if all(side_sorts - WORDS for side_sorts in sorts):
        # "12 images" and "40 variants" count different things.
        counted = any("word" in side_sorts for side_sorts in sorts) and all(
            side_sorts & WORDS for side_sorts in sorts
        )
        differ = _are_comparable(*sorts) and not counted
        differ = differ and (
            sorts[0] - WORDS == sorts[1] - WORDS or not (sorts[0] | sorts[1]) & WORDS
        )
    else:
        differ = not _may_both_hold(newer, older)
    return f"{_joined_words(older.value)} and {_joined_words(newer.value)}" if differ else ""


def _are_comparable(sorts: set[str], other_sorts: set[str]) -> bool:
    """Whether two texts count in the same dimension; "hourly" and "every 6 h" do."""
    dimensions, other_dimensions = sorts - WORDS, other_sorts - WORDS
    return dimensions == other_dimensions or dimensions | other_dimensions <= _OF_TIME


def _may_both_hold(newer: _Side, older: _Side) -> bool:
    """Whether other words said of one topic may be true beside each other: said with another verb or in
    another way ("from main", "with Helm"), forbidden or added, or with a verb that takes several."""
    texts = (newer.text, older.text)
    values = [{term.key for term in text.terms if term.is_value} for text in texts]
    return bool(
        _predicates((*newer.value, *older.value))
        or _relate_differently(newer, older)
        or ((newer.topic or older.topic) and not values[0] & values[1])
        or all(text.denials() for text in texts)
        or all(_HAVING.intersection(text.tokens) for text in texts)
        # Of one value that is counted and another one that is not other things are said.
        or _has_number(newer) != _has_number(older)
        or any(_ADDING.intersection(text.tokens) for text in texts)
        or any(
            term.key in _SEVERAL and term.sort == "verb" for text in texts for term in text.terms
        )
        or all(text.tokens[:1] and text.tokens[0].lower() in _ERRANDS for text in texts)
    )


def _has_number(side: _Side) -> bool:
    return any("number" in term.sort for term in side.value)


def _relate_differently(newer: _Side, older: _Side) -> bool:
    """Whether both values stand in other relations to their verbs: "use pytest" and "run on every push" are of other
    questions, while "is MIT" and "is under MIT" answer one. An origin or a time always differs from any other
    relation; means differ from an object, and, unless the newer one says "now", from a place."""
    new, old = (
        {term.way for term in side.value if term.sort not in PREDICATE} for side in (newer, older)
    )
    both = new | old
    is_change = not _CHANGING.isdisjoint(newer.text.tokens)
    if ("only" in newer.text.tokens) != ("only" in older.text.tokens):
        return False
    return (
        (FROM in new) != (FROM in old)
        or ((TIME in new) != (TIME in old) and not new & old)
        or both == {MEANS, OBJECT}
        or (both == {MEANS, PLACE} and not is_change)
    )


def _joined_words(terms: Sequence[Term]) -> str:
    return " ".join(dict.fromkeys(term.word for term in terms))
