"""Ideas can be understood alone, and are known by their words."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

from hypothesis import given
from hypothesis import strategies as st

from vector_memory.index.exchanges import DONE, NOTE, SAID, Exchange, ExchangeStep
from vector_memory.index.ideas import LONGEST_IDEA, MOST_IDEAS, to_ideas
from vector_memory.model import Priority

AT = datetime(2026, 11, 20, tzinfo=timezone.utc)
EXCHANGE = Exchange(
    session="s1", uuid="u1", prompt="Let's use Postgres for the queue.", steps=(),
    files=("src/queue.py",), line_start=3, line_end=9, start=100, part=0, started_at=AT, ended_at=AT,
    cwd="/home/dev/app", branch="main", is_subagent=False, turn=2,
)  # fmt: skip


def said(*texts: str, prompt: str = "How is the queue made, and of what?") -> Exchange:
    """Return an exchange with these answers."""
    return replace(EXCHANGE, prompt=prompt, steps=tuple(ExchangeStep(SAID, one) for one in texts))


def test_an_idea_has_its_source() -> None:
    """Kind, words, session, lines, who said it."""
    (idea,) = to_ideas(EXCHANGE, "/t.jsonl")
    assert (idea.kind, idea.text) == ("decision", "Let's use Postgres for the queue.")
    assert (idea.session, idea.turn, idea.path, idea.line_start) == ("s1", 2, "/t.jsonl", 3)
    assert (idea.speaker, idea.origin, idea.created_at) == ("user", "user", AT)
    assert idea.extra["entities"] == ["technology:postgresql"]


def test_what_is_said_again_is_the_same_idea() -> None:
    """In another exchange and other case; other words are another idea."""
    again = replace(EXCHANGE, uuid="u9", prompt="let's use postgres for the queue")
    (one,), (other,) = to_ideas(EXCHANGE), to_ideas(again)
    assert one.external_id == other.external_id
    (third,) = to_ideas(replace(EXCHANGE, prompt="Let's use Redis for the queue."))
    assert third.external_id != one.external_id


def test_a_refusal_says_what_was_refused() -> None:
    """The reason alone would say nothing."""
    note = ExchangeStep(NOTE, "User, refusing Bash: npm install: use pnpm", "use pnpm")
    ideas = to_ideas(
        replace(EXCHANGE, prompt="Set it up.", steps=(ExchangeStep(DONE, "Bash: x"), note))
    )
    (idea,) = [one for one in ideas if one.kind == "preference"]
    assert idea.text == "User, refusing Bash: npm install: Use pnpm"


def test_pronouns_take_the_sentence_before() -> None:
    """ "It" alone would say nothing."""
    text = "The pool has ten connections. It never closes them because of a missing finally."
    texts = [one.text for one in to_ideas(said(text))]
    assert any(one.startswith("The pool has ten connections. It never closes") for one in texts)


def test_items_take_their_heading() -> None:
    """A bullet stands under something."""
    ideas = to_ideas(said("## Open problems\n- exports fail on empty projects"))
    assert [one.text for one in ideas if one.kind == "problem"] == [
        "Open problems: Exports fail on empty projects"
    ]


def test_this_file_gets_its_name() -> None:
    """Where only one was in work."""
    ideas = to_ideas(said("The issue is that this file never closes its connection."))
    assert any("(src/queue.py)" in one.text for one in ideas)


def test_questions_know_whether_they_were_answered() -> None:
    """An answer of substance follows or does not."""
    prompt = "Why does the nightly build skip the browser tests?"
    (open_one,) = to_ideas(replace(EXCHANGE, prompt=prompt))
    assert "done" not in open_one.extra
    long = "Because the browsers are missing there. " * 8
    answered = [one for one in to_ideas(said(long, prompt=prompt)) if one.kind == "question"]
    assert [one.extra["done"] for one in answered] == [True]


def test_pasted_text_is_nobodys_word() -> None:
    """Log lines and long documents in a prompt."""
    log = "\n".join(f"2026-11-20 10:00:{n:02} ERROR [0x{n:04x}] failed: 500" for n in range(40))
    prompt = f"Let's use the other log format.\n\n{log}\n\nPlease never log tokens."
    texts = [one.text for one in to_ideas(replace(EXCHANGE, prompt=prompt))]
    assert not any("0x" in one for one in texts)
    assert any("never log tokens" in one for one in texts)


def test_only_users_make_something_important() -> None:
    """The assistant's rule is no rule."""
    rule = "Never commit secrets to the repository."
    (users,) = to_ideas(replace(EXCHANGE, prompt=rule))
    assert users.priority == str(Priority.CORE)
    assert all(one.priority == "NORMAL" for one in to_ideas(said(rule)))


def test_a_subagents_task_is_not_the_users_word() -> None:
    """What an agent tells an agent is no decision of the user."""
    assert to_ideas(replace(EXCHANGE, is_subagent=True)) == []


def test_text_is_redacted_before_it_is_cut() -> None:
    """Wherever it stands."""
    clean = lambda text: text.replace("hunter2", "[gone]")  # noqa: E731
    ideas = to_ideas(replace(EXCHANGE, prompt="Let's use hunter2 as the password."), clean=clean)
    assert ideas and not any("hunter2" in str(one) for one in ideas)


@given(st.lists(st.tuples(st.sampled_from([SAID, DONE, NOTE]), st.text(max_size=2000)), max_size=4))
def test_sizes(steps: list[tuple[str, str]]) -> None:
    """No idea is empty or too long; there are never too many."""
    made = to_ideas(replace(EXCHANGE, steps=tuple(ExchangeStep(*one) for one in steps if one[1])))
    assert len(made) <= MOST_IDEAS
    assert all(0 < len(one.text) <= LONGEST_IDEA for one in made)
    assert len({one.external_id for one in made}) == len(made)


def test_a_problem_that_the_same_answer_mends_is_not_open() -> None:
    """One that nothing is said to is."""
    mended = said("The issue is that the worker never closes it. I fixed it in a finally block.")
    open_one = said("The issue is that the worker never closes its connection.")
    done = [one.extra.get("done") for one in to_ideas(mended) if one.kind == "problem"]
    left = [one.extra.get("done") for one in to_ideas(open_one) if one.kind == "problem"]
    assert all(done)
    assert left == [None]
