"""What was learned, read back from the records that hold it; anything else in them counts as nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from vector_memory.model import HEURISTICS, TRAJECTORIES, Memory, Scope, Status
from vector_memory.observe.learning import outcomes, things, trails, trajectories, trouble
from vector_memory.service.base.asker import ProjectAsker
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.learning import counted_records

T = TypeVar("T")
LEDGER = "tasks"
"""The kind of record that all others are made of: the tasks of a session, and what was seen in it."""
BOARD = "self-assessment"
"""The key and kind of the record that says what hooks tell in a project: they read it and the records
that it names, and search for nothing."""
SUBAGENTS, ORDERS = "subagents", "orders"
"""Where a session's record keeps what its subagents did, and which kind of subagent each order went to: their
transcripts do not say it."""
UNKNOWN_AGENT = "subagent"
TRAIL, THING, TRAJECTORY = "trail", "thing", "trajectory"
MOST_LEDGERS = 2_000
DRAWN = (BOARD, TRAIL, THING)
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
        kinds: how tasks of each kind went.
        habits: troubles that came again.
        trails: ids of the steps that work.
    """

    kinds: list[outcomes.KindCount] = field(default_factory=list)
    habits: list[trouble.Habit] = field(default_factory=list)
    trails: list[str] = field(default_factory=list)

    key, text = BOARD, "How work went in this project"

    @property
    def figures(self) -> TaskFigures:
        """The figures alone."""
        return TaskFigures(*(getattr(self, one.name) for one in fields(TaskFigures)))


def board_of(memory: Memory | None) -> Board:
    """Return the board of a record, an empty one for none."""
    raw, empty = memory.extra if memory else {}, vars(Board())
    known = {name: raw[name] for name in empty if type(raw.get(name)) is type(empty[name])}
    parts = {"kinds": outcomes.KindCount, "habits": trouble.Habit}
    return Board(**known | {name: read_all(kind, known.get(name)) for name, kind in parts.items()})


def trails_of(asker: ProjectAsker, ids: Iterable[str]) -> list[trails.Trail]:
    """Return these trails, the strongest first, without those that are forgotten."""
    found = asker.own.journal.by_ids(list(ids))
    kept = (found[id].extra for id in ids if id in found and found[id].status is Status.ACTIVE)
    return read_all(trails.Trail, list(kept))


def trajectories_of(asker: ProjectAsker) -> list[trajectories.Trajectory]:
    """Return the tasks of a project that are an example, as they were captured, the newest first."""
    records = counted_records.of(asker, TRAJECTORIES, trajectories.MOST, (TRAJECTORY,))
    found = read_all(
        trajectories.Trajectory, [record.extra for record in records if record.is_quiet]
    )
    return sorted(found, key=lambda one: one.at, reverse=True)


def things_of(records: Iterable[Memory]) -> list[things.Thing]:
    """Return the things of these records."""
    return read_all(things.Thing, [record.extra for record in records])


def ledger_of(memory: Memory) -> tuple[list[outcomes.Task], list[things.Sighting]]:
    """Return the tasks of a session's record, oldest first, and what was seen in it."""
    raw = memory.extra.get("tasks")
    tasks = [outcomes.Task.from_dict(one) for one in raw or () if isinstance(one, dict)]
    # What an older version wrote has the command that showed it in the middle.
    rows = (row for row in memory.extra.get("seen", ()) if len(row) in (7, 8))
    seen = [things.Sighting(*row[:4], *row[-3:]) for row in rows]
    return [task for task in tasks if task is not None], seen


def tasks_of_all(shelf: Shelf) -> Iterator[tuple[outcomes.Task, Memory]]:
    """Yield the tasks of a store's newest sessions, each once with the record of its session: a fork holds those
    before it, too."""
    seen: set[tuple[str, str]] = set()
    scope = Scope(collections=(HEURISTICS,), kinds=(LEDGER,))
    for record in shelf.journal.iter_memories(scope, newest_first=True, limit=MOST_LEDGERS):
        for task in ledger_of(record)[0]:
            if (record.project, task.key) not in seen:
                seen.add((record.project, task.key))
                yield task, record


def each_once(tasks: Iterable[outcomes.Task]) -> list[outcomes.Task]:
    """Return tasks, oldest first, each once, as it was given last: a fork of a session holds those before it, too."""
    return sorted({task.key: task for task in tasks}.values(), key=lambda task: (task.at, task.key))


def subagents_of(memory: Memory) -> list[outcomes.Task]:
    """Return what subagents did in a session, oldest first, each with the kind of subagent that it was."""
    raw, orders = memory.extra.get(SUBAGENTS), memory.extra.get(ORDERS) or {}
    found = [outcomes.Task.from_dict(one) for one in raw or () if isinstance(one, dict)]
    return [
        replace(task, agent=str(orders.get(task.order) or UNKNOWN_AGENT))
        for task in found
        if task is not None
    ]


def read_all(kind: Callable[..., T], raw: Any) -> list[T]:
    """Return what was written as JSON, also by an older version, without anything else."""
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    made = []
    for one in raw if isinstance(raw, list) else ():
        with suppress(TypeError, AttributeError):
            made.append(kind(**{name: one[name] for name in names & one.keys()}))
    return made
