"""`stigmergy` and `world_model`: the trails that tasks have left: shown, followed, reported, and how they fade; and what is to be
expected of a command, a port or a version, what then came of it, and what is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from math import log

from vector_memory import redact
from vector_memory.errors import BadInputError
from vector_memory.index.fixes import commands
from vector_memory.index.fixes.command_names import command_name
from vector_memory.observe.learning import outcomes, tasks, trails, world
from vector_memory.observe.learning.figures import NOT_ENOUGH, rate
from vector_memory.observe.learning.outcomes import Task
from vector_memory.observe.learning.trails import Trail
from vector_memory.observe.learning.world import COMMAND, FAILS, OK, Sighting, Thing
from vector_memory.service.base import messages, offered_commands, request_fields
from vector_memory.service.base.asker import ProjectAsker
from vector_memory.service.base.context import Context
from vector_memory.service.learning import learned_records
from vector_memory.service.think import ledger
from vector_memory.text import suspicion

# -- trails (`stigmergy`) --


class TrailRequest(ledger.WorkRequest):
    """Trails are asked for, or something is added to them.

    Attributes:
        kind: a kind of task; for `guide` also the words of one.
        steps: what was done, in order: `edit` or command lines.
        ok: whether the task was done with it.
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
    count, live_trails = len(ledger.tasks_of(asker)), learned_records.trails_of(asker, ctx.now())
    if request.action == "guide":
        kind = kind if kind in tasks.KINDS else tasks.kind_of(kind)
        trail = ledger.trail_for(live_trails, kind)
        no_steps = f"{NOT_ENOUGH}: no steps are proven for {kind or 'this'}, in {count} tasks."
        views = [_view(trail, ctx.now())] if trail else []
        return ledger.answer(ctx, trail.text if trail else no_steps, trails=views)
    views = [_view(trail, ctx.now()) for trail in live_trails if kind in ("", trail.kind)]
    summary = f"{len(views)} trails in {count} tasks."
    if request.action == "decay":
        # All fade at one rate: the weakest goes first.
        views.reverse()
        summary += f" A trail keeps {trails.RHO:.0%} of its strength each day and is gone below {trails.FLOOR}."
    elif not views:
        summary = f"{NOT_ENOUGH}: in {count} tasks no steps are proven, or they have faded since."
    return ledger.answer(ctx, summary, trails=views)


def _view(trail: Trail, now: datetime) -> dict[str, object]:
    """Return a trail with its strength now, the day on which it will have faded, and how many tasks were done by it."""
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
    earlier = ledger.tasks_of(asker)
    report = _reported_task(ctx, request, asker.place.root, earlier)
    weight = trails.LIKELY if request.ok else trails.FAILURE
    summary = f"It {'would count' if request.dry_run else 'counts'} {weight:g}; what only agents report makes no trail without a sure success."
    if not request.dry_run:
        if report.key in [task.key for task in earlier] or not ledger.report(ctx, asker, report):
            summary = "It was reported before: nothing changes."
        ctx.audit("deposit", request.actor, [], kind=request.kind, session=report.session)
    views = [_view(trail, ctx.now()) for trail in learned_records.trails_of(asker, ctx.now())]
    return ledger.answer(ctx, summary, trails=views, dry_run=request.dry_run)


def _reported_task(ctx: Context, request: TrailRequest, root: str, earlier: Sequence[Task]) -> Task:
    """Return what is reported as a task.

    Raises:
        BadInputError: a field is missing, or a step is no command line, never ran here, or is not allowed.
    """
    if not request.kind or not request.steps or not request.evidence:
        raise BadInputError(
            "A report needs a kind, its steps, and the evidence by which its end is known.",
            f"Kinds: {', '.join(tasks.KINDS)}.",
        )
    lines = [redact.clean(step).text for step in request.steps[: outcomes.MOST_STEPS]]
    command_lines = [line for line in lines if line not in (tasks.EDIT, tasks.READ)]
    if not offered_commands.are_harmless(command_lines, root) or any(
        map(suspicion.mark_of_quoted, command_lines)
    ):
        raise BadInputError(
            "A step that destroys something or reads like an order is not kept.",
            "Report a way without it, in command lines.",
        )
    jobs = {commands.job_of(line): command_name(line) for line in command_lines}
    if "" in jobs:
        raise BadInputError("A step is no command line.", "Give command lines, `edit` or `read`.")
    known_jobs = {
        job for task in earlier if not task.key.startswith(ledger.REPORT) for job in task.jobs
    }
    if not known_jobs.issuperset(jobs):
        raise BadInputError(
            f"`{min(set(jobs) - known_jobs)}` was never seen to run here: a report of it has no evidence.",
            "What sessions run counts by itself when they end.",
        )
    session = request.session or "reported"
    return Task(
        ledger.key_of(session, request.kind, *lines), ctx.now().isoformat(), request.kind, done=request.ok,
        steps=[commands.job_of(line) if line in command_lines else line for line in lines],
        jobs=list(jobs), session=session,
        commands={job: line for job, line in jobs.items() if line and request.ok},
    )  # fmt: skip


# -- things (`world_model`) --


STATES = {COMMAND: (OK, FAILS), world.PORT: (world.UP, world.DOWN)}


class WorldRequest(ledger.WorkRequest):
    """Something is to be predicted, was observed, or is to be listed.

    Attributes:
        thing: a command line, or `port:5432`, or `version:node`.
        state: what was observed: `ok` or `fails`, `up` or `down`, or a version.
    """

    action: str = messages.one_of(("predict", "observe", "list"), "list")
    thing: str = messages.maybe_text(300)
    state: str = messages.maybe_text(60)


def world_model(ctx: Context, request: WorldRequest) -> ledger.Answer:
    """Predict, note or list the state of what work depends on.

    Raises:
        BadInputError: the action or the state is unknown, or the thing is missing.

    Returns:
        How often it was `good`: went well (a command) or was up (a port), of the times it was seen; the state that
        is `expected`, "" where none can be relied on; how many `seconds` a command takes, the median of its good
        runs, 0 where that is not known; whether what was observed is a `surprise`; or the `things`, those that are
        not as usual first, then those seen most often.
    """
    asker = ledger.project_of(ctx, request)
    if request.action == "list":
        all_things = learned_records.things_of(asker)
        all_things.sort(key=lambda thing: (thing.surprise, thing.seen, thing.last), reverse=True)
        surprises = sum(thing.surprise for thing in all_things)
        summary = f"{len(all_things)} things, {surprises} not as usual."
        summary = summary if all_things else f"{NOT_ENOUGH}: nothing was seen here yet."
        return ledger.answer(ctx, summary, things=all_things[: request.k])
    key = _parse_thing(request.thing)
    sightings = [
        sighting for sighting in ledger.sightings_of(asker) if (sighting.kind, sighting.name) == key
    ]
    thing = next(iter(world.things_of(sightings)), None)
    if request.action == "observe":
        return _record_observation(ctx, asker, request, key, thing.usual if thing else "")
    if thing is None:
        summary = f"{NOT_ENOUGH}: {_display_name(*key)} was never seen here."
        return ledger.answer(ctx, summary, expected="")
    return _prediction(ctx, thing)


def _parse_thing(thing: str) -> tuple[str, str]:
    cleaned = redact.clean(thing).text
    kind, _, name = cleaned.partition(":")
    if kind in (world.PORT, world.VERSION) and name:
        return kind, name.strip()
    if not cleaned:
        raise BadInputError("thing is missing.", "A command line, port:NUMBER or version:PROGRAM.")
    name = command_name(cleaned)
    if not name:
        raise BadInputError(
            "Nothing can be expected of that line: it is several commands, or of the moment.",
            "Give one command as it is called here, such as `pytest -q`.",
        )
    return COMMAND, name


def _display_name(kind: str, name: str) -> str:
    return f"`{name}`" if kind == COMMAND else f"{kind} {name}"


def _prediction(ctx: Context, thing: Thing) -> ledger.Answer:
    if thing.kind == world.VERSION:
        summary = f"{thing.text}, seen {thing.seen} times."
        return ledger.answer(ctx, summary, expected=thing.state)
    good_rate = rate(thing.good, thing.seen)
    went = "was up" if thing.kind == world.PORT else "went well"
    times = "last time" if thing.same == 1 else f"last {thing.same} times"
    summary = f"{_display_name(thing.kind, thing.name)} {went} {good_rate.told}; the {times}: {thing.state}"
    if not thing.usual:
        summary += ". Nothing can be relied on"
    elif thing.usual != thing.state:
        summary += f". It used to be {thing.usual}"
    summary += f". Last seen {thing.last[:10]}."
    return ledger.answer(ctx, summary, good=good_rate, expected=thing.usual, seconds=thing.seconds)


def _record_observation(
    ctx: Context, asker: ProjectAsker, request: WorldRequest, key: tuple[str, str], usual: str
) -> ledger.Answer:
    (kind, name), state = key, str(redact.clean(request.state).text)
    allowed = STATES.get(kind, (state,))
    if not state or state not in allowed or suspicion.mark_of_quoted(f"{name} {state}"):
        states = ", ".join(filter(None, allowed)) or "its number"
        raise BadInputError(f"{state[:40]!r} is no state of a {kind}.", f"States: {states}.")
    observed_at = ctx.now().isoformat()
    expected = f"as expected ({usual})" if usual else "nothing was expected"
    surprise = bool(usual) and usual != state
    expected = f"a surprise, it used to be {usual}" if surprise else expected
    summary = f"{_display_name(kind, name)} is {state}: {expected}."
    if not request.dry_run:
        sighting = Sighting(kind, name, state, "", "", observed_at)
        ledger.report(ctx, asker, sighting=sighting)
        ctx.audit("observe", request.actor, [], kind=kind)
    return ledger.answer(ctx, summary, expected=usual, surprise=surprise, dry_run=request.dry_run)
