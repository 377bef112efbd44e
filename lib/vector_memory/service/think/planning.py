"""`temporal_planner`, `self_assess` and `predictive_preload`: what has to be done before what, how long it takes by what like tasks
took, and whether it can be ready in time. And what tasks like a described one say of it: how they went and what helped or
hindered them; which memories their sessions used, with how often that would have been foretold. A plan is a record of its
project; nothing in it binds anybody, and none of this is put before the model by itself."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from graphlib import CycleError, TopologicalSorter

from vector_memory import aging, redact
from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.model import HEURISTICS, Memory
from vector_memory.observe.learning import trails
from vector_memory.observe.learning.figures import LEAST, NOT_ENOUGH, Median, Rate, median_of, rate
from vector_memory.observe.learning.outcomes import Task
from vector_memory.observe.learning.tasks import kind_of
from vector_memory.redact import levels
from vector_memory.service.base import messages, reach
from vector_memory.service.base.asker import ProjectAsker
from vector_memory.service.base.context import Context
from vector_memory.service.learning import counted_records, learned_records
from vector_memory.service.learning.counted_records import CountedRecord
from vector_memory.service.memory.ageing_wishes import due_at
from vector_memory.service.think import ledger
from vector_memory.text import days

# -- a plan (`temporal_planner`) --


PLAN = "plan"
MOST_TASKS, MOST_DEADLINES = 100, 10
CHANGES = ("add", "done", "remove")


class PlanRequest(ledger.WorkRequest):
    """A plan is looked at or changed.

    Attributes:
        action: `list` gives the order.
        plan: its name, where a project has several.
        task: what is to be done, by which it is named.
        after: the tasks that have to be done before.
        estimate: in minutes, 0 to take it from like tasks.
        due: until when it has to be ready.
    """

    action: str = messages.one_of((*CHANGES, "list", "critical_path"), "list")
    plan: str = messages.word(default="main")
    task: str = messages.maybe_text(200)
    after: tuple[str, ...] = messages.words()
    estimate: int = messages.number(0, 0, 100_000)
    due: str = messages.word()


@dataclass(frozen=True)
class PlanItem:
    """A task of a plan, as it is kept: `due` in ISO form, "" for none."""

    task: str
    after: tuple[str, ...] = ()
    estimate: int = 0
    due: str = ""
    done: bool = False


@dataclass(frozen=True)
class PlannedTask(PlanItem):
    """A task in its place.

    Attributes:
        due: the day by whose end it has to be ready, "" for none.
        minutes: how long it takes; None where nothing says, and `by` says what it stands on.
        start, end: the earliest, in minutes from now, if nothing else is done meanwhile.
        slack: minutes that it may be late before the whole plan is.
        late: its deadline cannot be kept, even without a pause.
    """

    minutes: float | None = None
    by: str = ""
    start: float = 0.0
    end: float = 0.0
    slack: float = 0.0
    late: bool = False

    @property
    def is_critical(self) -> bool:
        """Whether the whole plan is late when this task is."""
        return self.slack <= 0 and not self.done


def plan(ctx: Context, request: PlanRequest) -> ledger.Answer:
    """Return a plan, changed where that is asked for and not only tried.

    Raises:
        BadInputError: the action is unknown, a task is missing, or tasks would wait for each other.
        NotFoundError: there is no such task.

    Returns:
        The `tasks` in an order in which they can be done; the longest chain of what is left (`critical_path`) and how
        many `minutes` it takes; and the project's `deadlines` that memory knows.
    """
    asker, key = ledger.project_of(ctx, request), f"{PLAN}:{redact.clean(request.plan).text}"
    record = counted_records.get(asker, HEURISTICS, key)
    if record and not reach.holds(record):
        raise BadInputError(
            "You may not be given this plan.", "Take another name, or ask the user."
        )
    items, is_change = items_of(record) if record else [], request.action in CHANGES
    if is_change:
        items = _change_items(ctx, request, items)
        if not request.dry_run:
            in_order(items)
            extra = {"items": [asdict(item) for item in items]}
            text = "A plan: " + "; ".join(item.task for item in items)
            counted_records.keep(
                ctx, asker, CountedRecord(HEURISTICS, key, text, kind=PLAN, extra=extra)
            )
            ctx.audit("plan", request.actor, [], change=request.action)
    tasks = _schedule(items, ledger.tasks_of(asker), ctx.now())
    critical = [task for task in tasks if task.is_critical]
    total_minutes = max((task.end for task in tasks), default=0.0)
    return ledger.answer(
        ctx,
        _summary(tasks, total_minutes),
        tasks=critical if request.action == "critical_path" else tasks,
        critical_path=[task.task for task in critical],
        minutes=total_minutes,
        deadlines=_deadlines(asker, ctx.now()),
        dry_run=request.dry_run if is_change else None,
    )


def items_of(record: Memory) -> list[PlanItem]:
    """Return the tasks of a plan as it is kept."""
    return learned_records.read_all(PlanItem, record.extra.get("items"))


def _change_items(ctx: Context, request: PlanRequest, items: Sequence[PlanItem]) -> list[PlanItem]:
    task, *after = (str(redact.clean(name).text) for name in (request.task, *request.after))
    if not task:
        raise BadInputError("task is missing.", "Say what is to be done.")
    if request.is_agent and levels.restricting()([task, *after]):
        # It could not be given its own plan from then on.
        raise BadInputError("What these words name is restricted here.", "Call the task otherwise.")
    by_name = {item.task: item for item in items}
    for needed in after if request.action == "add" else (task,):
        if needed not in by_name:
            raise NotFoundError(
                f"There is no task {needed!r} in this plan.", "`action=list` shows all."
            )
    if request.action == "add":
        due = due_at(ctx, request.due)
        until = due.isoformat() if due else ""
        by_name[task] = PlanItem(task, tuple(after), request.estimate, until)
        if len(by_name) > MOST_TASKS:
            raise BadInputError(f"A plan has {MOST_TASKS} tasks at most.", "Begin another one.")
    elif request.action == "done":
        by_name[task] = replace(by_name[task], done=True)
    else:
        del by_name[task]
    for name, item in by_name.items():
        after = [earlier for earlier in item.after if earlier in by_name]
        by_name[name] = replace(item, after=tuple(after))
    return list(by_name.values())


def in_order(items: Sequence[PlanItem]) -> list[PlanItem]:
    """Return tasks so that each comes after those it waits for.

    Raises:
        BadInputError: some wait for each other; it names them.
    """
    by_name = {item.task: item for item in items}
    try:
        names = list(TopologicalSorter({item.task: item.after for item in items}).static_order())
    except CycleError as error:
        waiting = ", ".join(sorted(set(error.args[1])))
        raise BadInputError(
            f"These tasks wait for each other: {waiting}.", "Take one `after` out."
        ) from None
    return [by_name[name] for name in names if name in by_name]


def _schedule(items: Sequence[PlanItem], tasks: Sequence[Task], now: datetime) -> list[PlannedTask]:
    """Return tasks with the earliest times and the slack of each.

    Source: J. E. Kelley, M. R. Walker, "Critical-Path Planning and Scheduling", EJCC 1959.
    """
    ordered_items = in_order(items)
    estimates = {item.task: _estimate(item, tasks) for item in ordered_items}
    durations = {
        item.task: 0.0 if item.done else estimates[item.task][0] or 0.0 for item in ordered_items
    }
    ends: dict[str, float] = {}
    for item in ordered_items:
        ends[item.task] = (
            max((ends[name] for name in item.after), default=0.0) + durations[item.task]
        )
    total = max(ends.values(), default=0.0)
    latest: dict[str, float] = dict.fromkeys(ends, total)
    for item in reversed(ordered_items):
        for name in item.after:
            latest[name] = min(latest[name], latest[item.task] - durations[item.task])
    planned = []
    for item in ordered_items:
        (minutes, by), end = estimates[item.task], ends[item.task]
        due = datetime.fromisoformat(item.due) if item.due else None
        late = due is not None and not item.done and now + timedelta(minutes=end) > due
        times = (end - durations[item.task], end, latest[item.task] - end)
        start, end, slack = (round(time, 1) for time in times)
        fields = {**vars(item), "due": str(days.last_before(due)) if due else ""}
        scheduled = PlannedTask(**fields, minutes=minutes, by=by, late=late)
        planned.append(replace(scheduled, start=start, end=end, slack=slack))
    return planned


def _estimate(item: PlanItem, tasks: Sequence[Task]) -> tuple[float | None, str]:
    """Return how long a task takes, and on what that stands."""
    if item.estimate:
        return float(item.estimate), "estimated by hand"
    like_tasks = [task for _, task in ledger.similar_tasks(tasks, item.task)]
    kind = kind_of(item.task)
    same_kind = [task for task in tasks if task.kind == kind]
    for group, name in ((like_tasks, "like tasks"), (same_kind, f"tasks of kind {kind}")):
        if len(group) >= LEAST:
            minutes = median_of([task.minutes for task in group])
            return (
                minutes.median,
                f"median of {minutes.n} {name} ({minutes.low:g}-{minutes.high:g} min)",
            )
    return (
        None,
        f"no estimate: {max(len(like_tasks), len(same_kind))} like tasks, {LEAST} are needed",
    )


def _summary(tasks: Sequence[PlannedTask], total_minutes: float) -> str:
    if not tasks:
        return "There is no task in this plan yet."
    open_tasks = [task for task in tasks if not task.done]
    summary = f"{len(open_tasks)} of {len(tasks)} tasks left"
    summary += (
        f"; {total_minutes:g} min at least, one after the other where they wait."
        if total_minutes
        else "."
    )
    unknown = [task.task for task in open_tasks if task.minutes is None]
    late = [task.task for task in open_tasks if task.late]
    summary += f" Nothing says how long this takes: {', '.join(unknown)}." if unknown else ""
    return summary + (f" Cannot be ready in time: {', '.join(late)}." if late else "")


def _deadlines(asker: ProjectAsker, now: datetime) -> list[str]:
    """Return the deadlines of the project that are still to come, the nearest first."""
    deadlines = [
        (day, memory.text.split("\n", 1)[0][:120])
        for shelf in asker.shelves
        for memory in shelf.journal.with_dates(asker.scope)
        if (day := aging.due_on(memory)) and memory.valid_until and memory.valid_until > now
    ]
    return [f"{day}: {text}" for day, text in sorted(deadlines)[:MOST_DEADLINES]]


# -- tasks like a described one (`self_assess`, `predictive_preload`) --


MOST_LIKE, MOST_TROUBLE = 5, 5


class AssessmentRequest(ledger.WorkRequest):
    """What a task that is to be done looks like: its words, and its kind where it is known."""

    task: str = messages.text(2_000)


def assess(ctx: Context, request: AssessmentRequest) -> ledger.Answer:
    """Return what earlier tasks say of a task.

    Returns:
        `kind` ("" where the words do not say) and with how many tasks it was `compared`, those of its kind or all;
        how many of these were `done`; how many `minutes` they took, and how often a job failed again right after it
        had failed (`retries`); the `trail`, which is the steps that worked; the `trouble` that came more than once,
        with how often and what ended it; and the tasks whose words are most `like` it.
    """
    tasks = ledger.tasks_of(messages.asker_of(ctx, request))
    kind = request.kind or kind_of(request.task)
    compared = [task for task in tasks if kind in ("", task.kind)]
    done_rate, minutes = ledger.done_of(compared), median_of([task.minutes for task in compared])
    troubles = [trouble for task in compared for trouble in task.trouble]
    counts = Counter((f"`{trouble.job}`: {trouble.line}", trouble.end) for trouble in troubles)
    project = None if request.all_projects else ledger.project_of(ctx, request)
    live_trails = learned_records.trails_of(project, ctx.now()) if project else []
    trail = ledger.trail_for(live_trails, kind)
    return ledger.answer(
        ctx,
        _verdict(kind, done_rate, minutes),
        kind=kind,
        compared=len(compared),
        done=done_rate,
        minutes=minutes,
        retries=sum(task.retries for task in compared),
        trail=trail.text if trail else "",
        trouble=[
            {"text": line, "n": n, "end": end}
            for (line, end), n in counts.most_common(MOST_TROUBLE)
            if n > 1
        ],
        like=[
            {"alike": round(score, 2), **ledger.as_dict(task)}
            for score, task in ledger.similar_tasks(tasks, request.task)[:MOST_LIKE]
        ],
    )


def _verdict(kind: str, done_rate: Rate, minutes: Median) -> str:
    name = trails.NAMES.get(kind, "tasks")
    if not done_rate.is_enough:
        return f"{NOT_ENOUGH}: of {name} only {done_rate.n} ended so that it is known; {LEAST} are needed."
    span = f"{minutes.low:g}-{minutes.high:g}, n = {minutes.n}"
    return f"{name}: {done_rate.told} were done; {minutes.median:g} min in the median ({span})."


class PreloadRequest(messages.Request):
    """What is about to be done, in words; `k` memories at most."""

    prompt: str = messages.text(4_000)
    k: int = messages.number(5, 1, 20)


def preload(ctx: Context, request: PreloadRequest) -> ledger.Answer:
    """Return the memories that like sessions used. Nothing is counted as used, and nothing is shown unasked.

    Returns:
        The `memories`, the likeliest first; how many `sessions` have used anything that they were shown; and of what
        each used, how much would have been foretold from all the others (`hits`).
    """
    asker = messages.asker_of(ctx, request)
    tasks = ledger.tasks_of(asker)
    sessions = {task.session for task in tasks}
    used: defaultdict[str, set[str]] = defaultdict(set)
    for label in ctx.state.use_labels():
        if label.used and label.session in sessions:
            used[label.session].add(label.memory)
    hits = _hits(tasks, used, request.k)
    if len(used) < LEAST:
        summary = (
            f"{NOT_ENOUGH}: {len(used)} sessions used what they were shown, {LEAST} are needed."
        )
        return ledger.answer(ctx, summary, memories=[], sessions=len(used), hits=hits)
    ids = foretold(ledger.similar_tasks(tasks, request.prompt), used)[: request.k]
    memories = ledger.brief_views(asker, ids)
    summary = (
        f"{len(memories)} memories by like sessions; so {hits.told} of what was used were foretold."
    )
    return ledger.answer(ctx, summary, memories=memories, sessions=len(used), hits=hits)


def foretold(like: Sequence[tuple[float, Task]], used: Mapping[str, set[str]]) -> list[str]:
    """Return the ids of what like tasks' sessions used, the likeliest first."""
    scores: dict[str, float] = {}
    for score, task in like:
        scores.setdefault(task.session, score)
    weights: defaultdict[str, float] = defaultdict(float)
    for session, score in scores.items():
        for id in used.get(session, ()):
            weights[id] += score
    return sorted(weights, key=lambda id: (-weights[id], id))


def _hits(tasks: Sequence[Task], used: Mapping[str, set[str]], k: int) -> Rate:
    """Return how many used memories each session's first task would have foretold from the other sessions."""
    good = total = 0
    for session, used_ids in used.items():
        first_task = next(task for task in tasks if task.session == session)
        others = [task for task in tasks if task.session != session]
        ids = foretold(ledger.similar_tasks(others, " ".join(first_task.terms)), used)[:k]
        good, total = good + len(used_ids & set(ids)), total + len(used_ids)
    return rate(good, total)
