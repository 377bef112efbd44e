"""`self_assess`: how tasks like a described one went here, and what helped or hindered them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from vector_memory.observe.learning import trails
from vector_memory.observe.learning.tasks import kind_of
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.think import ledger
from vector_memory.service.think.figures import LEAST, NOT_ENOUGH, Middle, Rate, middle

MOST_LIKE, MOST_TROUBLE = 5, 5


@dataclass(frozen=True, kw_only=True)
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
    mine = [task for task in tasks if kind in ("", task.kind)]
    done, minutes = ledger.done_of(mine), middle([task.minutes for task in mine])
    met = Counter((f"`{one.job}`: {one.line}", one.end) for task in mine for one in task.trouble)
    return ledger.answer(
        ctx,
        _verdict(kind, done, minutes),
        kind=kind,
        compared=len(mine),
        done=done,
        minutes=minutes,
        retries=sum(task.retries for task in mine),
        trail="" if request.all_projects else _trail(ctx, request, kind),
        trouble=[
            {"text": line, "n": n, "end": end}
            for (line, end), n in met.most_common(MOST_TROUBLE)
            if n > 1
        ],
        like=[
            {"alike": round(score, 2), **ledger.as_dict(task)}
            for score, task in ledger.like(tasks, request.task)[:MOST_LIKE]
        ],
    )


def _trail(ctx: Context, request: AssessmentRequest, kind: str) -> str:
    trail = ledger.trail_for(ledger.trails_of(ctx, ledger.project_of(ctx, request)), kind)
    return trail.text if trail else ""


def _verdict(kind: str, done: Rate, minutes: Middle) -> str:
    name = trails.NAMES.get(kind, "tasks")
    if not done.is_enough:
        return (
            f"{NOT_ENOUGH}: of {name} only {done.n} ended so that it is known; {LEAST} are needed."
        )
    span = f"{minutes.low:g}-{minutes.high:g}, n = {minutes.n}"
    return f"{name}: {done.told} were done; {minutes.median:g} min in the median ({span})."
