"""`stigmergy`: the trails that tasks have left: shown, followed, reported, and how they fade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import log

from vector_memory import redact
from vector_memory.errors import BadInputError
from vector_memory.index.fixes import commands
from vector_memory.index.fixes.command_names import command_name
from vector_memory.observe.learning import outcomes, tasks, trails
from vector_memory.observe.learning.outcomes import Task
from vector_memory.service.base import messages, offered_commands
from vector_memory.service.base.context import Context
from vector_memory.service.learning import guidance, learned_records
from vector_memory.service.think import ledger
from vector_memory.service.think.figures import NOT_ENOUGH, Share, share
from vector_memory.text import suspicion

MOST_STEPS = outcomes.MOST_STAGES


@dataclass(frozen=True, kw_only=True)
class TrailRequest(messages.Request):
    """Trails are asked for, or something is added to them.

    Attributes:
        kind: a kind of task; for `guide` also the words of one.
        steps: what was done, in order: `edit` or command lines.
        ok: whether it led there.
        evidence: how that is known.
    """

    action: str = messages.one_of(("trails", "guide", "deposit", "decay"), "trails")
    kind: str = messages.word()
    steps: tuple[str, ...] = messages.words()
    ok: bool = messages.flag(default=True)
    evidence: str = messages.maybe_text(500)
    session: str = messages.word()
    dry_run: bool = messages.flag(default=True)


@dataclass(frozen=True)
class TrailView:
    """A trail with its strength now, when it will have faded, and how often it led there."""

    kind: str
    steps: list[str]
    won: Share
    sessions: int
    strength: float
    gone_on: str
    last: str
    text: str


def stigmergy(ctx: Context, request: TrailRequest) -> ledger.Answer:
    """Return trails, or keep what an agent reports of one.

    Raises:
        BadInputError: the action is unknown, or a report lacks its kind, steps or evidence.

    Returns:
        The `trails`, the strongest first; the one to follow (`guide`), or those with what was, or would be, kept
        (`deposit`).
    """
    if request.action == "deposit":
        return _deposit(ctx, request)
    views, kind, known = (
        _views(ctx, request),
        request.kind,
        len(ledger.tasks_of(messages.asker_of(ctx, request))),
    )
    if request.action == "guide":
        kind = kind if kind in tasks.KINDS else tasks.kind_of(kind)
        fit = [one for one in views if one.kind == kind] or [
            one for one in views if one.kind == trails.ANY and kind in tasks.CHANGING
        ]
        none = f"{NOT_ENOUGH}: no steps are proven for {kind or 'this'}, in {known} tasks."
        return ledger.answer(ctx, fit[0].text if fit else none, trails=fit[:1])
    views = [one for one in views if kind in ("", one.kind)]
    told = f"{len(views)} trails in {known} tasks."
    if request.action == "decay":
        views.sort(key=lambda one: one.gone_on)
        told += f" A trail keeps {trails.RHO:.0%} of its strength each day and is gone below {trails.FLOOR}."
    elif not views:
        told = (
            f"{NOT_ENOUGH}: no steps are proven in {known} tasks (three successes in two sessions)."
        )
    return ledger.answer(ctx, told, trails=views)


def _views(ctx: Context, request: TrailRequest) -> list[TrailView]:
    asker, now = ledger.project_of(ctx, request), ctx.now()
    board = learned_records.board_of(guidance.board_record(asker))
    found = []
    for one in learned_records.trails_of(asker, board.trails):
        strength = one.strength_at(now)
        if strength >= trails.FLOOR:
            days = log(trails.FLOOR / strength) / log(trails.RHO)
            gone = f"{now + timedelta(days=days):%Y-%m-%d}"
            figures = (share(one.won, one.n), one.sessions, round(strength, 2))
            found.append(TrailView(one.kind, one.steps, *figures, gone, one.last, one.text))
    return sorted(found, key=lambda one: -one.strength)


def _deposit(ctx: Context, request: TrailRequest) -> ledger.Answer:
    asker = ledger.project_of(ctx, request)
    known = ledger.tasks_of(asker)
    made, weight = (
        _task(ctx, request, asker.place.root, known),
        trails.LIKELY if request.ok else trails.FAILURE,
    )
    does = "would count" if request.dry_run else "counts"
    told = f"It {does} {weight:g}; what only agents report makes no trail without a sure success."
    if not request.dry_run:
        if made.key in [one.key for one in known] or not ledger.report(ctx, asker, made):
            told = "It was reported before: nothing changes."
        ctx.audit("deposit", request.actor, [], kind=request.kind, session=made.session)
    return ledger.answer(ctx, told, trails=_views(ctx, request), dry_run=request.dry_run)


def _task(ctx: Context, request: TrailRequest, root: str, known: Sequence[Task]) -> Task:
    """Return what is reported as a task.

    Raises:
        BadInputError: it lacks something, or one of its steps was never seen here or may not be one.
    """
    if request.kind not in tasks.KINDS or not request.steps or not request.evidence:
        raise BadInputError(
            "A report needs a kind, its steps, and the evidence by which its end is known.",
            f"Kinds: {', '.join(tasks.KINDS)}.",
        )
    lines = [redact.clean(one).text for one in request.steps[:MOST_STEPS]]
    ran = [one for one in lines if one not in (tasks.EDIT, tasks.READ)]
    if not offered_commands.are_harmless(ran, root):
        raise BadInputError("One of these steps destroys something.", "Report a way without it.")
    if any(suspicion.quoted(one) for one in ran):
        raise BadInputError("One of these steps reads like an instruction.", "Give command lines.")
    jobs = {commands.family(one): command_name(one) for one in ran}
    if "" in jobs:
        raise BadInputError("A step is no command line.", "Give command lines, `edit` or `read`.")
    seen = {job for one in known if not ledger.is_report(one) for job in one.jobs}
    if not seen.issuperset(jobs):
        raise BadInputError(
            f"`{min(set(jobs) - seen)}` was never seen to run here: a report of it has no evidence.",
            "What sessions run counts by itself when they end.",
        )
    session = request.session or "reported"
    return Task(
        ledger.key_of(session, request.kind, *lines), ctx.now().isoformat(), request.kind, done=request.ok,
        stages=[commands.family(one) if one in ran else one for one in lines], jobs=list(jobs), session=session,
        commands={job: line for job, line in jobs.items() if line and request.ok},
    )  # fmt: skip
