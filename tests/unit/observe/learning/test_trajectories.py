"""Trajectories: tasks that went well, told to the next of their like and to no other."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from vector_memory.observe.learning import trajectories
from vector_memory.observe.learning.outcomes import Task, Trouble

NOW = datetime(2026, 5, 20, 9, tzinfo=timezone.utc)


def task(number: int, **more: Any) -> Task:
    made = {
        "key": f"k{number}", "at": f"2026-05-{number:02}T09:00:00+00:00", "kind": "fix", "done": True, "sure": True,
        "session": f"s{number}", "steps": ["read", "edit", "pytest"], "files": ["parser.py"],
        "commands": {"pytest": "PYTHONPATH=lib pytest"}, "terms": ["crash", "parser", "umlauts"],
        "asked": "Fix the crash of the parser with umlauts", **more,
    }  # fmt: skip
    return Task(**made)


def test_a_task_that_went_well_is_an_example() -> None:
    met = Trouble("sign", "ModuleNotFoundError: app", "pytest", "PYTHONPATH=lib pytest")
    (one,) = trajectories.find([task(1, trouble=[met])])
    assert one.text == (
        "A fix that went well here (2026-05-01): “Fix the crash of the parser with umlauts”. Steps: edit parser.py "
        "→ `PYTHONPATH=lib pytest`. Met on the way: ModuleNotFoundError: app → `PYTHONPATH=lib pytest`"
    )
    assert one.commands == ["PYTHONPATH=lib pytest"]


def test_nothing_else_is() -> None:
    """What nobody confirmed, what failed, what changed nothing or ran nothing, and what may not be told."""
    others: list[dict[str, Any]] = [
        {"sure": False}, {"done": False}, {"steps": ["read", "pytest"]}, {"commands": {}}, {"asked": ""},
        {"kind": "question"},
    ]  # fmt: skip
    assert trajectories.find([task(at, **more) for at, more in enumerate(others, 1)]) == []


def test_of_several_about_the_same_the_newest_stands() -> None:
    found = trajectories.find(
        [task(1), task(3), task(2), task(4, terms=["release", "notes", "date"])]
    )
    assert [one.session for one in found] == ["s4", "s3"]
    many = [task(n, terms=[f"a{n}", f"b{n}", f"c{n}"]) for n in range(1, 29)]
    assert len(
        trajectories.find(many + [task(n, key=f"x{n}", terms=[f"d{n}"]) for n in range(1, 29)])
    ) == (trajectories.MOST)


def test_it_comes_to_a_task_that_is_like_it() -> None:
    found = trajectories.find([task(1), task(2, terms=["release", "notes", "date"])])
    best = trajectories.most_similar(found, "fix", {"crash", "parser", "umlauts", "again"}, NOW)
    assert best is not None and best.session == "s1"
    assert trajectories.most_similar(found, "docs", {"crash", "parser", "umlauts"}, NOW) is None
    assert trajectories.most_similar(found, "fix", {"parser", "umlauts", "speed"}, NOW) is None
    assert (
        trajectories.most_similar(found, "fix", {"crash", "parser", "umlauts"}, NOW, but="s1")
        is None
    )
    late = NOW + trajectories.FRESH
    assert trajectories.most_similar(found, "fix", {"crash", "parser", "umlauts"}, late) is None


def test_one_that_does_not_help_is_told_no_more() -> None:
    """Not after one failure, and again once it has helped as often."""
    ask: Any = ("fix", {"crash", "parser", "umlauts"}, NOW)
    (one,) = trajectories.find([task(1)])
    outcomes = {"a": False}
    assert trajectories.most_similar([one.with_tried(outcomes)], *ask) is not None
    outcomes["b"] = False
    tried = one.with_tried(outcomes)
    assert tried.text.endswith(". Of 2 tasks that it came into 0 were done")
    assert trajectories.most_similar([tried], *ask) is None
    outcomes |= {"c": True, "d": True}
    assert trajectories.most_similar([one.with_tried(outcomes)], *ask) is not None
    many = one.with_tried({str(n): True for n in range(50)})
    assert len(many.tried) == trajectories.MOST_TRIED and "49" in many.tried
