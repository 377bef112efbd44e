"""Which prompts begin a task, which go on with one, and what kind of task it is."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from vector_memory.observe.learning import tasks
from vector_memory.observe.learning.tasks import EDIT, READ, TaskCall, TaskTurn

AT = datetime(2026, 5, 1, 9, tzinfo=timezone.utc)


def turn(
    prompt: str, *steps: TaskCall, after_h: float = 0.0, interrupted: bool = False
) -> TaskTurn:
    """A turn of a minute."""
    at = AT + timedelta(hours=after_h)
    return TaskTurn(
        prompt[:20] or "none", prompt, at, at + timedelta(minutes=1), steps, interrupted
    )


@pytest.mark.parametrize(
    "prompt",
    [
        "Add a function that parses dates.",
        "Thanks! Now fix the login page, it shows the wrong name.",
        "Perfect. Please write the documentation of the importer as well.",
        "/fix-issue 123",
        "Why does the importer read every file twice when the cache is warm?",
    ],
)
def test_another_task_begins(prompt: str) -> None:
    """A request of its own, thanks before it or not."""
    assert tasks.starts_another(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "", "yes", "go on", "thanks!", "still fails", "No, that's wrong.", "/compact", "! ls -la",
        "also do it for the other one", "that doesn't work", "Great, thank you!", "why?",
        "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nValueError: no",
    ],
)  # fmt: skip
def test_a_task_goes_on(prompt: str) -> None:
    """Thanks, complaints, agreement, an error pasted back, and what speaks to the client."""
    assert not tasks.starts_another(prompt)


def test_turns_become_tasks() -> None:
    """What goes on belongs to what it goes on with; hours later everything is another task."""
    told = [
        turn("Add a parser."), turn("yes"), turn("Fix the login page of the shop."),
        turn("still fails"), turn("go on", after_h=9),
    ]  # fmt: skip
    assert [len(group) for group in tasks.group(told)] == [2, 2, 1]


def test_who_breaks_off_says_how_it_is_meant() -> None:
    """After an interruption the next words belong to the same task, unless they begin another."""
    broken = turn("Add a parser.", interrupted=True)
    how = turn("You can use the library's own function for the group names, which is less work")
    assert len(tasks.group([broken, how])) == 1
    assert len(tasks.group([broken, turn("Fix the login page.")])) == 2


def test_a_task_is_not_endless() -> None:
    """After so many turns another one begins, so that what is read again stays small."""
    groups = tasks.group([turn("Add a parser."), *[turn("go on")] * 50])
    assert [len(group) for group in groups] == [tasks.MOST_TURNS, 51 - tasks.MOST_TURNS]


@pytest.mark.parametrize(
    ("prompt", "praised", "complained"),
    [
        ("thanks", True, False),
        ("Perfect, that works!", True, False),
        ("lgtm", True, False),
        ("no, that's not what I meant", False, True),
        ("it still fails with the same error", False, True),
        ("the tests are failing now", False, True),
        ("Looks good, but it still doesn't work on Windows", False, True),
        ("you forgot the tests", False, True),
        ("Fix the test that fails", False, False),
        ("No problem. Next: the docs", False, False),
        ("Add a button", False, False),
        ("No need to hurry", False, False),
    ],
)
def test_what_the_user_says_of_it(prompt: str, praised: bool, complained: bool) -> None:
    """Thanks and complaints are told from requests."""
    assert (tasks.praises(prompt), tasks.complains(prompt)) == (praised, complained)


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("Fix the crash when the list is empty", "fix"),
        ("The build fails on Windows, please have a look", "fix"),
        ("Add a dark mode", "feature"),
        ("Can you please implement export to CSV?", "feature"),
        ("Add tests for the parser", "test"),
        ("Rename Foo to Bar everywhere", "refactor"),
        ("Write the documentation of the API", "docs"),
        ("Update the README", "docs"),
        ("Install ruff and configure it", "setup"),
        ("Review the last commit", "review"),
        ("Commit this and push", "release"),
        ("What does this function do?", "question"),
        ("Explain the cache", "question"),
        ("Hmm", ""),
    ],
)
def test_the_kind_is_read_off_the_prompt(prompt: str, kind: str) -> None:
    """The verb that it begins with says most."""
    assert tasks.kind_of(prompt) == kind


def test_what_was_done_corrects_the_kind() -> None:
    """A question that changed files was more than one; files of one sort say what they are."""
    edit = TaskCall(EDIT, said="src/app.py")
    assert tasks.classify([turn("Where is the name set?", TaskCall(READ))]) == "question"
    assert tasks.classify([turn("Could we add a cache there?", edit)]) == "feature"
    assert tasks.classify([turn("Add the new page", TaskCall(EDIT, said="docs/a.md"))]) == "docs"
    assert tasks.classify([turn("Add the case", TaskCall(EDIT, said="tests/test_a.py"))]) == "test"
    assert tasks.classify([turn("/clear"), turn("Fix the crash", edit)]) == "fix"
