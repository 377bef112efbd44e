"""Whether tasks were done, and what goes wrong again and again."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from vector_memory.observe.learning import outcomes, tasks
from vector_memory.observe.learning.outcomes import Mended, Task, Trouble
from vector_memory.observe.learning.tasks import EDIT, READ, RUN, TaskStep, TaskTurn

AT = datetime(2026, 5, 1, 9, tzinfo=timezone.utc)


def ran(said: str, ok: bool | None = True, job: str = "pytest", sign: str = "") -> TaskStep:
    """A command."""
    return TaskStep(RUN, job, said, ok, "it broke" if sign else "", sign, tool="Bash")


def turn(*steps: TaskStep, prompt: str = "Fix the crash", interrupted: bool = False) -> TaskTurn:
    """A turn of two minutes."""
    return TaskTurn("u1", prompt, AT, AT + timedelta(minutes=2), steps, interrupted)


EDITED = TaskStep(EDIT, said="app.py", ok=True, tool="Edit")


@pytest.mark.parametrize(
    ("steps", "following", "interrupted", "verdict"),
    [
        ((EDITED, ran("pytest")), "", False, (True, True)),
        ((EDITED, ran("pytest", False)), "", False, (False, True)),
        ((ran("pytest", False), EDITED, ran("pytest")), "", False, (True, True)),
        ((EDITED, ran("pytest")), "No, that's wrong.", False, (False, True)),
        ((EDITED, ran("pytest", False)), "Perfect, thanks!", False, (True, True)),
        ((EDITED, ran("pytest")), "", True, (False, True)),
        ((EDITED,), "Now add a logo.", False, (True, False)),
        ((EDITED, ran("node x.js", False, "node x.js")), "", False, (False, False)),
        ((TaskStep(READ, tool="Read"),), "", False, (None, False)),
        ((), "", False, (None, False)),
    ],
)
def test_done_or_not(
    steps: tuple[TaskStep, ...],
    following: str,
    interrupted: bool,
    verdict: tuple[bool | None, bool],
) -> None:
    """The user's word, then an interruption, then the last check, then what is left failing."""
    told = [turn(*steps, interrupted=interrupted)]
    assert outcomes.verdict(told, following, "fix") == verdict


@pytest.mark.parametrize(
    ("job", "is_check"),
    [("pytest", True), ("npm run build", True), ("cargo test", True), ("just lint", True),
     ("npm install", False), ("git commit", False), ("docker compose up", False), ("node x.js", False)],
)  # fmt: skip
def test_what_is_a_check(job: str, is_check: bool) -> None:
    """A check is what tells whether the work is right."""
    assert outcomes.is_check(job) is is_check


def test_a_task_is_measured() -> None:
    """Errors, retries, files, steps in their order, and what mended a wrong call."""
    steps = (
        TaskStep(READ, tool="Read"), ran("pytest", False, sign="s1"), ran("pytest -v", False, sign="s1"),
        ran("PYTHONPATH=lib pytest"), EDITED, ran("just lint", True, "just lint"),
    )  # fmt: skip
    made = outcomes.measure([turn(*steps)], terms=["crash", "crash"], session="s")
    assert (made.kind, made.done, made.errors, made.retries) == ("fix", True, 2, 1)
    assert made.stages == ["read", "pytest", "edit", "just lint"]
    assert made.files == ["app.py"]
    assert made.terms == ["crash"]
    assert made.mended == [Mended("pytest", "pytest", "PYTHONPATH=lib pytest")]
    assert made.trouble == [Trouble("s1", "it broke", "pytest")]
    assert made.first_failed == ["pytest"]
    assert made.tools == {"Bash": 4, "Read": 1, "Edit": 1}
    assert Task.from_dict(made.to_dict()) == made


def test_the_users_last_word_counts() -> None:
    """Within a task as after it: unless something was done about it."""
    work, thanks = turn(EDITED, ran("pytest", False)), turn(prompt="thanks!")
    assert outcomes.verdict([work, thanks], "", "fix") == (True, True)
    wrong, again = turn(prompt="that's wrong"), turn(EDITED, prompt="it still fails")
    assert outcomes.verdict([turn(EDITED), wrong], "", "fix") == (False, True)
    assert outcomes.verdict([turn(EDITED), again], "", "fix") == (True, False)


def test_what_got_further_was_called_rightly() -> None:
    """Another error of another command line, with no edit between, and it went well in the end."""
    steps = (ran("pytest", False, sign="s1"), ran("uv run pytest", False, sign="s2"), EDITED)
    assert outcomes.measure([turn(*steps)]).mended == []
    told = outcomes.measure([turn(*steps, ran("uv run pytest"))]).mended
    assert told == [Mended("pytest", "pytest", "uv run pytest")]


def test_what_checks_find_is_no_trouble() -> None:
    """Failed tests and what they assert are the work itself."""
    for line in (
        "1 failed",
        "AssertionError: assert 1 == 2",
        "Found 3 errors.",
        "Expected 1, got 2",
    ):
        known = [task(n, trouble=[Trouble("s1", line, "pytest")]) for n in (1, 2, 3)]
        assert outcomes.habits(known) == []


def test_what_an_edit_mended_was_not_called_wrongly() -> None:
    """Only a command that was called otherwise, with nothing changed, says how it is to be called."""
    steps = (ran("pytest", False), EDITED, ran("pytest -q"))
    assert outcomes.measure([turn(*steps)]).mended == []


def test_what_is_no_task_is_left_out() -> None:
    """A record that somebody edited is not believed."""
    assert Task.from_dict({"key": "k", "at": "never", "kind": "fix"}) is None
    assert Task.from_dict({"kind": "fix"}) is None
    assert (
        Task.from_dict({"key": "k", "at": AT.isoformat(), "kind": "fix", "trouble": [[1]]}) is None
    )


def task(number: int, **more: object) -> Task:
    """One of several tasks."""
    at = (AT + timedelta(days=number)).isoformat()
    made = {
        "key": f"k{number}",
        "at": at,
        "kind": "fix",
        "done": True,
        "sure": True,
        "session": f"s{number}",
        **more,
    }
    return Task(**made)  # type: ignore[arg-type]


def test_a_command_that_failed_in_the_end_is_not_done() -> None:
    """Whatever was asked: three times the same failure is no success, and nothing to tell."""
    steps = (ran("python3 t.py", False, "python t.py"),)
    known = [
        outcomes.measure([turn(*steps, prompt="Run t.py please")], session=f"s{n}")
        for n in (1, 2, 3)
    ]
    assert [one.done for one in known] == [None] * 3
    assert outcomes.evidence(known) == (0, 0)


def test_only_what_is_sure_is_told() -> None:
    """A check, the user's word or an interruption is evidence; that the user went on is none."""
    assert outcomes.evidence([task(1), task(2, sure=False), task(3, done=False)]) == (1, 1)


def test_counts_by_kind() -> None:
    """How many, how many done, in how many sessions, the median of their minutes."""
    known = [
        task(1, minutes=2.0, errors=1),
        task(2, minutes=10.0, done=False),
        task(3, kind="docs"),
    ]
    fix, docs = outcomes.by_kind(known)
    assert (fix.n, fix.done, fix.undone, fix.errors, fix.minutes, fix.sessions) == (
        2,
        1,
        1,
        1,
        6.0,
        2,
    )
    assert (docs.kind, docs.n, docs.last) == ("docs", 1, "2026-05-04")


def test_a_command_that_is_called_wrongly_again_and_again() -> None:
    """It is told with what works, how often of how many, and when last; its errors with it."""
    wrong = Mended("pytest", "pytest", "PYTHONPATH=lib pytest")
    trouble = [Trouble("s1", "No module named 'app'", "pytest")]
    known = [task(n, jobs=["pytest"], mended=[wrong], trouble=trouble) for n in (1, 2)]
    known += [task(n, jobs=["pytest"]) for n in (3, 4)]
    (one,) = outcomes.habits(known)
    assert one.text == "`pytest` fails first: run `PYTHONPATH=lib pytest`"
    assert (one.n, one.of, one.last) == (2, 4, "2026-05-03")


def test_an_error_that_recurs() -> None:
    """The same signature in several tasks is trouble; in one task it is work."""
    trouble = [Trouble("s1", "port 5432: connection refused", "npm test")]
    assert outcomes.habits([task(1, trouble=trouble)]) == []
    (one,) = outcomes.habits([task(n, trouble=trouble, jobs=["npm test"]) for n in (1, 2)])
    assert (one.text, one.n, one.of) == ("`npm test`: port 5432: connection refused", 2, 2)


def test_a_wrong_call_that_is_rare_is_no_habit() -> None:
    """Two of seven runs are chance."""
    wrong = Mended("pytest", "pytest", "PYTHONPATH=lib pytest")
    known = [task(n, jobs=["pytest"], mended=[wrong] if n < 3 else []) for n in range(1, 8)]
    assert outcomes.habits(known) == []


def test_kinds_that_are_seldom_done() -> None:
    """Half of four at least, and not of three."""
    counts = outcomes.by_kind([task(n, done=n > 2) for n in range(1, 5)])
    assert [one.kind for one in outcomes.weak_kinds(counts)] == ["fix"]
    assert outcomes.weak_kinds(outcomes.by_kind([task(n, done=False) for n in range(1, 4)])) == []


def test_every_kind_has_words() -> None:
    """What is told of trails names each kind."""
    from vector_memory.observe.learning import trails

    assert set(trails.NAMES) == set(tasks.KINDS)
