"""`self_assess` and `predictive_preload`: what tasks like a described one say of it. How they went and what helped or
hindered them; and which memories their sessions used, with how often that would have been foretold. It is told to
whoever asks, and never put before the model by itself."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from vector_memory.observe.learning import trails
from vector_memory.observe.learning.figures import LEAST, NOT_ENOUGH, Middle, Rate, middle, rate
from vector_memory.observe.learning.outcomes import Task
from vector_memory.observe.learning.tasks import kind_of
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.learning import learned_records
from vector_memory.service.think import ledger

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
    mine = [task for task in tasks if kind in ("", task.kind)]
    done, minutes = ledger.done_of(mine), middle([task.minutes for task in mine])
    troubles = [trouble for task in mine for trouble in task.trouble]
    met = Counter((f"`{trouble.job}`: {trouble.line}", trouble.end) for trouble in troubles)
    here = None if request.all_projects else ledger.project_of(ctx, request)
    alive = learned_records.trails_of(here, ctx.now()) if here else []
    trail = ledger.trail_for(alive, kind)
    return ledger.answer(
        ctx,
        _verdict(kind, done, minutes),
        kind=kind,
        compared=len(mine),
        done=done,
        minutes=minutes,
        retries=sum(task.retries for task in mine),
        trail=trail.text if trail else "",
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


def _verdict(kind: str, done: Rate, minutes: Middle) -> str:
    name = trails.NAMES.get(kind, "tasks")
    if not done.is_enough:
        return (
            f"{NOT_ENOUGH}: of {name} only {done.n} ended so that it is known; {LEAST} are needed."
        )
    span = f"{minutes.low:g}-{minutes.high:g}, n = {minutes.n}"
    return f"{name}: {done.told} were done; {minutes.median:g} min in the median ({span})."


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
    here = {task.session for task in tasks}
    used: defaultdict[str, set[str]] = defaultdict(set)
    for label in ctx.state.use_labels():
        if label.used and label.session in here:
            used[label.session].add(label.memory)
    hits = _hits(tasks, used, request.k)
    if len(used) < LEAST:
        summary = (
            f"{NOT_ENOUGH}: {len(used)} sessions used what they were shown, {LEAST} are needed."
        )
        return ledger.answer(ctx, summary, memories=[], sessions=len(used), hits=hits)
    ids = foretold(ledger.like(tasks, request.prompt), used)[: request.k]
    kept = ledger.shown(asker, ids)
    summary = (
        f"{len(kept)} memories by like sessions; so {hits.told} of what was used were foretold."
    )
    return ledger.answer(ctx, summary, memories=kept, sessions=len(used), hits=hits)


def foretold(like: Sequence[tuple[float, Task]], used: Mapping[str, set[str]]) -> list[str]:
    """Return the ids of what like tasks' sessions used, the likeliest first."""
    alike: dict[str, float] = {}
    for score, task in like:
        alike.setdefault(task.session, score)
    weights: defaultdict[str, float] = defaultdict(float)
    for session, score in alike.items():
        for id in used.get(session, ()):
            weights[id] += score
    return sorted(weights, key=lambda id: (-weights[id], id))


def _hits(tasks: Sequence[Task], used: Mapping[str, set[str]], k: int) -> Rate:
    """Return how many used memories each session's first task would have foretold from the other sessions."""
    good = total = 0
    for session, mine in used.items():
        first = next(task for task in tasks if task.session == session)
        others = [task for task in tasks if task.session != session]
        ids = foretold(ledger.like(others, " ".join(first.terms)), used)[:k]
        good, total = good + len(mine & set(ids)), total + len(mine)
    return rate(good, total)
