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
        "steps": STEPS, "commands": COMMANDS, "jobs": ["just gen", "pytest"], "terms": ["parser"], **more,
    }  # fmt: skip
    return Task(**made)  # type: ignore[arg-type]


def test_what_worked_three_times_is_a_trail() -> None:
    """With this project's own commands, for the kind and for changes of any kind."""
    any_kind, one = trails.find([task(n) for n in (1, 2, 3)], NOW)
    assert one.steps == ["just gen", "edit", "PYTHONPATH=lib pytest"]
    assert (one.n, one.won, one.sessions, one.last) == (3, 3, 3, "2026-05-19")
    assert one.strength == pytest.approx(3 * 0.97, abs=0.01)
    assert one.text == (
        "For fixes here these steps worked in 100 % of 3 tasks (3 sessions, last 2026-05-19): "
        "`just gen` → edit → `PYTHONPATH=lib pytest`"
    )
    assert (any_kind.kind, any_kind.steps) == (trails.ANY, one.steps)


@pytest.mark.parametrize(
    "known",
    [
        [task(1), task(2)],
        [task(n, session="s1") for n in (1, 2, 3)],
        [task(n, sure=False) for n in (1, 2, 3)],
        [task(n, done=None) for n in (1, 2, 3)],
        [task(n, done=n < 4) for n in range(1, 7)],
        [task(n, commands={"just gen": "make -j", "pytest": "pytest -q"}) for n in (1, 2, 3)],
        [task(n, steps=["read", "edit"], jobs=[]) for n in (1, 2, 3)],
        [task(n, steps=["edit", "git push"], jobs=["git push"]) for n in (1, 2, 3)],
        [task(n, days=90) for n in (1, 2, 3)],
    ],
    ids=["two", "one session", "unsure", "unknown", "half failed", "obvious", "no job", "of the moment", "long ago"],
)  # fmt: skip
def test_without_evidence_there_is_none(known: list[Task]) -> None:
    """Three successes in two sessions, confirmed, mostly won, not obvious, not evaporated."""
    assert trails.find(known, NOW) == []


def test_failures_weaken_it() -> None:
    """Each failure takes what a success adds."""
    strong = trails.find([task(n) for n in range(1, 9)], NOW)[0]
    weak = trails.find([*[task(n) for n in range(1, 9)], task(9, done=False)], NOW)[0]
    assert weak.strength < strong.strength
    assert (weak.n, weak.won) == (9, 8)


def test_it_evaporates() -> None:
    """Half of it is gone after three weeks; it is silent under the floor."""
    one = trails.find([task(n) for n in (1, 2, 3)], NOW)[1]
    later = NOW + timedelta(days=23)
    assert one.strength_at(later) == pytest.approx(one.strength / 2, rel=0.02)
    assert one.strength_at(NOW + timedelta(days=60)) < trails.FLOOR < one.strength_at(later)
    assert one.strength_at(NOW - timedelta(days=3)) == one.strength


def test_a_trail_is_what_most_take() -> None:
    """A step of a few tasks is none of the kind's; tasks that ran nothing say nothing."""
    few = [
        task(n, steps=[*STEPS, "just ship"], jobs=["just gen", "pytest", "just ship"])
        for n in (1, 2, 3)
    ]
    talk = [task(n, steps=["edit"], jobs=[], commands={}) for n in range(20, 40)]
    one = trails.find([*few, *talk, *[task(n) for n in range(4, 11)]], NOW)[0]
    assert (one.steps, one.n) == (["just gen", "edit", "PYTHONPATH=lib pytest"], 10)


def test_what_is_of_one_task_is_left_out_of_a_command() -> None:
    """Files, messages and what is selected differ from task to task; an option goes with its value. Steps
    that are called alike are one."""
    lines = (
        "uv run pytest a.py -k first --cov",
        "uv run pytest b.py -k other --cov",
        "uv run pytest c.py --cov",
    )
    known = [
        task(n, commands={"just gen": "uv run pytest --cov", "pytest": line})
        for n, line in enumerate(lines)
    ]  # fmt: skip
    assert trails.find(known, NOW)[0].steps == ["uv run pytest --cov", "edit"]


def test_a_program_without_what_it_does_is_no_step() -> None:
    """Neither "`west`" nor a trail of nothing else; an option that differs leaves the program as it is, and where more
    than the program is the same, a file does."""
    some = {"just gen": "just gen"}
    for lines in (
        ("west build -b one", "west flash", "west twister -T tests"),
        ("./gradlew :app:lint", "./gradlew assembleDebug", "./gradlew testDebugUnitTest"),
        ("./gradlew.bat lint", "./gradlew.bat assembleDebug", "./gradlew.bat test"),
        ("/usr/bin/make docs", "/usr/bin/make lint", "/usr/bin/make all"),
        (r"C:\tools\make.exe docs", r"C:\tools\make.exe lint", r"C:\tools\make.exe all"),
        ("~/bin/west build", "~/bin/west flash", "~/bin/west test"),
        ("godot --path . --script a.gd", "godot --path . b.tscn", "godot --path . c.tscn"),
    ):
        known = [task(n, commands={**some, "pytest": line}) for n, line in enumerate(lines)]
        assert trails.find(known, NOW)[0].steps == ["just gen", "edit"]
        alone = [
            task(n, jobs=["pytest"], commands={"pytest": line}) for n, line in enumerate(lines)
        ]
        assert trails.find(alone, NOW) == []
    for lines, head in (
        (("tox -e a", "tox -e b", "tox"), "tox"),
        (("./deploy.sh staging", "./deploy.sh prod", "./deploy.sh prod -v"), "./deploy.sh"),
        (
            (r"tools\deploy.bat staging", r"tools\deploy.bat prod", r"tools\deploy.bat prod -v"),
            r"tools\deploy.bat",
        ),
        (("uv run pytest a.py", "uv run pytest b.py", "uv run pytest c.py"), "uv run pytest"),
    ):
        known = [task(n, commands={**some, "pytest": line}) for n, line in enumerate(lines)]
        assert trails.find(known, NOW)[0].steps[2] == head


def test_the_folder_of_a_command_belongs_to_it() -> None:
    """From another folder it would be another command."""
    within = [task(n, commands={"pytest": "cd e2e && pytest -x"}) for n in (1, 2, 3)]
    assert "cd e2e && pytest -x" in trails.find(within, NOW)[0].steps


def test_the_newest_way_of_calling_counts() -> None:
    """A word that nearly all have stays, one that came once does not."""
    known = [task(n) for n in (1, 2, 3, 5)]
    known.insert(3, task(4, commands={"just gen": "just gen", "pytest": "uv run pytest"}))
    assert trails.find(known, NOW)[0].steps[2] == "PYTHONPATH=lib pytest"
