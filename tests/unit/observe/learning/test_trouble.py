"""Trouble that comes back: what is told of it, with what ended it, and what is part of the work."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from vector_memory.observe.learning import trouble
from vector_memory.observe.learning.outcomes import Task, Trouble
from vector_memory.observe.learning.tasks import EDIT

AT = datetime(2026, 5, 1, 9, tzinfo=timezone.utc)
GONE = "GH006: Protected branch update failed"
RAN = "ran `git push origin HEAD:work` instead"


def task(
    number: int, *met: Trouble, session: str = "", jobs: tuple[str, ...] = ("git push",)
) -> Task:
    """One of several tasks, a day after the one before."""
    at = (AT + timedelta(days=number)).isoformat()
    named = session or f"s{number}"
    return Task(
        f"k{number}", at, "fix", True, True, jobs=list(jobs), trouble=list(met), session=named
    )


def met(end: str = "", line: str = GONE, job: str = "git push", sign: str = "s") -> Trouble:
    """An error that a task met."""
    return Trouble(sign, line, job, end)


def test_an_error_that_came_back_is_told_with_what_ended_it() -> None:
    """In how many tasks of those that ran its job, when last, and the command that went well."""
    (one,) = trouble.recurring([task(1, met()), task(2, met(RAN)), task(3)])
    assert (
        one.line
        == f"`git push` fails: {GONE} (in 2 of 3 tasks that ran it, last 2026-05-03) → {RAN}"
    )
    assert one.command == "git push origin HEAD:work"
    assert one.is_told(AT + timedelta(days=9))


def test_another_job_in_its_place_ended_nothing() -> None:
    """What ran well instead says nothing of the job that fails; what was run before it does."""
    (one,) = trouble.recurring([task(1, met()), task(2, met("ran `git status` instead"))])
    assert one.end == ""
    (one,) = trouble.recurring([task(1, met()), task(2, met("ran `git fetch`"))])
    assert one.end == "ran `git fetch`"


def test_what_nothing_ended_is_told_too() -> None:
    """The next session meets it as well."""
    (one,) = trouble.recurring([task(1, met()), task(2, met())])
    assert one.line == f"`git push` fails: {GONE} (in 2 of 2 tasks that ran it, last 2026-05-03)"


@pytest.mark.parametrize(
    "known",
    [
        [task(1, met())],
        [task(1, met(), session="s"), task(2, met(), session="s")],
        [task(1, met(EDIT)), task(2, met(EDIT))],
        [task(1, met(line="1 failed")), task(2, met(line="1 failed"))],
        [task(1, met(line="AssertionError: 1 == 2")), task(2, met(line="AssertionError: 1 == 2"))],
        [task(1, met(line="")), task(2, met(line=""))],
    ],
    ids=["once", "one session", "edited", "failed tests", "an assertion", "no words"],
)
def test_what_is_part_of_the_work_is_none(known: list[Task]) -> None:
    """What came once, went on within a session, was ended by edits, or is what a check found."""
    assert trouble.recurring(known) == []


def test_what_ended_and_came_back_in_one_session_is_trouble() -> None:
    """Two tasks met it, and each got past it in the same way."""
    (one,) = trouble.recurring([task(1, met(RAN), session="s"), task(2, met(RAN), session="s")])
    assert one.end == RAN


def test_errors_that_one_command_ends_are_told_once() -> None:
    """A command that is called wrongly fails in several ways."""
    first = [
        task(n, met("ran `uv run pytest` instead", "no pytest", "pytest", "a")) for n in (1, 2, 3)
    ]
    other = [task(n, met("ran `uv run pytest` instead", "no app", "pytest", "b")) for n in (4, 5)]
    (one,) = trouble.recurring([*first, *other])
    assert (one.sign, one.n) == ("a", 3)


def test_it_evaporates() -> None:
    """Two are told for three weeks; what is rare among the runs of its job is not told at all."""
    (one,) = trouble.recurring([task(1, met()), task(2, met())])
    assert one.is_told(AT + timedelta(days=20))
    assert not one.is_told(AT + timedelta(days=30))
    many = [task(1, met()), task(2, met()), *(task(n) for n in range(3, 50))]
    (rare,) = trouble.recurring(many)
    assert not rare.is_told(AT + timedelta(days=3))


def ended(*commands: str) -> list[Task]:
    """Tasks whose trouble such a command ended."""
    ends = [f"ran `{command}` instead" for command in commands]
    return [task(n, met(end, job="pytest"), jobs=("pytest",)) for n, end in enumerate(ends)]


def test_what_ended_it_is_told_without_the_arguments_of_one_task() -> None:
    """As trails are; where nothing else is left, what to do is not known."""
    (one,) = trouble.recurring(ended("X=lib pytest a.py -k one", "X=lib pytest b.py -k two"))
    assert one.command == "X=lib pytest"
    fine = replace(task(9, jobs=("pytest",)), commands={"pytest": "X=lib pytest -q c.py"})
    cases = [*ended("X=lib pytest a.py -k one"), task(5, met(job="pytest"), jobs=("pytest",))]
    (one,) = trouble.recurring([*cases, fine])
    assert one.command == "X=lib pytest"
    (one,) = trouble.recurring(ended("pytest a.py", "pytest b.py"))
    assert one.end == ""
