"""`semantic_diff`: how work went in two windows of time, and what became of memory between two moments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.observe.learning.figures import compare, middle, rate
from vector_memory.observe.learning.outcomes import Task
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.think import ledger
from vector_memory.service.think.past import memories_at
from vector_memory.text import dates

MOST_JOBS = 12


class DiffRequest(ledger.WorkRequest):
    """Two windows, or two moments, are to be compared.

    Attributes:
        at: where the first ends and the second begins: a date, or the id of the session that begins the second.
        since, until: where the first begins, and the second ends: as much before as after by default.
        kind: tasks of one kind alone.
    """

    what: str = messages.one_of(("behaviour", "memory"), "behaviour")
    at: str = messages.text(200)


def difference(ctx: Context, request: DiffRequest) -> ledger.Answer:
    """Return how two windows of tasks, or two moments of memory, differ.

    Raises:
        BadInputError: there is no such difference, or the windows are none.
        NotFoundError: the moment is neither a date nor a session that did anything.

    Returns:
        Of behaviour the `first` and the `second` window, and how many were `done` in each; of memory what is `new`,
        what is `gone`, and the `kinds` of both.
    """
    tasks = ledger.tasks_of(messages.asker_of(ctx, request))
    at, until = _moment(ctx, request.at, tasks), request.until or ctx.now()
    since = request.since or at - (until - at)
    if not since < at < until:
        raise BadInputError(
            "The windows are empty.", "`since` must lie before `at`, and `until` after it."
        )
    if request.what == "memory":
        return _memory(ctx, request, at, until)
    mine = [task for task in tasks if request.kind in ("", task.kind)]
    before = [task for task in mine if since <= task.ended_at < at]
    after = [task for task in mine if at <= task.ended_at < until]
    done = compare(ledger.done_of(before), ledger.done_of(after), ("before", "since then"))
    summary = f"{len(before)} tasks before {at:%Y-%m-%d %H:%M}, {len(after)} since: {done.verdict}."
    first, second = _window(before, since, at), _window(after, at, until)
    return ledger.answer(ctx, summary, first=first, second=second, done=done)


def _moment(ctx: Context, word: str, tasks: Sequence[Task]) -> datetime:
    begun = [
        task.ended_at - timedelta(minutes=task.minutes) for task in tasks if task.session == word
    ]
    if begun:
        return min(begun)
    try:
        return dates.parse(word, ctx.now())
    except (ValueError, OverflowError):
        raise NotFoundError(
            f"{word[:60]!r} is neither a date nor a session that did anything here.",
            f"Such as {dates.EXAMPLES}. For a git revision give its date: `git log -1 --format=%cI REV`.",
        ) from None


def _window(mine: Sequence[Task], since: datetime, until: datetime) -> dict[str, object]:
    """Return what the tasks of a window were: of which kinds, how they ended, how long they took, what failed again
    right after it had failed, and in what share of them a job was run."""
    jobs = Counter(job for task in mine for job in set(task.jobs))
    return {
        "since": since,
        "until": until,
        "tasks": len(mine),
        "kinds": dict(Counter(task.kind for task in mine).most_common()),
        "done": ledger.done_of(mine),
        "minutes": middle([task.minutes for task in mine]),
        "retries": sum(task.retries for task in mine),
        "jobs": {job: rate(n, len(mine)) for job, n in jobs.most_common(MOST_JOBS)},
    }


def _memory(ctx: Context, request: DiffRequest, at: datetime, until: datetime) -> ledger.Answer:
    before = {memory.id: memory for memory in memories_at(ctx, request, at)}
    after = {memory.id: memory for memory in memories_at(ctx, request, until)}
    new = [memory for id, memory in after.items() if id not in before]
    gone = [memory for id, memory in before.items() if id not in after]
    sides = {"new": new, "gone": gone}
    kinds = {name: Counter(memory.kind for memory in side) for name, side in sides.items()}
    summary = f"{len(new)} memories are new since {at:%Y-%m-%d %H:%M}, {len(gone)} gave way."
    brief = {name: list(map(ledger.in_brief, side[: request.k])) for name, side in sides.items()}
    return ledger.answer(ctx, summary, **brief, kinds=kinds)
