"""Trails: reinforced, weakened, evaporating, told with their evidence and not without."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from vector_memory.observe.learning import trails
from vector_memory.observe.learning.outcomes import Task

NOW = datetime(2026, 5, 20, 9, tzinfo=timezone.utc)
STEPS = ["read", "just gen", "edit", "pytest"]
COMMANDS = {"just gen": "just gen", "pytest": "PYTHONPATH=lib pytest"}


def task(number: int, done: bool | None = True, days: float = 1.0, **more: object) -> Task:
    """A fix of a day ago, in a session of its own."""
    at = (NOW - timedelta(days=days)).isoformat()
    made = {
        "key": f"k{number}", "at": at, "kind": "fix", "done": done, "sure": True, "session": f"s{number}",
        "stages": STEPS, "commands": COMMANDS, "jobs": ["just gen", "pytest"], "terms": ["parser"], **more,
    }  # fmt: skip
    return Task(**made)  # type: ignore[arg-type]


def test_what_worked_three_times_is_a_trail() -> None:
    """The longest sequence stands for the shorter ones, with this project's own commands."""
    (one,) = trails.find([task(n) for n in (1, 2, 3)], NOW)
    assert one.steps == ("just gen", "edit", "pytest")
    assert one.path == "`just gen` → edit → `PYTHONPATH=lib pytest`"
    assert (one.n, one.won, one.sessions, one.last) == (3, 3, 3, "2026-05-19")
    assert one.strength == pytest.approx(3 * 0.97, abs=0.01)
    assert "100 % of 3 tasks (3 sessions, last 2026-05-19)" in trails.advice(one)


@pytest.mark.parametrize(
    "known",
    [
        [task(1), task(2)],
        [task(n, session="s1") for n in (1, 2, 3)],
        [task(n, sure=False) for n in (1, 2, 3)],
        [task(n, done=None) for n in (1, 2, 3)],
        [task(n, done=n < 4) for n in range(1, 7)],
        [task(n, commands={"just gen": "make", "pytest": "pytest"}) for n in (1, 2, 3)],
        [task(n, stages=["read", "edit"], jobs=[]) for n in (1, 2, 3)],
        [task(n, days=90) for n in (1, 2, 3)],
    ],
    ids=["two", "one session", "unsure", "unknown", "half failed", "obvious", "no job", "long ago"],
)
def test_without_evidence_there_is_none(known: list[Task]) -> None:
    """Three successes in two sessions, confirmed, mostly won, not obvious, not evaporated."""
    assert trails.find(known, NOW) == []


def test_failures_weaken_it() -> None:
    """Each failure takes what a success adds."""
    (strong,) = trails.find([task(n) for n in range(1, 9)], NOW)
    (weak,) = trails.find([*[task(n) for n in range(1, 9)], task(9, done=False)], NOW)
    assert weak.strength < strong.strength
    assert (weak.n, weak.won) == (9, 8)


def test_it_evaporates() -> None:
    """Half of it is gone after three weeks; it is silent under the floor."""
    (one,) = trails.find([task(n) for n in (1, 2, 3)], NOW)
    later = NOW + timedelta(days=23)
    assert one.strength_at(later) == pytest.approx(one.strength / 2, rel=0.02)
    assert trails.fitting([one], "fix", ["parser"], later) is one
    assert trails.fitting([one], "fix", ["parser"], NOW + timedelta(days=60)) is None
    assert one.strength_at(NOW - timedelta(days=3)) == one.strength


def test_it_is_for_its_like() -> None:
    """A trail of the kind at large is for all of it, one of a few tasks for those of its topic."""
    (one,) = trails.find([task(n) for n in (1, 2, 3)], NOW)
    assert trails.fitting([one], "fix", [], NOW) is one
    assert trails.fitting([one], "docs", ["parser"], NOW) is None
    others = [task(n, stages=["edit"], jobs=[], commands={}, terms=["logo"]) for n in range(4, 10)]
    (few,) = trails.find([*[task(n) for n in (1, 2, 3)], *others], NOW)
    assert not few.is_general
    assert trails.fitting([few], "fix", ["logo"], NOW) is None
    assert trails.fitting([few], "fix", ["parser"], NOW) is few


def test_the_usual_command_is_told() -> None:
    """The one that was run most, the later of equals."""
    known = [task(n) for n in (1, 2, 3)] + [
        task(4, commands={"just gen": "just gen", "pytest": "uv run pytest"})
    ]
    (one,) = trails.find(known, NOW)
    assert one.commands == ("just gen", "PYTHONPATH=lib pytest")


def test_there_are_never_too_many() -> None:
    """Many kinds of steps leave the strongest trails only."""
    known = [
        task(100 * k + n, stages=["edit", f"just t{k}"], jobs=[f"just t{k}"], commands={f"just t{k}": f"just t{k}"})
        for k in range(30)
        for n in range(3)
    ]  # fmt: skip
    assert len(trails.find(known, NOW)) == trails.PER_KIND
