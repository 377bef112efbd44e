"""`temporal_planner`: what has to be done before what, how long it takes by what like tasks took, and whether it
can be ready in time. A plan is a record of its project; nothing in it binds anybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta

from vector_memory import redact
from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.model import HEURISTICS, Memory, Temporal
from vector_memory.observe.learning.outcomes import Task
from vector_memory.service.base import messages
from vector_memory.service.base.asker import ProjectAsker
from vector_memory.service.base.context import Context
from vector_memory.service.learning import counted_records
from vector_memory.service.learning.counted_records import Record
from vector_memory.service.think import ledger
from vector_memory.service.think.figures import LEAST, middle
from vector_memory.system.json_in import Record as Raw

ACTIONS = ("add", "list", "critical_path", "done", "remove")
PLAN = "plan"
MOST_TASKS = 100


@dataclass(frozen=True, kw_only=True)
class PlanRequest(messages.Request):
    """A plan is looked at or changed.

    Attributes:
        action: one of `ACTIONS`; `list` gives the order.
        plan: its name, where a project has several.
        task: what is to be done, by which it is named.
        after: the tasks that have to be done before.
        estimate: in minutes, 0 to take it from like tasks.
        due: until when it has to be ready.
    """

    action: str = messages.word(default="list")
    plan: str = messages.word(default="main")
    task: str = messages.maybe_text(200)
    after: tuple[str, ...] = messages.words()
    estimate: int = messages.number(0, 0, 100_000)
    due: datetime | None = messages.moment()
    dry_run: bool = messages.flag(default=True)


@dataclass(frozen=True)
class Item:
    """A task of a plan, as it is kept: `due` in ISO form, "" for none."""

    task: str
    after: tuple[str, ...] = ()
    estimate: int = 0
    due: str = ""
    done: bool = False


@dataclass(frozen=True)
class PlannedTask:
    """A task in its place.

    Attributes:
        minutes: how long it takes; None where nothing says, and `by` says what it stands on.
        start, end: the earliest, in minutes from now, if nothing else is done meanwhile.
        slack: minutes that it may be late before the whole is.
        late: its deadline cannot be kept, even without a pause.
    """

    task: str
    after: list[str]
    minutes: float | None
    by: str
    start: float
    end: float
    slack: float
    critical: bool
    done: bool
    due: str
    late: bool


@dataclass(frozen=True)
class PlanAnswer:
    """A plan: its tasks in an order in which they can be done, the longest chain of what is left, how long that
    takes, and the project's deadlines that memory knows."""

    told: str
    tasks: list[PlannedTask]
    critical_path: list[str]
    minutes: float
    deadlines: list[str]
    dry_run: bool | None = messages.spare()


def planner(ctx: Context, request: PlanRequest) -> PlanAnswer:
    """Return a plan, changed where that is asked for and not only tried.

    Raises:
        BadInputError: the action is unknown, a task is missing, or tasks would wait for each other.
        NotFoundError: there is no such task.
    """
    ledger.require(request.action, ACTIONS)
    asker, key = ledger.project_of(ctx, request), f"{PLAN}:{redact.clean(request.plan).text}"
    items = _items(asker, key)
    changes = request.action in ("add", "done", "remove")
    if changes:
        items = _changed(request, items)
        ordered(items)
        if not request.dry_run:
            extra = {"items": [asdict(one) for one in items]}
            text = "A plan: " + "; ".join(one.task for one in items)
            counted_records.keep(ctx, asker, Record(HEURISTICS, key, text, kind=PLAN, extra=extra))
            ctx.audit("plan", request.actor, [], change=request.action)
    tasks = _planned(items, ledger.tasks_of(asker), ctx.now())
    chain = [one.task for one in tasks if one.critical and not one.done]
    whole = max((one.end for one in tasks), default=0.0)
    if request.action == "critical_path":
        tasks = [one for one in tasks if one.critical and not one.done]
    return PlanAnswer(
        _told(tasks, whole),
        tasks,
        chain,
        whole,
        _deadlines(asker, ctx.now()),
        request.dry_run if changes else None,
    )


def _items(asker: ProjectAsker, key: str) -> list[Item]:
    known = counted_records.get(asker, HEURISTICS, key)
    return items_of(known) if known else []


def items_of(record: Memory) -> list[Item]:
    """Return the tasks of a plan as it is kept."""
    raw = Raw(record.extra).parts("items")
    return [
        Item(
            one.text("task"), tuple(one.words("after")), int(one.number("estimate")),
            one.text("due"), one.get("done") is True,
        )
        for one in raw
    ]  # fmt: skip


def _changed(request: PlanRequest, items: Sequence[Item]) -> list[Item]:
    task = str(redact.clean(request.task).text)
    if not task:
        raise BadInputError("task is missing.", "Say what is to be done.")
    known = {one.task: one for one in items}
    if request.action == "add":
        after = tuple(str(redact.clean(one).text) for one in request.after)
        for one in after:
            _require(known, one)
        due = request.due.isoformat() if request.due else ""
        known[task] = Item(task, after, request.estimate, due)
        if len(known) > MOST_TASKS:
            raise BadInputError(f"A plan has {MOST_TASKS} tasks at most.", "Begin another one.")
        return list(known.values())
    _require(known, task)
    if request.action == "done":
        return [replace(one, done=True) if one.task == task else one for one in items]
    return [
        replace(one, after=tuple(name for name in one.after if name != task))
        for one in items
        if one.task != task
    ]


def _require(known: dict[str, Item], task: str) -> None:
    if task not in known:
        raise NotFoundError(f"There is no task {task!r} in this plan.", "`action=list` shows all.")


def ordered(items: Sequence[Item]) -> list[Item]:
    """Return tasks so that each comes after those it waits for.

    Raises:
        BadInputError: some wait for each other; it names them.
    """
    left, found = list(items), list[Item]()
    while left:
        placed = {one.task for one in found}
        ready = [one for one in left if placed.issuperset(one.after)]
        if not ready:
            names = ", ".join(one.task for one in left)
            raise BadInputError(
                f"These tasks wait for each other: {names}.", "Take one `after` out."
            )
        found += ready
        left = [one for one in left if one not in ready]
    return found


def _planned(items: Sequence[Item], known: Sequence[Task], now: datetime) -> list[PlannedTask]:
    """Return tasks with the earliest times and the slack of each.

    Source: J. E. Kelley, M. R. Walker, "Critical-Path Planning and Scheduling", EJCC 1959.
    """
    inorder = ordered(items)
    took = {one.task: _minutes(one, known) for one in inorder}
    lasts = {one.task: 0.0 if one.done else took[one.task][0] or 0.0 for one in inorder}
    ends: dict[str, float] = {}
    for one in inorder:
        ends[one.task] = max((ends[name] for name in one.after), default=0.0) + lasts[one.task]
    whole = max(ends.values(), default=0.0)
    latest: dict[str, float] = dict.fromkeys(ends, whole)
    for one in reversed(inorder):
        for name in one.after:
            latest[name] = min(latest[name], latest[one.task] - lasts[one.task])
    found = []
    for one in inorder:
        end, slack = ends[one.task], round(latest[one.task] - ends[one.task], 1)
        due = datetime.fromisoformat(one.due) if one.due else None
        late = due is not None and not one.done and now + timedelta(minutes=end) > due
        found.append(
            PlannedTask(
                one.task, list(one.after), *took[one.task], round(end - lasts[one.task], 1),
                round(end, 1), slack, slack <= 0, one.done, one.due[:16], late,
            )
        )  # fmt: skip
    return found


def _minutes(item: Item, known: Sequence[Task]) -> tuple[float | None, str]:
    """Return how long a task takes, and on what that stands."""
    if item.estimate:
        return float(item.estimate), "estimated by hand"
    near = [task for _, task in ledger.like(known, item.task)]
    kind = ledger.kind_for(item.task, "")
    mine = [one for one in known if one.kind == kind]
    for group, name in ((near, "like tasks"), (mine, f"tasks of kind {kind}")):
        if len(group) >= LEAST:
            took = middle([one.minutes for one in group])
            return took.median, f"median of {took.n} {name} ({took.low:g}-{took.high:g} min)"
    return None, f"no estimate: {max(len(near), len(mine))} like tasks, {LEAST} are needed"


def _told(tasks: Sequence[PlannedTask], whole: float) -> str:
    left = [one for one in tasks if not one.done]
    unknown = sum(one.minutes is None for one in left)
    told = f"{len(left)} {'task' if len(left) == 1 else 'tasks'} left"
    told += f"; {whole:g} min at least, one after the other where they wait." if whole else "."
    late = [one.task for one in left if one.late]
    told += f" Of {unknown} nothing says how long they take." if unknown else ""
    return told + (f" Cannot be ready in time: {', '.join(late)}." if late else "")


def _deadlines(asker: ProjectAsker, now: datetime) -> list[str]:
    """Return the deadlines of the project that are still to come, the nearest first."""
    found = [
        (one.valid_until, one.text.split("\n", 1)[0][:120])
        for shelf in asker.shelves
        for one in shelf.journal.dated(asker.scope)
        if one.temporal is Temporal.DEADLINE and one.valid_until and one.valid_until > now
    ]
    return [f"{until:%Y-%m-%d}: {text}" for until, text in sorted(found)[:10]]
