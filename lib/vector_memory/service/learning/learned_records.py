"""What was learned, as records hold it: what each session did, and what is made of that; anything else in them
counts as nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime
from typing import Any, TypeVar

from vector_memory.model import HEURISTICS, LIVING, TRAILS, TRAJECTORIES, WORLD, Memory, Scope
from vector_memory.observe.learning import outcomes, trails, trajectories, trouble, world
from vector_memory.redact import levels
from vector_memory.service.base.asker import ProjectAsker
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.learning import counted_records
from vector_memory.service.learning.counted_records import CountedRecord

T = TypeVar("T")
LEDGER = "tasks"
"""The kind of record that all others are made of: the tasks of a session, and what was seen in it."""
BOARD = "self-assessment"
"""The key and kind of the record that says what hooks tell in a project."""
UNKNOWN_AGENT = "subagent"
TRAIL, THING, TRAJECTORY = "trail", "thing", "trajectory"
PER_SESSION, MOST_SEEN, MOST_ORDERS = 60, 200, 200
MOST_LEDGERS, MOST_RECORDS = 10_000, 2_000
DRAWN = (BOARD, TRAIL, THING)
"""Kinds of records that are made anew from what is kept of sessions."""


# -- sessions --


@dataclass(frozen=True)
class SessionLedger:
    """What is kept of a session, or of what agents reported.

    Attributes:
        tasks: its own, oldest first.
        seen: in what state commands and the like were seen in it.
        subagents: what its subagents did, oldest first.
        orders: to which kind of subagent each order went: their transcripts do not say it.
    """

    tasks: list[outcomes.Task] = field(default_factory=list)
    seen: list[world.Sighting] = field(default_factory=list)
    subagents: list[outcomes.Task] = field(default_factory=list)
    orders: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, memory: Memory | None) -> SessionLedger:
        """Return what a record holds, also one of an older version; nothing of none."""
        raw = memory.extra if memory else {}
        # What an older version wrote has the command that showed it in the middle.
        rows = [row for row in raw.get("seen") or () if len(row) in (7, 8)]
        seen = [world.Sighting(*row[:4], *row[-3:]) for row in rows]
        orders = {str(order): str(kind) for order, kind in (raw.get("orders") or {}).items()}
        return cls(tasks_in(raw.get("tasks")), seen, tasks_in(raw.get("subagents")), orders).open

    @property
    def open(self) -> SessionLedger:
        """It without what the rules in force here restrict: nothing is learned from that."""
        restricts = levels.restricting()
        return SessionLedger(
            [task for task in self.tasks if not restricts(vars(task))],
            [sighting for sighting in self.seen if not restricts(sighting)],
            [task for task in self.subagents if not restricts(vars(task))],
            self.orders,
        )

    @property
    def ended_at(self) -> str:
        """When its last task ended, in ISO form; "" where it has none."""
        return max((task.at for task in self.tasks), default="")

    def with_more(self, more: SessionLedger) -> SessionLedger:
        """Return it with what was read now: what was read before counts as it is now, and the oldest go."""
        return SessionLedger(
            each_once([*self.tasks, *more.tasks])[-PER_SESSION:],
            world.each_once([*self.seen, *more.seen])[-MOST_SEEN:],
            each_once([*self.subagents, *more.subagents])[-PER_SESSION:],
            dict(list({**self.orders, **more.orders}.items())[-MOST_ORDERS:]),
        )

    @property
    def by_subagents(self) -> list[outcomes.Task]:
        """What its subagents did, oldest first, each with the kind of subagent that it was."""
        return [
            replace(task, agent=self.orders.get(task.order) or UNKNOWN_AGENT)
            for task in self.subagents
        ]

    def keep(self, ctx: Context, asker: ProjectAsker, key: str, session: str = "") -> bool:
        """Keep it under a key; return whether it says anything new."""
        extra = json.loads(json.dumps(asdict(self.open)))
        text = f"Tasks of a session: {', '.join(task.kind for task in self.tasks)}"
        record = CountedRecord(HEURISTICS, key, text, kind=LEDGER, session=session, extra=extra)
        return counted_records.keep_new(ctx, asker, record)


def tasks_in(raw: Any) -> list[outcomes.Task]:
    """Return the tasks that were written as JSON, also by an older version, without what somebody edited."""
    tasks = []
    rows = [row for row in raw if isinstance(row, dict)] if isinstance(raw, list) else []
    # What an older version wrote calls its steps stages.
    for task in read_all(outcomes.Task, [{"steps": row.get("stages", []), **row} for row in rows]):
        with suppress(TypeError, ValueError):
            datetime.fromisoformat(task.at)
            trouble = [outcomes.Trouble(*map(str, parts)) for parts in task.trouble]
            tasks.append(replace(task, trouble=trouble))
    return tasks


def ledger_of(asker: ProjectAsker, session: str) -> SessionLedger:
    """Return what is kept of a session, nothing of one that is not known."""
    return SessionLedger.of(counted_records.get(asker, HEURISTICS, f"session:{session}"))


def ledgers(
    shelves: Iterable[Shelf], projects: tuple[str, ...] | None = None
) -> Iterator[tuple[Memory, SessionLedger]]:
    """Yield the records of sessions, of each store the newest first, with what they hold; by default of all projects."""
    scope = Scope(projects=projects, collections=(HEURISTICS,), kinds=(LEDGER,))
    for shelf in shelves:
        for record in shelf.journal.iter_memories(scope, newest_first=True, limit=MOST_LEDGERS):
            yield record, SessionLedger.of(record)


def tasks_of_all(shelves: Iterable[Shelf]) -> Iterator[tuple[outcomes.Task, Memory]]:
    """Yield the tasks of the newest sessions of all projects, each once with the record of its session: a fork holds those
    before it, too."""
    yielded: set[tuple[str, str]] = set()
    for record, ledger in ledgers(shelves):
        for task in ledger.tasks:
            if (record.project, task.key) not in yielded:
                yielded.add((record.project, task.key))
                yield task, record


def each_once(tasks: Iterable[outcomes.Task]) -> list[outcomes.Task]:
    """Return tasks, oldest first, each once, as it was given last: a fork of a session holds those before it, too."""
    return sorted({task.key: task for task in tasks}.values(), key=lambda task: (task.at, task.key))


def tasks_of_shown(
    ctx: Context, tasks: Iterable[outcomes.Task]
) -> Iterator[tuple[str, outcomes.Task]]:
    """Yield the ids of what sessions were shown, each with the task in which it was shown, where a check or the
    user says how that ended. Being there when a task went well is no proof of having helped.

    Args:
        tasks: what sessions did themselves, the oldest first.
    """
    by_session: dict[str, list[outcomes.Task]] = {}
    for task in tasks:
        by_session.setdefault(task.session, []).append(task)
    for session, session_tasks in by_session.items():
        for id, at in ctx.state.shown_at(session).items():
            next_task = next((task for task in session_tasks if task.ended_at >= at), None)
            if next_task is not None and next_task.is_judged:
                yield id, next_task


def records_of(
    shelf: Shelf, sessions: Collection[str], projects: tuple[str, ...]
) -> Iterator[Memory]:
    """Yield the records of these sessions in a store, and what was drawn of all sessions of these projects."""
    scopes = (
        Scope(sessions=tuple(sessions), collections=(HEURISTICS, WORLD)),
        Scope(projects=projects, collections=(HEURISTICS, TRAILS, WORLD), kinds=DRAWN),
        Scope(projects=projects, collections=(TRAJECTORIES,), kinds=(TRAJECTORY,)),
    )
    for scope in scopes:
        for memory in shelf.journal.iter_memories(scope, statuses=LIVING):
            if memory.collection != TRAJECTORIES or memory.is_quiet:
                yield memory


# -- what is made of them --


@dataclass(frozen=True)
class Board:
    """What starts are told of a project: troubles that came again (`habits`), of so many `tasks`, the `last` of them on
    that day. `id` is the name of the record that keeps it."""

    tasks: int = 0
    last: str = ""
    id: str = ""
    habits: list[trouble.Habit] = field(default_factory=list)

    key, text = BOARD, "How work went in this project"


def board_of(asker: ProjectAsker) -> Board:
    """Return the board of a project, an empty one without an id before anything was learned there."""
    record = counted_records.get(asker, HEURISTICS, BOARD)
    (board,) = read_all(Board, [record.extra if record else {}])
    habits, restricts = read_all(trouble.Habit, board.habits), levels.restricting()
    open_habits = [habit for habit in habits if not restricts(vars(habit))]
    return replace(board, habits=open_habits)


def trails_of(asker: ProjectAsker, now: datetime) -> list[trails.Trail]:
    """Return the trails of a project that have not faded, the strongest first."""
    drawn = _read_drawn(asker, TRAILS, TRAIL, trails.Trail)
    alive = [trail for trail in drawn if trail.strength_at(now) >= trails.FLOOR]
    return sorted(alive, key=lambda trail: -trail.strength_at(now))


def trajectories_of(asker: ProjectAsker) -> list[trajectories.Trajectory]:
    """Return the tasks of a project that are an example, as they were captured, the newest first."""
    captured = _read_drawn(asker, TRAJECTORIES, TRAJECTORY, trajectories.Trajectory)
    return sorted(captured, key=lambda trajectory: trajectory.at, reverse=True)


def things_of(asker: ProjectAsker) -> list[world.Thing]:
    """Return the things of a project, the last seen first."""
    seen = _read_drawn(asker, WORLD, THING, world.Thing)
    return sorted(seen, key=lambda thing: thing.last, reverse=True)


def _read_drawn(asker: ProjectAsker, collection: str, name: str, kind: Callable[..., T]) -> list[T]:
    """Return what was drawn in a project, without what somebody stored beside it, and what is restricted by now."""
    records = counted_records.counted_records_of(asker, collection, MOST_RECORDS, (name,))
    drawn, restricts = [record.extra for record in records if record.is_quiet], levels.restricting()
    return read_all(kind, [extra for extra in drawn if not restricts(extra)])


def read_all(kind: Callable[..., T], raw: Any) -> list[T]:
    """Return what was written as JSON, also by an older version, without anything else."""
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    records = []
    for row in raw if isinstance(raw, list) else ():
        with suppress(TypeError, AttributeError):
            records.append(kind(**{name: row[name] for name in names & row.keys()}))
    return records
