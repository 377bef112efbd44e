"""`stigmergy`: the trails that tasks have left: shown, followed, reported, and how they fade."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from math import log

from vector_memory import redact
from vector_memory.errors import BadInputError
from vector_memory.index.fixes import commands
from vector_memory.index.fixes.command_names import command_name
from vector_memory.observe.learning import outcomes, tasks, trails
from vector_memory.service.base import messages, offered_commands
from vector_memory.service.base.context import Context
from vector_memory.service.learning import guidance, learned_records
from vector_memory.service.think import ledger
from vector_memory.service.think.figures import NOT_ENOUGH, Share, share
from vector_memory.text import suspicion

ACTIONS = ("trails", "guide", "deposit", "decay")
MOST_STEPS = outcomes.MOST_STAGES


@dataclass(frozen=True, kw_only=True)
class TrailRequest(messages.Request):
    """Trails are asked for, or something is added to them.

    Attributes:
        action: one of `ACTIONS`.
        kind: a kind of task; for `guide` also the words of one.
        steps: what was done, in order: `edit` or command lines.
        ok: whether it led there.
        evidence: how that is known.
    """

    action: str = messages.word(default="trails")
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


@dataclass(frozen=True)
class TrailAnswer:
    """Trails, the strongest first; the one to follow (`guide`) or what would be, or was, kept (`deposit`), in
    words."""

    trails: list[TrailView]
    told: str
    dry_run: bool | None = messages.spare()


def stigmergy(ctx: Context, request: TrailRequest) -> TrailAnswer:
    """Return trails, or keep what an agent reports of one.

    Raises:
        BadInputError: the action is unknown, or a report lacks its kind, steps or evidence.
    """
    ledger.require(request.action, ACTIONS)
    if request.action == "deposit":
        return _deposit(ctx, request)
    views = _views(ctx, request)
    if request.action == "guide":
        kind = request.kind if request.kind in tasks.KINDS else tasks.kind_of(request.kind)
        views = [one for one in views if one.kind == kind] or [
            one for one in views if one.kind == trails.ANY and kind in tasks.CHANGING
        ]
        told = (
            views[0].text if views else f"{NOT_ENOUGH}: no steps are proven for {kind or 'this'}."
        )
        return TrailAnswer(views[:1], told)
    if request.kind:
        views = [one for one in views if one.kind == request.kind]
    if request.action == "decay":
        told = f"A trail keeps {trails.RHO:.0%} of its strength each day and is gone below {trails.FLOOR}."
        return TrailAnswer(sorted(views, key=lambda one: one.gone_on), told)
    known = len(ledger.tasks_of(ledger.project_of(ctx, request)))
    told = f"{len(views)} trails in {known} tasks."
    if not views:
        told = (
            f"{NOT_ENOUGH}: no steps are proven in {known} tasks (three successes in two sessions)."
        )
    return TrailAnswer(views, told)


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


def _deposit(ctx: Context, request: TrailRequest) -> TrailAnswer:
    if request.kind not in tasks.KINDS or not request.steps or not request.evidence:
        raise BadInputError(
            "A report needs a kind, its steps, and the evidence by which its end is known.",
            f"Kinds: {', '.join(tasks.KINDS)}.",
        )
    asker = ledger.project_of(ctx, request)
    lines = [redact.clean(one).text for one in request.steps[:MOST_STEPS]]
    ran = [one for one in lines if one not in (tasks.EDIT, tasks.READ)]
    if not offered_commands.are_harmless(ran, asker.place.root):
        raise BadInputError("One of these steps destroys something: it is not kept as a way to go.")
    if any(suspicion.quoted(one) for one in ran):
        raise BadInputError("One of these steps reads like an instruction: it is not kept.")
    jobs = {commands.family(one): command_name(one) for one in ran}
    if "" in jobs:
        raise BadInputError("A step is no command line.", "Give command lines, `edit` or `read`.")
    known = ledger.tasks_of(asker)
    seen = {job for one in known if not ledger.is_report(one) for job in one.jobs}
    if not seen.issuperset(jobs):
        raise BadInputError(
            f"`{min(set(jobs) - seen)}` was never seen to run here: a report of it has no evidence.",
            "What sessions run counts by itself when they end.",
        )
    stages = [one if one in (tasks.EDIT, tasks.READ) else commands.family(one) for one in lines]
    session = request.session or "reported"
    made = outcomes.Task(
        ledger.key_of(session, request.kind, *lines), ctx.now().isoformat(), request.kind,
        done=request.ok, stages=stages, jobs=list(jobs), session=session,
        commands={job: line for job, line in jobs.items() if line and request.ok},
    )  # fmt: skip
    weight = trails.LIKELY if request.ok else trails.FAILURE
    does = "would count" if request.dry_run else "counts"
    told = f"It {does} {weight:g}; what only agents report makes no trail without a sure success."
    if not request.dry_run:
        if made.key in [one.key for one in known] or not ledger.report(ctx, asker, replace(made)):
            told = "It was reported before: nothing changes."
        ctx.audit("deposit", request.actor, [], kind=request.kind, session=session)
    return TrailAnswer(_views(ctx, request), told, request.dry_run)
