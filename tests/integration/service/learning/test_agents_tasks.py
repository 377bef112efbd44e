"""Who did the work: subagents, models and skills in the task ledger, and what is said of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, captured_of, door, hook_question
from work import Session

from vector_memory.errors import BadInputError
from vector_memory.service.inject.prompt_recall import session_before
from vector_memory.service.learning import lessons

ORDER = "Fix the parser and run the tests until they pass"


def learned(house: ServiceHouse, *sessions: Session) -> None:
    """Learn from transcripts that have ended."""
    lessons.learn_all(house.ctx, [(str(one.path), str(one.cwd)) for one in sessions])


def asked(house: ServiceHouse, verb: str, project: Path, **more: Any) -> dict[str, Any]:
    """Return what a verb says of a project."""
    return door(house.ctx, verb, {"project": str(project), "cwd": str(project), **more})


def worked(folder: Path, app: Path, name: str, model: str, good: bool, skill: str = "") -> Session:
    """Return a session that fixed something, and whose tests say how well."""
    session = Session(folder, name, app, model=model).ask("Fix the crash of the parser")
    if skill:
        session.call("Skill", {"skill": skill}, "ok")
    return session.edit("parser.py").run("pytest", "3 passed" if good else "1 failed", not good)


def test_a_subagents_work_is_its_own(house: ServiceHouse, tmp_path: Path, app: Path) -> None:
    """Its kind stands in the call alone, its tasks count beside those of the session and once only, and
    what is told of the session stays as it is."""
    main = Session(tmp_path, "s1", app, model="large").ask("Fix the crash of the parser")
    main.call("Task", {"subagent_type": "mender", "prompt": ORDER}, "It is mended.")
    main.run("pytest", "3 passed")
    sub = Session(tmp_path, "s1", app, main.at, model="small", agent="a1").ask(ORDER)
    sub.edit("parser.py").run("pytest", "1 failed", failed=True)
    learned(house, sub, main)
    learned(house, sub)
    told = asked(house, "task_specialization", app)
    found = {
        (one["agent"], one["model"]): tuple(one["done"][name] for name in "nk")
        for one in told["candidates"]
    }
    assert found == {("main", "large"): (1, 1), ("mender", "small"): (1, 0)}
    assert asked(house, "lessons", app)["tasks"]["tasks"] == 1
    assert asked(house, "wrapup", app, session="s1")["subagents"] == 1


def test_a_session_ends_with_its_talk(house: ServiceHouse, tmp_path: Path, app: Path) -> None:
    """Read weeks later, what is counted of it is no part of it: who comes back has rested since."""
    session = worked(tmp_path, app, "s1", "large", good=True).say()
    house.time = max(house.time, session.at)
    house.pass_time(days=20)
    captured_of(house.ctx, str(session.path), str(app), final=True)
    learned(house, session)
    house.follow()
    assert asked(house, "lessons", app)["tasks"]["tasks"] == 1
    span = session_before(hook_question(house.ctx, "s2", str(app)), "s2")
    assert span is not None and span[1] * 86_400 <= session.at.timestamp()


def test_who_is_worse(house: ServiceHouse, tmp_path: Path, app: Path) -> None:
    """Only what chance hardly does is said; of few nothing at all."""
    for number in range(12):
        learned(house, worked(tmp_path, app, f"good{number}", "large", good=True))
        learned(house, worked(tmp_path, app, f"bad{number}", "small", number < 1, skill="hurry"))
    learned(house, worked(tmp_path, app, "rare", "rare", good=False))
    told = asked(house, "task_specialization", app, kind="fix")
    assert told["advice"] == [
        "fix: main with large did 12 of 12 (76-100 %); beside all others: main with large went better (p < 0.001)."
    ]
    only = asked(house, "task_specialization", app, candidates=["small"])
    assert [one["model"] for one in only["candidates"]] == ["small"]
    standings = {
        one["name"]: one["verdict"] for one in asked(house, "meta_agent", app)["standings"]
    }
    assert standings == {
        "small": "worse", "hurry": "worse", "large": "better", "rare": "not enough evidence",
    }  # fmt: skip
    strict = asked(house, "meta_agent", app, least=500)
    assert strict["told"].startswith("not enough evidence")


def test_bad_questions(house: ServiceHouse, app: Path) -> None:
    """An unknown kind, too small a least; of nothing nothing is said."""
    with pytest.raises(BadInputError, match="kind cannot be"):
        asked(house, "task_specialization", app, kind="baking")
    with pytest.raises(BadInputError, match="least"):
        asked(house, "meta_agent", app, least=1)
    told = asked(house, "task_specialization", app, kind="fix")
    assert told["told"].startswith("not enough evidence") and told["advice"] == []


def test_a_wrapup_agrees_with_the_lessons(house: ServiceHouse, tmp_path: Path, app: Path) -> None:
    """Of a project's only session both count the same."""
    session = worked(tmp_path, app, "s1", "large", good=True)
    door(house.ctx, "backfill", {"paths": [str(session.path)], "cwd": "/"})
    learned(house, session)
    house.remember(
        "We keep pages in SQLite, since readers must not wait.", app, kind="decision", session="s1"
    )
    told, lesson = asked(house, "wrapup", app), asked(house, "lessons", app)
    assert told["session"] == "s1"
    assert told["lessons"] == lesson["tasks"]
    assert [(one["title"], one["done"], one["files"]) for one in told["done"]] == [
        ("Fix the crash of the parser", True, ["parser.py"])
    ]
    assert [one["kind"] for one in told["learned"]] == ["decision"]
    with pytest.raises(BadInputError, match="project"):
        door(house.ctx, "wrapup", {"global": True})
