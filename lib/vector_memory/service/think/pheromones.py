"""`stigmergy`: the trails that tasks have left: shown, followed, reported, and how they fade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from math import log

from vector_memory import redact
from vector_memory.errors import BadInputError
from vector_memory.index.fixes import commands
from vector_memory.index.fixes.command_names import command_name
from vector_memory.observe.learning import outcomes, tasks, trails
from vector_memory.observe.learning.figures import NOT_ENOUGH, rate
from vector_memory.observe.learning.outcomes import Task
from vector_memory.observe.learning.trails import Trail
from vector_memory.service.base import messages, offered_commands, request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.learning import learned_records
from vector_memory.service.think import ledger
from vector_memory.text import suspicion


class TrailRequest(ledger.WorkRequest):
    """Trails are asked for, or something is added to them.

    Attributes:
        kind: a kind of task; for `guide` also the words of one.
        steps: what was done, in order: `edit` or command lines.
        ok: whether it led there.
        evidence: how that is known.
    """

    action: str = messages.one_of(("trails", "guide", "deposit", "decay"), "trails")
    kind: str = messages.maybe_text(300)
    steps: tuple[str, ...] = messages.words()
    ok: bool = messages.flag(default=True)
    evidence: str = messages.maybe_text(500)


def stigmergy(ctx: Context, request: TrailRequest) -> ledger.Answer:
    """Return trails, or keep what an agent reports of one.

    Raises:
        BadInputError: the kind is unknown, or a report lacks its kind, steps or evidence.

    Returns:
        The `trails`, the strongest first; the one to follow (`guide`), or those with what was, or would be, kept
        (`deposit`).
    """
    if request.kind and request.action != "guide":
        request = replace(request, kind=request_fields.chosen(request.kind, tasks.KINDS, "kind"))
    if request.action == "deposit":
        return _deposit(ctx, request)
    asker, kind = ledger.project_of(ctx, request), request.kind
    count, alive = len(ledger.tasks_of(asker)), learned_records.trails_of(asker, ctx.now())
    if request.action == "guide":
        kind = kind if kind in tasks.KINDS else tasks.kind_of(kind)
        trail = ledger.trail_for(alive, kind)
        none = f"{NOT_ENOUGH}: no steps are proven for {kind or 'this'}, in {count} tasks."
        views = [_view(trail, ctx.now())] if trail else []
        return ledger.answer(ctx, trail.text if trail else none, trails=views)
    views = [_view(trail, ctx.now()) for trail in alive if kind in ("", trail.kind)]
    summary = f"{len(views)} trails in {count} tasks."
    if request.action == "decay":
        # All fade at one rate: the weakest goes first.
        views.reverse()
        summary += f" A trail keeps {trails.RHO:.0%} of its strength each day and is gone below {trails.FLOOR}."
    elif not views:
        summary = f"{NOT_ENOUGH}: in {count} tasks no steps are proven, or they have faded since."
    return ledger.answer(ctx, summary, trails=views)


def _view(trail: Trail, now: datetime) -> dict[str, object]:
    """Return a trail with its strength now, when it will have faded, and how often it led there."""
    strength = trail.strength_at(now)
    days = log(trails.FLOOR / strength) / log(trails.RHO)
    return {
        **{name: getattr(trail, name) for name in ("kind", "steps", "sessions", "last", "text")},
        "won": rate(trail.won, trail.n),
        "strength": round(strength, 2),
        "gone_on": f"{now + timedelta(days=days):%Y-%m-%d}",
    }


def _deposit(ctx: Context, request: TrailRequest) -> ledger.Answer:
    asker = ledger.project_of(ctx, request)
    seen = ledger.tasks_of(asker)
    made = _task(ctx, request, asker.place.root, seen)
    weight = trails.LIKELY if request.ok else trails.FAILURE
    summary = f"It {'would count' if request.dry_run else 'counts'} {weight:g}; what only agents report makes no trail without a sure success."
    if not request.dry_run:
        if made.key in [task.key for task in seen] or not ledger.report(ctx, asker, made):
            summary = "It was reported before: nothing changes."
        ctx.audit("deposit", request.actor, [], kind=request.kind, session=made.session)
    views = [_view(trail, ctx.now()) for trail in learned_records.trails_of(asker, ctx.now())]
    return ledger.answer(ctx, summary, trails=views, dry_run=request.dry_run)


def _task(ctx: Context, request: TrailRequest, root: str, earlier: Sequence[Task]) -> Task:
    """Return what is reported as a task.

    Raises:
        BadInputError: it lacks something, or one of its steps was never seen here or may not be one.
    """
    if not request.kind or not request.steps or not request.evidence:
        raise BadInputError(
            "A report needs a kind, its steps, and the evidence by which its end is known.",
            f"Kinds: {', '.join(tasks.KINDS)}.",
        )
    lines = [redact.clean(step).text for step in request.steps[: outcomes.MOST_STEPS]]
    ran = [line for line in lines if line not in (tasks.EDIT, tasks.READ)]
    if not offered_commands.are_harmless(ran, root) or any(map(suspicion.quoted, ran)):
        raise BadInputError(
            "A step that destroys something or reads like an order is not kept.",
            "Report a way without it, in command lines.",
        )
    jobs = {commands.family(line): command_name(line) for line in ran}
    if "" in jobs:
        raise BadInputError("A step is no command line.", "Give command lines, `edit` or `read`.")
    seen = {job for task in earlier if not task.key.startswith(ledger.REPORT) for job in task.jobs}
    if not seen.issuperset(jobs):
        raise BadInputError(
            f"`{min(set(jobs) - seen)}` was never seen to run here: a report of it has no evidence.",
            "What sessions run counts by itself when they end.",
        )
    session = request.session or "reported"
    return Task(
        ledger.key_of(session, request.kind, *lines), ctx.now().isoformat(), request.kind, done=request.ok,
        steps=[commands.family(line) if line in ran else line for line in lines], jobs=list(jobs), session=session,
        commands={job: line for job, line in jobs.items() if line and request.ok},
    )  # fmt: skip
