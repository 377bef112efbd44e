"""A session as a tree of topics: where they begin, what they are called, what is said of them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory.index.topics import shifts
from vector_memory.index.topics.naming import NAME_CHARS, name_of, prompt_title
from vector_memory.index.topics.spans import SUBTOPIC, TOPIC, boundaries, spans, walk
from vector_memory.index.topics.summaries import (
    Summary,
    SummaryIdea,
    intent_of,
    summary_of,
)
from vector_memory.index.topics.turns import Passage, TopicTurn, lines_of, terms_of, turns_of
from vector_memory.model import INTENTS

START = datetime(2026, 5, 3, 10, tzinfo=timezone.utc)


def passage(number: int, text: str, **more: object) -> Passage:
    """Return a passage of a turn; turns are two minutes and ten lines long."""
    made = Passage(
        number, f"k{number}", text, text[:20], "/t.jsonl", 10 * number, 10 * number + 9,
        START + timedelta(minutes=2 * number),
    )  # fmt: skip
    return made._replace(**more)


def turn(number: int, prompt: str, answer: str = "It is done.", **more: object) -> TopicTurn:
    """Return a turn of one passage."""
    return TopicTurn((passage(number, f"User: {prompt}\nAssistant: {answer}", **more),))


# -- turns ----------------------------------------------------------------------------------------


def test_passages_become_turns_again() -> None:
    """Prompt and answer are told apart; what was done is no answer."""
    (one,) = turns_of(
        [
            passage(1, "User: Why is it slow?\nWhich query?\nDone: ran pytest"),
            passage(1, "Assistant: The index is missing.\nDone: edited a.py", files=("a.py",)),
        ]
    )
    assert one.prompt == "Why is it slow?\nWhich query?"
    assert "The index is missing." in one.answer
    assert "pytest" not in one.answer and "edited" not in one.answer
    assert one.files == {"a.py"}


def test_what_the_assistant_began_has_no_prompt() -> None:
    """A turn that begins with other words than the user's starts no topic."""
    assert TopicTurn((passage(1, "Assistant: Hello."),)).prompt == ""


def test_files_of_a_session_stay_together() -> None:
    """The file that began first comes first, whatever the numbers of its turns."""
    late = passage(1, "User: late", path="/b.jsonl", at=START + timedelta(hours=5))
    found = turns_of([late, passage(2, "User: two"), passage(1, "User: one")])
    assert [one.prompt for one in found] == ["one", "two", "late"]
    assert lines_of(found) == (10, 29)


@given(st.text(max_size=200))
def test_terms_are_lower_case_words(text: str) -> None:
    """Whatever the text."""
    assert all(term == term.lower() and len(term) >= 3 for term in terms_of(text))


# -- shifts ---------------------------------------------------------------------------------------

SIGNS = ["phrase", "request", "trouble", "reply"]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("Let's also migrate the worklet", {"phrase", "request"}),
        ("New feature: read tar archives", {"phrase"}),
        ("can you please add a test?", {"request"}),
        ("something broke the streaming", {"trouble"}),
        ("why does CI fail?", {"trouble"}),
        ("yes, that one", {"reply"}),
        ("Never mind! Back to the parser.", {"phrase"}),
        ("The parser reads tokens.", set()),
    ],
)
def test_turns_of_phrase(prompt: str, expected: set[str]) -> None:
    """What a prompt says about itself."""
    found = shifts.signs([turn(1, "Read it"), turn(2, prompt)], 1)
    assert {name for name in SIGNS if found[name]} == expected


def test_a_phrase_far_into_a_prompt_is_none() -> None:
    """It is most likely pasted text."""
    found = shifts.signs([turn(1, "a"), turn(2, "x " * 100 + "another task")], 1)
    assert not found["phrase"]


def test_time_and_files() -> None:
    """A long pause and other files speak for another topic, the same files against it."""
    before = turn(1, "x", files=("a.py",))
    same = shifts.signs([before, turn(2, "y", files=("a.py",))], 1)
    other = shifts.signs([before, turn(400, "y", files=("b.py",))], 1)
    assert (same["files"], other["files"]) == (0.0, 1.0)
    assert same["gap"] < 0.2 < 0.9 < other["gap"] <= 1.0
    assert shifts.signs([before, turn(2, "y")], 1)["talk"] == 1.0


def test_clear_begins_by_any_account() -> None:
    """And an exchange without a prompt never does."""
    talk = [turn(1, "a"), turn(2, "/clear"), TopicTurn((passage(3, "Assistant: on it"),))]
    assert boundaries(shifts.scores(talk)) == [0, 1]


# -- the tree -------------------------------------------------------------------------------------


def two_topics() -> list[TopicTurn]:
    """Two plain topics of three turns."""
    queue = [turn(n, "and the retries too", files=("q.py",)) for n in (1, 2, 3)]
    ledger = [turn(n, "and the totals", files=("l.py",)) for n in (401, 402)]
    begins = turn(400, "Now let's fix another bug: totals of the ledger are wrong", files=("l.py",))
    return [*queue, begins, *ledger]


def test_a_session_falls_into_its_topics() -> None:
    """With lines, turns, names and the key of the first turn."""
    first, second = spans(two_topics())
    assert (first.turns, second.turns) == ((1, 3), (400, 402))
    assert (first.lines, second.lines) == ((10, 39), (4000, 4029))
    assert second.key == "k400"
    assert "totals of the ledger" in second.name.lower()
    assert not first.parts


def test_a_long_topic_has_parts() -> None:
    """They begin where a shift is likely, not certain, and belong to it."""
    talk = [turn(n, "and the retries too", files=("q.py",)) for n in range(1, 8)]
    talk[4] = turn(5, "why is the worker wrong", files=("q.py",))
    (topic,) = spans(talk)
    assert [(one.level, one.turns) for one in topic.parts] == [(2, (1, 4)), (2, (5, 7))]
    assert [(one.level, parent) for one, parent in walk([topic])] == [
        (TOPIC, ""), (SUBTOPIC, "k1"), (SUBTOPIC, "k1"),
    ]  # fmt: skip


def test_no_turns_are_no_topics() -> None:
    """Nothing in, nothing out."""
    assert spans([]) == []


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["yes", "/clear", "", "let's add another feature now", "why is it so?"]
            ),
            st.integers(0, 90),
            st.sets(st.sampled_from("abc"), max_size=2),
        ),
        max_size=12,
    )
)
def test_topics_cover_every_turn_once(drawn: list[tuple[str, int, set[str]]]) -> None:
    """In order, whatever the session; the parts of a topic cover it, too."""
    talk = [
        turn(number, prompt, at=START + timedelta(minutes=minutes), files=tuple(files))
        for number, (prompt, minutes, files) in enumerate(drawn, 1)
    ]  # fmt: skip
    found = spans(talk)
    assert [one for topic in found for one in topic.members] == talk
    for topic in found:
        assert topic.name and len(topic.name) <= NAME_CHARS
        if topic.parts:
            assert [one for part in topic.parts for one in part.members] == list(topic.members)


# -- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("Explain me the difference between: workers, jobs and lanes", "Explain me the difference"),
        ("Review the code in https://git.test/acme/shop/pulls/1371 against the guide", "Review the code"),
        ("Add a retry to the billing client so that failed invoices are sent again", "Add a retry to the billing client"),
        ("Move the tables of the old ledger (those that nobody has read for years) away", "Move the tables of the old ledger"),
        ("Hey Claude, can you please add a GitHub Action to run tests? Use act.",
         "Add a GitHub Action to run tests"),
        ("ok. let's use apple container instead of docker", "Use apple container instead of docker"),
        ("I'd like you to port @lib/a.py to Rust", "Port lib/a.py to Rust"),
        ("New feature: we support tar archives, but zip is missing",
         "We support tar archives"),
        ("yes, please", ""),
        ("/clear", ""),
    ],
)  # fmt: skip
def test_a_prompt_becomes_a_title(prompt: str, name: str) -> None:
    """Without address and courtesy, the first clause; nothing where it says nothing."""
    assert prompt_title(prompt) == name


def test_keywords_name_what_no_prompt_does() -> None:
    """The words that are frequent here and rare elsewhere."""
    here = turn(1, "yes", "The worker retries. The worker sleeps. The queue is empty.")
    name = name_of([here], {"worker": 1, "queue": 5, "retries": 1, "empty": 4, "sleeps": 3}, 5)
    assert name.startswith("worker, retries")


# -- summaries ------------------------------------------------------------------------------------


def test_a_summary_is_made_of_what_is_known() -> None:
    """Decisions, conclusions, and what the last turn leaves open."""
    known = [
        SummaryIdea(1, "decision", "We will use a spool file for retries."),
        SummaryIdea(1, "todo", "Write the docs."),
        SummaryIdea(2, "cause", "The root cause was a missing index."),
        SummaryIdea(2, "question", "Should the spool be kept for a week?"),
    ]
    found = summary_of([turn(1, "which one?"), turn(2, "go")], known)
    assert found == Summary(
        ("We will use a spool file for retries.",),
        ("The root cause was a missing index.",),
        ("Should the spool be kept for a week?",),
    )
    assert found.lines()[0] == "Decided: We will use a spool file for retries."


def test_without_conclusions_the_last_words_stand_for_them() -> None:
    """How it ended is better than nothing; with a question it stays open."""
    asked = summary_of([turn(1, "go", "All agree. Should the totals be migrated?")], [])
    assert asked == Summary(left_open=("Should the totals be migrated?",))
    assert summary_of([turn(1, "go", "The totals agree with the bank.")], []).concluded == (
        "The totals agree with the bank.",
    )


def test_known_ideas_come_before_how_it_ended() -> None:
    """No other sentence is taken for a decision."""
    known = [
        SummaryIdea(1, "decision", "Totals are kept in cents."),
        SummaryIdea(1, "todo", "Migrate the totals."),
    ]
    said = "We decided on euros. The root cause was a rounding of cents."
    (topic,) = spans([turn(1, "totals of ledgers", said)], known)
    assert topic.summary == Summary(
        ("Totals are kept in cents.",),
        ("The root cause was a rounding of cents.",),
        ("Migrate the totals.",),
    )


def test_a_summary_does_not_repeat_the_name() -> None:
    """The prompt that a topic is called by is a request, and was said."""
    known = [SummaryIdea(1, "decision", "Please make the queue survive a crash.")]
    (topic,) = spans([turn(1, "Please make the queue survive a crash.", "All is well now.")], known)
    assert topic.name == "Make the queue survive a crash"
    assert topic.summary.decided == ()


@pytest.mark.parametrize(
    "decision",
    [
        "We no longer use SQLite: we decided to move the bookkeeping to Postgres 16.",
        "We no longer use SQLite, because Contoso needs replication",
        "We no longer use SQLite: 8080",
    ],
)
def test_a_summary_says_what_stands_behind_the_name(decision: str) -> None:
    """A name is the beginning of a sentence."""
    known = [
        SummaryIdea(1, "decision", decision),
        SummaryIdea(1, "decision", "We no longer use SQLite."),
    ]
    made = summary_of([turn(1, decision, "All is well now.")], known, "We no longer use SQLite")
    assert made.decided == (decision,)


def test_what_a_model_found_has_the_room_that_is_left() -> None:
    """However much of it there is, and whenever it came: what was said stays, and stands first."""
    found = [
        SummaryIdea(1, "decision", f"A model's decision of the number {n}.", True) for n in "12"
    ]
    said = [
        SummaryIdea(1, "decision", f"The {noun} is kept in Postgres.") for noun in ("log", "queue")
    ]
    turns = [turn(1, "What of the store?", "All is well now.")]

    def decided(*ideas: SummaryIdea) -> tuple[str, ...]:
        return summary_of(turns, ideas).decided

    assert decided(*said, *found) == decided(*found, *said) == (said[0].text, said[1].text)
    assert decided(*found, said[0]) == (said[0].text, found[1].text)
    assert decided(said[0], said[0]._replace(by_model=True)) == (said[0].text,)
    assert decided(*found) == (found[0].text, found[1].text)


@given(st.text(max_size=300))
def test_any_sentence_has_an_intent_or_none(text: str) -> None:
    """Whatever it says."""
    assert intent_of(text) in {"", *INTENTS}
