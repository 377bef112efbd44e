"""What was learned, read back from the records that hold it; anything else in them counts as nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from datetime import datetime, timezone
from typing import TypeVar

from vector_memory.model import WORLD, Memory, Status
from vector_memory.observe.learning.outcomes import Habit, KindCount, Task
from vector_memory.observe.learning.things import Thing
from vector_memory.observe.learning.trails import Trail
from vector_memory.service.base.asker import ProjectAsker
from vector_memory.service.learning import counted_records

T = TypeVar("T")
LEDGER, THING = "tasks", "thing"
"""Kinds of records that all others are made of: the tasks of a session, and a thing."""
BOARD = "self-assessment"
"""The key and kind of the record that says what hooks tell in a project: they read it and the records
that it names, and search for nothing."""

KIND, TRAIL = "task-kind", "trail"
DRAWN = (BOARD, KIND, TRAIL)
"""Kinds of records that are made anew from what is kept of sessions."""


@dataclass(frozen=True)
class TaskFigures:
    """How many tasks were seen in a project, in how many sessions, from when to when (`since`, `last`: days),
    and of how many it is known that they were done, or were not."""

    tasks: int = 0
    done: int = 0
    undone: int = 0
    sessions: int = 0
    since: str = ""
    last: str = ""


@dataclass(frozen=True)
class Board(TaskFigures):
    """What hooks tell in a project.

    Attributes:
        habits: troubles that came again.
        weak: kinds of tasks that often are not done.
        odd: keys of things that are in another state than usual.
        trails: ids of the steps that work.
        edits: files that tasks changed, each with the time of its task, the oldest first.
    """

    habits: list[Habit] = field(default_factory=list)
    weak: list[KindCount] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    trails: list[str] = field(default_factory=list)
    edits: list[list[str]] = field(default_factory=list)

    @property
    def figures(self) -> TaskFigures:
        """The figures alone."""
        return TaskFigures(*(getattr(self, one.name) for one in fields(TaskFigures)))


def board_of(memory: Memory | None) -> Board:
    """Return the board of a record, an empty one for none."""
    raw, empty = memory.extra if memory else {}, vars(Board())
    known = {name: raw[name] for name in empty if type(raw.get(name)) is type(empty[name])}
    for name, kind in (("habits", Habit), ("weak", KindCount)):
        known[name] = [made for value in known.get(name, ()) if (made := _read(kind, value))]
    return Board(**known)


def kind_of(memory: Memory) -> KindCount | None:
    """Return how tasks of a kind went, by its record."""
    return _read(KindCount, memory.extra)


def _read(kind: Callable[..., T], raw: object) -> T | None:
    """Return what was written as JSON, None where it is something else."""
    try:
        return kind(**raw) if isinstance(raw, dict) else None
    except TypeError:
        return None


def thing(asker: ProjectAsker, key: str) -> Thing | None:
    """Return a thing by its key, None where it was never seen or is forgotten."""
    memory = counted_records.get(asker, WORLD, key)
    return thing_of(memory) if memory else None


def trails_of(asker: ProjectAsker, ids: Iterable[str]) -> list[tuple[str, Trail]]:
    """Return these trails with their ids, without those that are forgotten."""
    found = asker.own.journal.by_ids(list(ids)).values()
    pairs = ((one.id, _trail_of(one)) for one in found if one.status is Status.ACTIVE)
    return [(id, one) for id, one in pairs if one is not None]


def tasks_of(memory: Memory) -> list[Task]:
    """Return the tasks of a session's record, oldest first."""
    raw = memory.extra.get("tasks")
    made = (
        (Task.from_dict(one) for one in raw if isinstance(one, dict))
        if isinstance(raw, list)
        else ()
    )
    return [one for one in made if one is not None]


def thing_of(memory: Memory) -> Thing | None:
    """Return the thing of a record, None for one that is forgotten."""
    return Thing.from_dict(memory.extra) if memory.status is Status.ACTIVE else None


def extra_of(one: Trail) -> dict[str, object]:
    """Return a trail as plain JSON values."""
    return {**one.__dict__, "steps": list(one.steps), "commands": list(one.commands),
            "terms": list(one.terms), "at": one.at.isoformat()}  # fmt: skip


def _trail_of(memory: Memory) -> Trail | None:
    raw = memory.extra
    try:
        return Trail(
            **{
                **raw,
                "steps": tuple(map(str, raw["steps"])),
                "commands": tuple(map(str, raw["commands"])),
                "terms": tuple(map(str, raw["terms"])),
                "at": datetime.fromisoformat(raw["at"]).astimezone(timezone.utc),
            }
        )
    except (KeyError, TypeError, ValueError):
        return None
