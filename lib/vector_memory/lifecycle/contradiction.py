"""Whether two statements speak against each other: other things said of one subject."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vector_memory.lifecycle import signs, statement
from vector_memory.lifecycle.statement import Statement, Term
from vector_memory.text import analysis, wording

LEAST_COSINE = 0.5
"""How near two texts must be to be of one subject."""
LEAST_SHARED = 0.5
"""The share of the words that both must have in common: of those that the shorter text has, without
what is said otherwise."""
PREDICATE = frozenset(("verb", "participle"))
WORDS = PREDICATE | {"word"}
A_NEGATION = "a negation"
_OPPOSITES = (
    ("enable", "disable"), ("enabled", "disabled"), ("enables", "disables"), ("on", "off"),
    ("accepts", "rejects"), ("accept", "reject"), ("accepted", "rejected"), ("most", "least"),
    ("starts", "ends"), ("start", "end"), ("fixed", "introduced"), ("passes", "fails"),
    ("true", "false"), ("allow", "deny"), ("allowed", "denied"), ("allow", "forbid"),
    ("allowed", "forbidden"), ("before", "after"), ("increase", "decrease"), ("minimum", "maximum"),
    ("min", "max"), ("first", "last"), ("sync", "async"), ("public", "private"), ("up", "down"),
    ("start", "stop"), ("open", "closed"), ("required", "optional"), ("must", "may"), ("with", "without"),
    ("add", "remove"), ("include", "exclude"), ("ascending", "descending"), ("always", "never"),
    ("only", "all"), ("all", "some"), ("merged", "reverted"), ("above", "below"), ("yes", "no"),
)  # fmt: skip
_OPPOSED = frozenset(pair for both in _OPPOSITES for pair in (both, both[::-1]))
_REVERSING = ("un", "dis", "in", "im", "non", "de")
_ROLES = frozenset(("over", "instead_of", "not", "before", "after", "from", "into", "by", "only"))
_REFUSING = ("instead_of", "over", "not", "never")
_SEVERAL = frozenset(
    analysis.stem(word)
    for word in ("call", "need", "like", "send", "read", "contain", "include", "import", "have", "know",
                 "depend", "publish", "check", "print", "ask", "take", "add", "create", "mean", "return",
                 "touch", "remove", "delete", "fix", "get", "do", "see", "show", "support", "want")
)  # fmt: skip
"""What is said with these verbs of one thing may hold beside another: a program calls several."""


def between(newer: str, older: str, cosine: float | None) -> str:
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
    new, old = statement.parse(newer), statement.parse(older)
    if _swapped(newer, older, new, old):
        return "the order of the words"
    only_new, only_old = _only(new, old), _only(old, new)
    said_new, said_old = _said(only_new, only_old), _said(only_old, only_new)
    if _of_two_subjects(new, old, only_new, only_old, said_new, said_old):
        return ""
    shared = new.keys() & old.keys()
    rest = min(len(new.keys()) - len(said_new), len(old.keys()) - len(said_old))
    if not shared or len(shared) < LEAST_SHARED * rest:
        return ""
    return _denied(new, old, said_new, said_old) or _other_value(new, old, said_new, said_old)


def _said(only: Sequence[Term], others: Sequence[Term]) -> list[Term]:
    """Return those of the words that only one text has which belong to its value. "In Memcached" may
    say where something is, or of where it holds: where the other text has a value instead, it is one."""
    said = [term for term in only if term.is_value]
    if not said and any(term.is_value for term in others):
        return [term for term in only if term.narrows]
    return said


def _only(one: Statement, other: Statement) -> list[Term]:
    keys = other.keys()
    return [term for term in one.terms if term.key not in keys]


def _keys(terms: Iterable[Term]) -> set[str]:
    return {term.key for term in terms}


def _of_two_subjects(
    new: Statement,
    old: Statement,
    only_new: Sequence[Term],
    only_old: Sequence[Term],
    said_new: Sequence[Term],
    said_old: Sequence[Term],
) -> bool:
    """Whether two statements are about different things: each topic has a word of its own, or one is
    about a part of what the other is about ("carts", "guest carts"; "the limit", "the limit in CI")."""
    topic_new = [term for term in only_new if term not in said_new]
    topic_old = [term for term in only_old if term not in said_old]
    if topic_new and topic_old or _are_rivals(only_new, only_old):
        return True
    if any(term.narrows for term in (*topic_new, *topic_old)):
        return True
    if topic_new and _predicates(only_old) or topic_old and _predicates(only_new):
        return True
    if _narrows(new, old, topic_new) or _narrows(old, new, topic_old):
        return True
    is_apart = new.topic() and old.topic() and not new.topic() & old.topic()
    one_verb = _predicates(new.terms) & old.keys() or _predicates(old.terms) & new.keys()
    return bool(is_apart and not one_verb)


def _predicates(terms: Iterable[Term]) -> set[str]:
    return {term.key for term in terms if term.sort in PREDICATE}


def _narrows(one: Statement, other: Statement, extra: Sequence[Term]) -> bool:
    """Whether one of the extra words of a topic stands right before a word of both topics."""
    topics = other.topic()
    return any(
        term in extra
        and after.place == term.place + 1
        and after.key in topics
        and not after.is_value
        for term, after in zip(one.terms, one.terms[1:], strict=False)
    )


def _are_rivals(one: Iterable[Term], other: Iterable[Term]) -> bool:
    first, second = ({term.word.lower() for term in terms} for terms in (one, other))
    return any(group & first and group & second for group in signs.RIVAL_WORDS)


def _swapped(newer: str, older: str, new: Statement, old: Statement) -> bool:
    return (
        new.topic() == old.topic()
        and sorted(new.tokens) == sorted(old.tokens)
        and new.tokens != old.tokens
        and not wording.same_assertion(newer, older)
        and bool(_ROLES & set(new.tokens))
    )


def _denied(
    new: Statement, old: Statement, said_new: Sequence[Term], said_old: Sequence[Term]
) -> str:
    """Return the negation or the opposites in which two statements of one topic differ."""
    if refused := new.refused(("instead_of",)) & old.keys() - old.refused(_REFUSING):
        return f"not {' '.join(sorted(refused))}"
    first, second = set(new.tokens) - set(old.tokens), set(old.tokens) - set(new.tokens)
    opposed = next(
        ((a, b) for a in sorted(second) for b in sorted(first) if _are_opposite(a, b)), ()
    )
    # What is denied or reversed must be the same: "starts at 1 s" and "ends at 60 s" both hold.
    if all(any(term.word not in opposed for term in said) for said in (said_new, said_old)):
        return ""
    if bool(new.denials % 2) != bool(old.denials % 2):
        return A_NEGATION
    return " and ".join(opposed)


def _are_opposite(one: str, other: str) -> bool:
    if (one.lower(), other.lower()) in _OPPOSED:
        return True
    short, long = sorted((one, other), key=len)
    return len(short) > 3 and any(long == prefix + short for prefix in _REVERSING)


def _other_value(
    new: Statement, old: Statement, said_new: Sequence[Term], said_old: Sequence[Term]
) -> str:
    """Return the values in which two statements of one topic differ, "" where not each has its own."""
    if not said_new or not said_old:
        return ""
    sorts = [{term.sort for term in said} for said in (said_old, said_new)]
    if any(sorts_said <= PREDICATE for sorts_said in sorts) or all(
        _predicates(said) for said in (said_old, said_new)
    ):
        # "Is written in Rust" and "calls the lexer": both may be true.
        return ""
    if all(any(sort not in WORDS for sort in found) for found in sorts):
        # "12 images" and "40 variants" count different things.
        if all("word" in found for found in sorts) or _counted(said_new) != _counted(said_old):
            return ""
    elif new.denials and old.denials:
        # More than one thing may be forbidden.
        return ""
    elif any(term.key in _SEVERAL and term.sort == "verb" for term in (*new.terms, *old.terms)):
        return ""
    return f"{_listed(said_old)} and {_listed(said_new)}"


def _counted(terms: Sequence[Term]) -> set[str]:
    return {term.sort for term in terms} - WORDS


def _listed(terms: Sequence[Term]) -> str:
    return " ".join(dict.fromkeys(term.word for term in terms))
