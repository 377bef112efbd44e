"""What is learned from how work went: tasks of a session, trails, the state of things, and what of it a
session is told at its start.

All of it is made anew from one record of each session: its tasks, known by the name of the prompt that began
them, and what was seen in it, known by the call that showed it. So nothing counts twice, however often a
transcript is read and wherever the last reading was cut off; and what is forgotten or purged of them is gone
from what is made of them with the next turn.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from vector_memory.errors import UnsafeTextError
from vector_memory.index.cursor import Cursor, Position
from vector_memory.index.exchanges import Exchange
from vector_memory.index.reader import TurnRead, head_of, read_exchanges
from vector_memory.index.tools import clip
from vector_memory.index.topics.turns import terms_of
from vector_memory.model import HEURISTICS, TRAILS, TRAJECTORIES, WORLD, Memory, Origin
from vector_memory.observe.learning import outcomes, tasks, trails, trajectories, trouble
from vector_memory.observe.learning import things as world
from vector_memory.service.base import messages, offered_commands, privacy
from vector_memory.service.base.asker import ProjectAsker, asker_at, asker_in
from vector_memory.service.base.context import Context
from vector_memory.service.learning import (
    came_into,
    counted_records,
    guidance,
    learned_records,
)
from vector_memory.service.learning.counted_records import CountedRecord
from vector_memory.service.learning.observed_steps import Harvest, cleaner, harvest
from vector_memory.service.memory import tombstones
from vector_memory.system.files import with_real_folder
from vector_memory.text import harmless, suspicion

log = logging.getLogger(__name__)

PER_SESSION, MOST_SEEN, MOST_SESSIONS, MOST_TASKS, MOST_THINGS = 60, 200, 150, 400, 300
MOST_HABITS, MOST_ORDERS = 6, 200
ASKED_CHARS = 120
"""What is kept of how a task's prompt began."""
MOST_RECORDS = 2_000
_one_at_a_time = threading.Lock()
"""Held from reading a transcript to noting how far it was read."""


def learn_all(
    ctx: Context,
    transcripts: Sequence[tuple[str, str]],
    final: bool = True,
    turn: TurnRead | None = None,
) -> None:
    """Learn from several transcripts, each with its session's folder or "".

    Args:
        turn: what was read of the only one of them already.
    """
    if not (ctx.settings.learn_from_outcomes and ctx.settings.capture):
        return
    changed: dict[str, ProjectAsker] = {}
    for path, folder in transcripts:
        if ctx.stopping.is_set():
            break
        ctx.hooks.give_way()
        try:
            asker = _learn_one(ctx, with_real_folder(path), folder, final, turn)
        except Exception as error:
            # One that cannot be read keeps none of the others from being.
            log.warning("nothing is learned from %s now: %r", path, error)
            continue
        if asker is not None:
            changed[asker.place.id] = asker
    for asker in changed.values():
        try:
            with privacy.for_folder(ctx, asker.place.root), ctx.capturing:
                draw(ctx, asker)
        except Exception as error:
            # What it is made of is stored: the next turn makes it.
            log.warning(
                "nothing is made of what was learned in %s now: %r", asker.place.root, error
            )


def _learn_one(
    ctx: Context, path: str, folder: str, final: bool, turn: TurnRead | None
) -> ProjectAsker | None:
    """Return the project about which something was learned, None for none."""
    session, cwd = (turn.session, turn.cwd) if turn else head_of(path)
    folder = folder or cwd or "/"
    asker = asker_at(ctx, folder)
    if asker is None:
        return None
    with privacy.for_folder(ctx, folder, privacy.ran_under(ctx, path)), _one_at_a_time:
        cursor = Cursor.from_dict(ctx.state.cursor(path) or {})
        exchanges = _after(turn, cursor) if turn else None
        if exchanges is None:
            exchanges = read_exchanges(path, cursor, final=final)
        told = harvest(exchanges, cleaner())
        if not (told.turns or told.subagents):
            return None
        changed = _store(ctx, asker, session, told)
        first = tasks.group(told.turns)[-1][0] if told.turns else told.subagents[0]
        _begin_again(
            ctx,
            path,
            next(exchange for exchange in exchanges if exchange.key == first.key).position,
        )
    return asker if changed or final else None


def _after(turn: TurnRead, cursor: Cursor) -> list[Exchange] | None:
    """Return what was read of a transcript from where lessons begin again; None where that was read by
    another process, or lies before what was read."""
    if turn.exchanges is None or not turn.reaches_back or cursor.lessons < turn.cursor.lessons:
        return None
    return [exchange for exchange in turn.exchanges if exchange.position >= cursor.lessons]


def _begin_again(ctx: Context, path: str, place: Position) -> None:
    """Note where lessons begin again. Nothing else of a cursor changes, which may have moved meanwhile."""
    with ctx.capturing:
        cursor = Cursor.from_dict(ctx.state.cursor(path) or {})
        if cursor.lessons != place:
            ctx.state.set_cursor(path, replace(cursor, lessons=place).to_dict())


def _store(ctx: Context, asker: ProjectAsker, session: str, told: Harvest) -> bool:
    """Keep what a transcript tells; return whether any of it was new. Nothing is purged meanwhile."""
    with ctx.capturing:
        turns = not_purged(ctx, asker, session, told.turns)
        keys = {turn.key[:16] for turn in turns}
        seen = [sighting for sighting in told.sightings if sighting.id.partition(":")[0] in keys]
        found = _measured(tasks.group(turns), session)
        by_agents = _measured(
            [[task_turn] for task_turn in not_purged(ctx, asker, session, told.subagents)], session
        )
        known = counted_records.get(asker, HEURISTICS, f"session:{session}")
        before, seen_before = learned_records.ledger_of(known) if known else ([], [])
        kept = _newest([*before, *found])
        sighted = {
            (sighting.kind, sighting.name, sighting.id): sighting
            for sighting in [*seen_before, *seen]
        }.values()
        if not (found or seen or by_agents):
            return False
        orders = {**(known.extra.get(learned_records.ORDERS) or {} if known else {}), **told.orders}
        agents_before = learned_records.subagents_of(known) if known else []
        extra = {
            "tasks": [task.to_dict() for task in kept],
            "seen": [list(sighting) for sighting in sighted][-MOST_SEEN:],
            learned_records.SUBAGENTS: [
                task.to_dict() for task in _newest([*agents_before, *by_agents])
            ],
            learned_records.ORDERS: dict(list(orders.items())[-MOST_ORDERS:]),
        }
        key, text = f"session:{session}", _ledger_text(kept)
        record = CountedRecord(
            HEURISTICS, key, text, kind=learned_records.LEDGER, session=session, extra=extra
        )
        return _keep(ctx, asker, record, known)


def _newest(found: Sequence[outcomes.Task]) -> list[outcomes.Task]:
    """Return the newest tasks of a session, oldest first, each as it was measured last."""
    merged = {task.key: task for task in found}.values()
    return sorted(merged, key=lambda one: (one.at, one.key))[-PER_SESSION:]


def not_purged(
    ctx: Context, asker: ProjectAsker, session: str, turns: Sequence[tasks.TaskTurn]
) -> list[tasks.TaskTurn]:
    """Return the turns that the user did not have purged."""
    names = {tombstones.session_name(session), tombstones.project_name(asker.place.id)}
    names |= {f"exchange:{turn.key}" for turn in turns}
    blocked = ctx.state.blocked(names)
    until = max(
        (at for name, at in blocked.items() if not name.startswith("exchange:")), default=None
    )
    return [
        turn
        for turn in turns
        if f"exchange:{turn.key}" not in blocked and (until is None or turn.started_at > until)
    ]


def _measured(groups: Sequence[Sequence[tasks.TaskTurn]], session: str) -> list[outcomes.Task]:
    """Return the tasks in which anything was done."""
    following = [*(group[0].prompt for group in groups[1:]), ""]
    return [
        outcomes.measure(
            group, said, sorted(terms_of(tasks.asked(group))), session, _told(tasks.asked(group))
        )
        for group, said in zip(groups, following, strict=False)
        if any(turn.steps for turn in group)
    ]


def _told(prompt: str) -> str:
    """Return how a prompt begins, on one line, "" where it is no request or reads like an instruction to the model."""
    line = clip(" ".join(harmless.without_marked(tasks.request_of(prompt)).split()), ASKED_CHARS)
    return "" if suspicion.quoted(line) or line.startswith(("/", "! ", "<")) else line


def _ledger_text(kept: Sequence[outcomes.Task]) -> str:
    words = {True: "done", False: "not done", None: "open"}
    told = ", ".join(f"{one.kind} ({words[one.done]})" for one in kept[-12:])
    return f"Tasks of a session: {told}"


def _keep(ctx: Context, asker: ProjectAsker, record: CountedRecord, known: Memory | None) -> bool:
    """Store a record where it says anything new; return whether it did."""
    if known is not None and known.extra == record.extra:
        return False
    try:
        return counted_records.keep(ctx, asker, record) is not None
    except UnsafeTextError:
        ctx.count("texts_dropped")
        return False


# -- what is made of it --


def draw(ctx: Context, asker: ProjectAsker) -> None:
    """Make trails, things and the board of a project anew, and drop what is too old or too much."""
    now = ctx.now()
    heuristics = counted_records.of(asker, HEURISTICS, MOST_RECORDS)
    known, seen = _all_kept(
        ctx,
        asker,
        [heuristic for heuristic in heuristics if heuristic.kind == learned_records.LEDGER],
    )
    if not heuristics:
        return
    drawn = [trail for trail in trails.find(known, now) if _is_offered(asker, trail.commands)]
    habits = [
        habit if _is_offered(asker, [habit.command]) else replace(habit, end="")
        for habit in trouble.recurring(known)[:MOST_HABITS]
    ]
    things = [thing for thing in world.of(seen) if thing.is_worth_keeping][:MOST_THINGS]
    _keep_drawn(ctx, asker, WORLD, learned_records.THING, things)
    _keep_drawn(ctx, asker, TRAILS, learned_records.TRAIL, drawn)
    examples = [
        trajectory
        for trajectory in trajectories.find(known)
        if _is_offered(asker, trajectory.commands)
    ]
    examples = _with_outcomes(ctx, asker, examples, known)
    _keep_drawn(ctx, asker, TRAJECTORIES, learned_records.TRAJECTORY, examples)
    days, (done, undone) = [task.at[:10] for task in known], outcomes.evidence(known)
    board = learned_records.Board(
        tasks=len(known),
        done=done,
        undone=undone,
        sessions=len({task.session for task in known}),
        since=min(days, default=""),
        last=max(days, default=""),
        kinds=outcomes.by_kind(known),
        habits=habits,
        trails=[counted_records.id_of(asker.place, TRAILS, trail.key) for trail in drawn],
    )
    _keep_drawn(ctx, asker, HEURISTICS, learned_records.BOARD, [board])


def _with_outcomes(
    ctx: Context,
    asker: ProjectAsker,
    examples: Sequence[trajectories.Trajectory],
    known: Sequence[outcomes.Task],
) -> list[trajectories.Trajectory]:
    """Return examples with the tasks that they came into; what was counted before stays, as what sessions were
    shown is not known for long."""
    counted = {
        trajectory.id: dict(trajectory.tried)
        for trajectory in learned_records.trajectories_of(asker)
    }
    for id, task in came_into.tasks_of_shown(ctx, known) if counted else ():
        if id in counted:
            counted[id][task.key] = bool(task.done)
    ids = [counted_records.id_of(asker.place, TRAJECTORIES, example.key) for example in examples]
    return [one.with_tried(counted.get(id, {})) for id, one in zip(ids, examples, strict=True)]


def _is_offered(asker: ProjectAsker, commands: Sequence[str]) -> bool:
    """Whether these command lines may be told: nothing that the observer would flag is."""
    return offered_commands.are_harmless(commands, asker.place.root)


def _all_kept(
    ctx: Context, asker: ProjectAsker, ledgers: Sequence[Memory]
) -> tuple[list[outcomes.Task], list[world.Sighting]]:
    """Return a project's newest tasks, oldest first, each once: a fork of a session holds what was done
    before it, too; and what was seen. The oldest sessions are dropped where there are too many."""
    pairs = [(ledger, *learned_records.ledger_of(ledger)) for ledger in ledgers]
    pairs.sort(key=lambda pair: max((task.at for task in pair[1]), default=""), reverse=True)
    counted_records.drop(ctx, asker.own, [one for one, _, _ in pairs[MOST_SESSIONS:]])
    kept = pairs[:MOST_SESSIONS]
    ordered = sorted((task for _, some, _ in kept for task in some), key=lambda task: task.at)
    seen = [one for _, _, some in kept for one in some]
    return learned_records.each_once(ordered)[-MOST_TASKS:], seen


def _keep_drawn(
    ctx: Context,
    asker: ProjectAsker,
    collection: str,
    kind: str,
    drawn: Sequence[trails.Trail | trajectories.Trajectory | world.Thing | learned_records.Board],
) -> None:
    """Store what was made, each under its key, and drop what is not made any more."""
    records = counted_records.of(asker, collection, MOST_RECORDS, (kind,))
    # What somebody stored there stays.
    stored = {memory.id: memory for memory in records if memory.origin is Origin.JOB}
    for one in drawn:
        id = counted_records.id_of(asker.place, collection, one.key)
        extra = {**asdict(one), "id": id}
        record = CountedRecord(collection, one.key, one.text, kind=kind, extra=extra)
        _keep(ctx, asker, record, stored.pop(id, None))
    counted_records.drop(ctx, asker.own, list(stored.values()))


# -- what a person sees --


@dataclass(frozen=True)
class LessonsAnswer:
    """What was learned in a project.

    Attributes:
        kinds: how tasks of each kind went, the most frequent first, as their records have it.
        trouble: what went wrong several times, likewise.
        trails: steps that work.
        things: the state of what work depends on, the last seen first.
    """

    project: str
    tasks: learned_records.TaskFigures
    kinds: list[outcomes.KindCount]
    trouble: list[trouble.Habit]
    trails: list[trails.Trail]
    things: list[world.Thing]


def show(ctx: Context, request: messages.Request) -> LessonsAnswer:
    """Return what was learned in a project: trails, usual trouble, the state of things."""
    asker = asker_in(ctx, messages.place_of(ctx, request) or ctx.place(request.base))
    board, now = learned_records.board_of(guidance.board_record(asker)), ctx.now()
    drawn = learned_records.trails_of(asker, board.trails)
    alive = [trail for trail in drawn if trail.strength_at(now) >= trails.FLOOR]
    things = learned_records.things_of(
        counted_records.of(asker, WORLD, MOST_RECORDS, (learned_records.THING,))
    )
    return LessonsAnswer(
        project=asker.place.name,
        tasks=board.figures,
        kinds=board.kinds,
        trouble=board.habits,
        trails=[replace(trail, strength=round(trail.strength_at(now), 2)) for trail in alive],
        things=sorted(things, key=lambda thing: thing.last, reverse=True),
    )
