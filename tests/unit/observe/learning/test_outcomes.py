"""Whether tasks were done, and what is kept of them."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime, timedelta, timezone

import pytest

from vector_memory.observe.learning import outcomes, tasks
from vector_memory.observe.learning.outcomes import Task, Trouble
from vector_memory.observe.learning.tasks import EDIT, READ, RUN, TaskCall, TaskTurn
from vector_memory.service.learning.learned_records import tasks_in

AT = datetime(2026, 5, 1, 9, tzinfo=timezone.utc)


def ran(said: str, ok: bool | None = True, job: str = "pytest", sign: str = "") -> TaskCall:
    """A command."""
    return TaskCall(RUN, job, said, ok, "it broke" if sign else "", sign)


def turn(*steps: TaskCall, prompt: str = "Fix the crash", interrupted: bool = False) -> TaskTurn:
    """A turn of two minutes."""
    return TaskTurn("u1", prompt, AT, AT + timedelta(minutes=2), steps, interrupted)


EDITED = TaskCall(EDIT, said="app.py", ok=True)


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
        ((TaskCall(READ),), "", False, (None, False)),
        ((), "", False, (None, False)),
    ],
)
def test_done_or_not(
    steps: tuple[TaskCall, ...],
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
    """Errors, retries, files, steps in their order, how its jobs were called, and its trouble."""
    steps = (
        TaskCall(READ), ran("pytest", False, sign="s1"), ran("pytest -v", False, sign="s1"),
        ran("PYTHONPATH=lib pytest"), EDITED, ran("just lint", True, "just lint"),
    )  # fmt: skip
    made = outcomes.task_of([turn(*steps)._replace(terms=("crash", "crash"))], session="s")
    assert (made.kind, made.done, made.errors, made.retries) == ("fix", True, 2, 1)
    assert made.steps == ["read", "pytest", "edit", "just lint"]
    assert made.files == ["app.py"]
    assert made.terms == ["crash"]
    assert made.commands == {"pytest": "PYTHONPATH=lib pytest", "just lint": "just lint"}
    assert made.trouble == [Trouble("s1", "it broke", "pytest")]
    assert tasks_in(json.loads(json.dumps([asdict(made)]))) == [made]


def test_the_users_last_word_counts() -> None:
    """Within a task as after it: unless something was done about it."""
    work, thanks = turn(EDITED, ran("pytest", False)), turn(prompt="thanks!")
    assert outcomes.verdict([work, thanks], "", "fix") == (True, True)
    wrong, again = turn(prompt="that's wrong"), turn(EDITED, prompt="it still fails")
    assert outcomes.verdict([turn(EDITED), wrong], "", "fix") == (False, True)
    assert outcomes.verdict([turn(EDITED), again], "", "fix") == (True, False)


def test_what_is_no_task_is_left_out() -> None:
    """A record that somebody edited is not believed."""
    good = {"key": "k", "at": AT.isoformat(), "kind": "fix"}
    assert (
        tasks_in([{**good, "at": "never"}, {"kind": "fix"}, "fix", {**good, "trouble": [[1]]}])
        == []
    )
    assert len(tasks_in([good, {**good, "of a later version": 1}])) == 2
    older = {name: value for name, value in good.items() if name != "steps"}
    assert tasks_in([{**older, "stages": ["edit"]}])[0].steps == ["edit"]


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
        outcomes.task_of([turn(*steps, prompt="Run t.py please")], session=f"s{n}")
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
    names = ("n", "done", "undone", "errors", "minutes", "sessions")
    assert [fix[name] for name in names] == [2, 1, 1, 1, 6.0, 2]
    assert (docs["kind"], docs["n"], docs["last"]) == ("docs", 1, "2026-05-04")


def test_every_kind_has_words() -> None:
    """What is told of trails names each kind."""
    from vector_memory.observe.learning import trails

    assert set(trails.NAMES) == {*tasks.KINDS, trails.ANY}
