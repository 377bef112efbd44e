"""What `wrapup`, `resume` and `recall --why` print: in words for one and for several, and nothing twice."""

from __future__ import annotations

import pytest

from vector_memory.cli import recall, resume, wrapup
from vector_memory.cli.answers import Row


@pytest.mark.parametrize(
    ("count", "cost", "standing", "waits"),
    [
        (1, "(1 error)", "In all, 1 of 1 task here was done", "1 of its memories waits for you"),
        (2, "(2 errors)", "In all, 2 of 2 tasks here were done", "2 of its memories wait for you"),
    ],
)
def test_a_wrapup_counts_in_words(count: int, cost: str, standing: str, waits: str) -> None:
    """What one task met is told of one."""
    task = {"kind": "feature", "title": "Read the gauges", "done": True, "sure": True}
    answer = {
        "session": "s", "project": "p", "done": [{**task, "errors": count}],
        "lessons": {"done": count, "undone": 0}, "waits": count,
    }  # fmt: skip
    told = "\n".join(wrapup._lines(Row(answer)))
    for words in (cost, standing, waits):
        assert words in told


def test_what_ended_a_trouble_is_told_in_words() -> None:
    """An edit is no command."""
    trouble = [
        {"line": "E1", "end": "edit"},
        {"line": "E2", "end": "ran `x` instead"},
        {"line": "E3"},
    ]
    told = list(wrapup._trouble(Row({"trouble": trouble})))
    assert told[1:] == [
        "  E1; what ended it: an edit", "  E2; what ended it: ran `x` instead", "  E3"
    ]  # fmt: skip


def test_what_the_last_session_left_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    """It is open in the project, too, and stands with its session alone."""
    left = {"id": "1", "kind": "todo", "text": "Mend the Skagen gauge", "created_at": "2026-11-20T08:00:00+00:00"}  # fmt: skip
    other = {**left, "id": "2", "text": "Count leap seconds"}
    session = {"session": "s", "ended_at": "2026-11-20T08:00:00+00:00", "left": [left]}
    resume._show(Row({"session": session, "open": [left, other]}))
    told = capsys.readouterr().out
    assert told.count("Skagen") == 1
    assert "Open besides:\n" in told and told.count("leap seconds") == 1
    resume._show(Row({"session": session, "open": [left]}))
    assert "Open" not in capsys.readouterr().out


def test_a_reason_says_that_it_looks_at_one_hit_alone() -> None:
    """The column `fits` may say another number: hits that stand out of that order share their mean there."""
    told = list(recall.explained(Row({"relevance": 0.74, "words": 1.0, "cosine": 0.41})))
    assert told == [
        "Looked at alone, it answers the question with a likelihood of 74%: its meaning is 41% like the "
        "question's, and it holds 100% of the question's words."
    ]
