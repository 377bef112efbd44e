"""What of memories worded alike comes first, and what is never taken for a repetition: whatever the
scores, in generated corpora whose facts differ in one thing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vector_memory.model import CleanText, Memory
from vector_memory.retrieve import factors, precedence, repetitions

NOW = datetime(2026, 5, 3, 12, tzinfo=timezone.utc)
THINGS = ("gateway", "ledger", "mailer", "importer", "scheduler", "renderer", "indexer")
VERBS = ("calls", "wakes", "watches", "feeds", "locks")
NAMES = ("Agnes", "Agneta", "Bruno", "Carla", "Carl")


def _numbers(one: int, other: int) -> tuple[str, str]:
    return (f"The {THINGS[0]} listens on port {7000 + one}", f"The {THINGS[0]} listens on port {8000 + other}")  # fmt: skip


def _versions(one: int, other: int) -> tuple[str, str]:
    return (f"Version 2.{one}.1 of the client broke the proxy", f"Version 2.{other + 50}.1 of the client broke the proxy")  # fmt: skip


def _names(one: int, other: int) -> tuple[str, str]:
    first, second = one % len(NAMES), (one + 1 + other % (len(NAMES) - 1)) % len(NAMES)
    return f"{NAMES[first]} reviews the parser", f"{NAMES[second]} reviews the parser"


def _identifiers(one: int, other: int) -> tuple[str, str]:
    return f"fetch_user_{one} returns None for strangers", f"fetch_team_{other} returns None for strangers"  # fmt: skip


def _quoted(one: int, other: int) -> tuple[str, str]:
    return f'The button is labelled "Save {one}"', f'The button is labelled "Send {other}"'


def _negated(one: int, other: int) -> tuple[str, str]:
    thing = THINGS[one % len(THINGS)]
    return f"The {thing} does not retry on errors", f"The {thing} does retry on errors"


def _swapped(one: int, other: int) -> tuple[str, str]:
    first, second = THINGS[one % 3], THINGS[3 + other % 4]
    verb = VERBS[one % len(VERBS)]
    return f"The {first} {verb} the {second}", f"The {second} {verb} the {first}"


Pair = Callable[[int, int], tuple[str, str]]
CORPORA: dict[str, Pair] = {
    "numbers": _numbers,
    "versions": _versions,
    "names": _names,
    "identifiers": _identifiers,
    "quoted": _quoted,
    "negated": _negated,
    "swapped": _swapped,
}
places = st.integers(0, 40)
scores = st.floats(0.01, 1.0)


def memory(text: str, number: int = 1, **more: object) -> Memory:
    """Return a stored memory."""
    return Memory(f"{number:032x}", CleanText(text), NOW, **more)  # type: ignore[arg-type]


def order(question: str, scored: dict[str, float]) -> list[str]:
    """Return texts as they stand for a question, by the scores that they were given."""
    ranked = sorted(scored.items(), key=lambda pair: -pair[1])
    settled = precedence.settled(
        question, [(memory(text, n), score) for n, (text, score) in enumerate(ranked)]
    )
    places = sorted(range(len(ranked)), key=lambda place: -settled[place])
    return [ranked[place][0] for place in places]


@pytest.mark.parametrize("sort", CORPORA)
@settings(max_examples=25)
@given(places, places, st.lists(scores, min_size=3, max_size=3))
def test_what_is_asked_for_in_its_own_words_is_first(
    sort: str, one: int, other: int, given_scores: list[float]
) -> None:
    """However much better all others score, and in whatever case it is asked."""
    asked, beside = CORPORA[sort](one, other)
    texts = (asked, beside, "The weather service has its own notes on port 7000")
    scored = dict(zip(texts, given_scores, strict=True))
    assert order(asked, scored)[0] == asked
    assert order(asked.upper() + ".", scored)[0] == asked


@pytest.mark.parametrize("sort", ["numbers", "versions", "names", "identifiers", "quoted"])
@settings(max_examples=25)
@given(places, places, st.lists(scores, min_size=3, max_size=3))
def test_what_a_question_names_beats_what_differs_in_it(
    sort: str, one: int, other: int, given_scores: list[float]
) -> None:
    """A question in other words that names the number, name or quotation, or a part of the text."""
    named, beside = CORPORA[sort](one, other)
    scored = dict(zip((named, beside, "Nothing of all that"), given_scores, strict=True))
    words = named.split()
    asked = f"what was it again about {words[0]} {words[1]} ... {' '.join(words[2:])}, do you know?"
    found = order(asked, scored)
    assert found.index(named) < found.index(beside)


@given(st.lists(st.tuples(st.text(max_size=30), scores), max_size=8), st.text(max_size=30))
def test_texts_of_other_words_keep_their_order(
    scored: list[tuple[str, float]], question: str
) -> None:
    """Any texts and any question: all are there, and scores stay what they were but for a place."""
    ranked = sorted(scored, key=lambda pair: -pair[1])
    memories = [(memory(text, n), score) for n, (text, score) in enumerate(ranked)]
    settled = precedence.settled(question, memories)
    assert len(settled) == len(ranked)
    assert all(min(s for _, s in scored) - 1e-9 <= score <= 1 + 1e-9 for score in settled)


def test_a_stored_question_is_no_answer_to_itself() -> None:
    """Who asks is not helped by the question."""
    asked = "Which port does the ledger use?"
    answer = "The ledger uses port 7001"
    assert order(asked, {answer: 0.9, asked: 0.8}) == [answer, asked]


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_use_decides_between_equals_alone(one: int, other: int) -> None:
    """What was used a thousand times does not pass what is a hundredth better."""
    values = [factors.factors(memory("x", uses=uses), NOW) for uses in (one, other)]
    used, unused = (factors.multiplier(factor) for factor in values)
    assert 0.9 * used < 0.91 * unused
    assert (used > unused) == (factors.usage(one) > factors.usage(other))


@pytest.mark.parametrize("sort", CORPORA)
@settings(max_examples=25)
@given(places, places)
def test_what_differs_in_one_thing_is_no_repetition(sort: str, one: int, other: int) -> None:
    """In a number, a name, a quotation, a negation or who does it to whom, however many words are shared."""
    rest = " when the nightly run begins and nobody else is waiting for the same result"
    first, second = CORPORA[sort](one, other)
    for text, shown in ((first, second), (second, first)):
        assert not repetitions.says_no_more(text + rest, shown + rest)
        assert not repetitions.says_no_more(text + rest, shown + rest, of_turn=True)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("The cache is off in staging.", "In staging, the cache is off"),
        ("The ledger uses SQLite", "We saw that the ledger uses SQLite in WAL mode."),
        ("The worker calls the queue", "The worker called the queue"),
    ],
)
def test_what_says_no_more_is_a_repetition(text: str, shown: str) -> None:
    """Other grammar, a part of what is shown, another form of a word."""
    assert repetitions.says_no_more(text, shown)


def test_a_narrower_thing_is_no_repetition() -> None:
    """One word more may name another thing; in one turn it rarely does."""
    text, shown = (
        "The admin endpoints of the shop need a token",
        "The endpoints of the shop need a token",
    )
    assert not repetitions.says_no_more(text, shown)
    assert repetitions.says_no_more(text, shown, of_turn=True)
