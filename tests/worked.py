"""A project in which work was done: the records of sessions' tasks, as lessons keep them."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from service_house import ServiceHouse

from vector_memory.observe.learning.outcomes import Task, Trouble
from vector_memory.observe.learning.world import Sighting
from vector_memory.service.base.asker import ProjectAsker, asker_in
from vector_memory.service.learning import learned_records, lessons

FAILED = Trouble("pytest: ledger", "ledger is locked", "pytest", "`make unlock`")


def task(at: datetime, number: int, session: str, done: bool = True, **more: object) -> Task:
    """Return a fix of the ledger in which the tests were run."""
    said: dict[str, object] = {
        "kind": "fix", "done": done, "sure": True, "minutes": 10.0 + number,
        "terms": ["ledger", "rounding", f"case{number}"], "steps": ["edit", "pytest"],
        "commands": {"pytest": "pytest tests/ledger"}, "jobs": ["pytest"],
        "trouble": [] if done else [FAILED], "session": session, **more,
    }  # fmt: skip
    return Task(f"{session}-{number}", (at + timedelta(minutes=number)).isoformat(), **said)  # type: ignore[arg-type]


def keep(
    house: ServiceHouse, folder: Path, session: str, tasks: list[Task], seen: list[Sighting]
) -> ProjectAsker:
    """Keep a session's record, and draw what is made of it; return who asks in the project."""
    asker = asker_in(house.ctx, house.ctx.place(str(folder)))
    ledger = learned_records.SessionLedger(tasks, seen)
    ledger.keep(house.ctx, asker, f"session:{session}", session)
    lessons.redraw_records(house.ctx, asker)
    return asker


def work(house: ServiceHouse, folder: Path) -> ProjectAsker:
    """Fill a project with two sessions of six fixes, one of them not done; return who asks in it."""
    now, passed = house.time, "pytest tests/ledger"
    for name, days in (("s1", 9), ("s2", 1)):
        at = now - timedelta(days=days)
        tasks = [task(at, number, name, done=number < 3 or name == "s1") for number in range(1, 4)]
        seen = [
            Sighting("command", passed, "ok" if one.done else "fails", "", one.key, one.at, 2.0)
            for one in tasks
        ]
        asker = keep(house, folder, name, tasks, seen)
    return asker
