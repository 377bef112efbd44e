"""What is learned from how work went: tasks of a session, trails, the state of things, and what of it a
session is told at its start.

All of it is made anew from two kinds of records: the tasks of each session, known by the name of the prompt
that began them, and the sightings of each thing, known by the call that showed it. So nothing counts twice,
however often a transcript is read and wherever the last reading was cut off; and what is forgotten or
purged of them is gone from what is made of them with the next turn.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from vector_memory.errors import UnsafeTextError
from vector_memory.index.cursor import Cursor, Position
from vector_memory.index.exchanges import Exchange
from vector_memory.index.fixes.commands import family
from vector_memory.index.reader import TurnRead, head_of, read_exchanges
from vector_memory.index.topics.turns import terms_of
from vector_memory.model import HEURISTICS, TRAILS, WORLD, Memory
from vector_memory.observe.learning import outcomes, tasks, trails
from vector_memory.observe.learning import things as world
from vector_memory.observe.learning.outcomes import Habit, KindCount, Task
from vector_memory.observe.learning.tasks import TaskTurn
from vector_memory.observe.learning.things import Sighting, Thing
from vector_memory.observe.learning.trails import Trail
from vector_memory.redact import policy
from vector_memory.service.base import messages, privacy
from vector_memory.service.base.asker import ProjectAsker, asker_at, asker_in
from vector_memory.service.base.context import Context
from vector_memory.service.learning import counted_records, guidance, learned_records
from vector_memory.service.learning.learned_records import Board, TaskFigures
from vector_memory.service.learning.observed_steps import Harvest, cleaner, harvest
from vector_memory.service.memory import tombstones
from vector_memory.system.files import with_real_folder

log = logging.getLogger(__name__)

PER_SESSION, MOST_SESSIONS, MOST_TASKS, MOST_THINGS = 60, 150, 400, 300
MOST_EDITS, MOST_HABITS = 40, 6
MOST_RECORDS = 2_000
_one_at_a_time = threading.Lock()
"""Held from reading a transcript to noting how far it was read."""


def learn(ctx: Context, path: str, folder: str = "", final: bool = False) -> None:
    """Learn from what is new in a transcript. What cannot be read or stored now is tried again with the
    next turn: how far it was read is noted last.

    Args:
        folder: the session's folder; what the transcript says is used without it.
        final: the session is over: what is still open is complete.
    """
    learn_all(ctx, [(path, folder)], final)


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
                _draw(ctx, asker)
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
    configurations = (*policy.configurations(), *policy.configuration_of(path))
    with privacy.for_folder(ctx, folder, configurations), _one_at_a_time:
        cursor = Cursor.from_dict(ctx.state.cursor(path) or {})
        exchanges = _after(turn, cursor) if turn else None
        if exchanges is None:
            exchanges = read_exchanges(path, cursor, final=final)
        told = harvest(exchanges, cleaner())
        if not told.turns:
            return None
        changed = _store(ctx, asker, session, told)
        first = tasks.group(told.turns)[-1][0]
        _begin_again(ctx, path, next(one for one in exchanges if one.key == first.key).position)
    return asker if changed or final else None


def _after(turn: TurnRead, cursor: Cursor) -> list[Exchange] | None:
    """Return what was read of a transcript from where lessons begin again; None where that was read by
    another process, or lies before what was read."""
    if turn.exchanges is None or not turn.reaches_back or cursor.lessons < turn.cursor.lessons:
        return None
    return [one for one in turn.exchanges if one.position >= cursor.lessons]


def _begin_again(ctx: Context, path: str, place: Position) -> None:
    """Note where lessons begin again. Nothing else of a cursor changes, which may have moved meanwhile."""
    with ctx.capturing:
        cursor = Cursor.from_dict(ctx.state.cursor(path) or {})
        if cursor.lessons != place:
            ctx.state.set_cursor(path, replace(cursor, lessons=place).to_dict())


def _store(ctx: Context, asker: ProjectAsker, session: str, told: Harvest) -> bool:
    """Keep what a transcript tells; return whether any of it was new. Nothing is purged meanwhile."""
    with ctx.capturing:
        turns = _not_purged(ctx, asker, session, told.turns)
        keys = {turn.key[:16] for turn in turns}
        seen = [one for one in told.sightings if one.id.partition(":")[0] in keys]
        changed = _keep_tasks(ctx, asker, session, _measured(tasks.group(turns), session))
        return _keep_things(ctx, asker, seen, session) or changed


def _not_purged(
    ctx: Context, asker: ProjectAsker, session: str, turns: Sequence[TaskTurn]
) -> list[TaskTurn]:
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


def _measured(groups: Sequence[Sequence[TaskTurn]], session: str) -> list[Task]:
    """Return the tasks in which anything was done."""
    following = [*(group[0].prompt for group in groups[1:]), ""]
    return [
        outcomes.measure(group, said, sorted(terms_of(tasks.asked(group))), session)
        for group, said in zip(groups, following, strict=False)
        if any(turn.steps for turn in group)
    ]


# -- what is kept --


def _keep_tasks(ctx: Context, asker: ProjectAsker, session: str, found: Sequence[Task]) -> bool:
    if not found:
        return False
    key = f"session:{session}"
    known = counted_records.get(asker, HEURISTICS, key)
    before = learned_records.tasks_of(known) if known else []
    merged = {one.key: one for one in [*before, *found]}
    kept = sorted(merged.values(), key=lambda one: (one.at, one.key))[-PER_SESSION:]
    return _keep(
        ctx,
        asker,
        counted_records.Record(
            HEURISTICS,
            key,
            _ledger_text(kept),
            kind=learned_records.LEDGER,
            session=session,
            extra={"tasks": [one.to_dict() for one in kept]},
        ),
        known,
    )


def _ledger_text(kept: Sequence[Task]) -> str:
    words = {True: "done", False: "not done", None: "open"}
    told = ", ".join(f"{one.kind} ({words[one.done]})" for one in kept[-12:])
    return f"Tasks of a session: {told}"


def _keep_things(ctx: Context, asker: ProjectAsker, seen: Sequence[Sighting], session: str) -> bool:
    """Keep what was seen; of commands those that check something, and others once they come again."""
    if not seen:
        return False
    keys = {f"{one.kind}:{one.name}" for one in seen}
    ids = {counted_records.id_of(asker.place, WORLD, key): key for key in keys}
    stored = asker.own.journal.by_ids(list(ids))
    known = {key: stored[id] for id, key in ids.items() if id in stored}
    things = {
        key: thing for key, memory in known.items() if (thing := learned_records.thing_of(memory))
    }
    for one in sorted(seen, key=lambda each: (each.at, each.id)):
        key = f"{one.kind}:{one.name}"
        things[key] = world.with_sighting(things.get(key), one)
    changed = False
    for key, thing in things.items():
        if key in known or _is_worth(thing):
            record = counted_records.Record(
                WORLD,
                key,
                thing.text,
                kind=learned_records.THING,
                session=session,
                extra=thing.to_dict(),
            )
            changed |= _keep(ctx, asker, record, known.get(key))
    return changed


def _is_worth(thing: Thing) -> bool:
    return (
        thing.kind != world.COMMAND or len(thing.seen) > 1 or outcomes.is_check(family(thing.name))
    )


def _keep(
    ctx: Context, asker: ProjectAsker, record: counted_records.Record, known: Memory | None
) -> bool:
    """Store a record where it says anything new; return whether it did."""
    if known is not None and known.extra == record.extra:
        return False
    try:
        return counted_records.keep(ctx, asker, record) is not None
    except UnsafeTextError:
        ctx.count("texts_dropped")
        return False


# -- what is made of it --


def _draw(ctx: Context, asker: ProjectAsker) -> None:
    """Make trails, counts and the board of a project anew, and drop what is too old or too much."""
    now = ctx.now()
    heuristics = counted_records.of(asker, HEURISTICS, MOST_RECORDS)
    known = _all_tasks(
        ctx, asker, [one for one in heuristics if one.kind == learned_records.LEDGER]
    )
    things = _living_things(ctx, asker)
    if not (known or things or heuristics):
        return
    drawn = trails.find(known, now)
    ids = _keep_trails(ctx, asker, drawn)
    counts = outcomes.by_kind(known)
    for one in counts:
        key = f"kind:{one.kind}"
        record = counted_records.Record(
            HEURISTICS, key, one.text, kind=learned_records.KIND, extra=dict(one.__dict__)
        )
        _keep(ctx, asker, record, counted_records.get(asker, HEURISTICS, key))
    told = {f"kind:{one.kind}" for one in counts}
    stale = [
        one
        for one in heuristics
        if one.kind == learned_records.KIND and f"kind:{one.extra.get('kind')}" not in told
    ]
    counted_records.drop(ctx, asker.own, stale)
    _keep_board(ctx, asker, known, counts, things, ids, now)


def _all_tasks(ctx: Context, asker: ProjectAsker, ledgers: Sequence[Memory]) -> list[Task]:
    """Return a project's newest tasks, oldest first, each once: a fork of a session holds what was done
    before it, too. The oldest sessions are dropped where there are too many."""
    by_session = [(one, learned_records.tasks_of(one)) for one in ledgers]
    by_session.sort(key=lambda pair: max((task.at for task in pair[1]), default=""), reverse=True)
    counted_records.drop(ctx, asker.own, [one for one, _ in by_session[MOST_SESSIONS:]])
    found: dict[str, Task] = {}
    for _, some in by_session[:MOST_SESSIONS]:
        for task in some:
            other = found.get(task.key)
            if other is None or other.at < task.at:
                found[task.key] = task
    return sorted(found.values(), key=lambda one: (one.at, one.key))[-MOST_TASKS:]


def _living_things(ctx: Context, asker: ProjectAsker) -> list[Thing]:
    """Return the things of a project, last seen first; the rest of too many are dropped."""
    pairs = [
        (memory, thing)
        for memory in counted_records.of(asker, WORLD, MOST_RECORDS, (learned_records.THING,))
        if (thing := learned_records.thing_of(memory))
    ]
    pairs.sort(key=lambda pair: (pair[1].last_at, pair[1].key), reverse=True)
    counted_records.drop(ctx, asker.own, [memory for memory, _ in pairs[MOST_THINGS:]])
    return [thing for _, thing in pairs[:MOST_THINGS]]


def _keep_trails(ctx: Context, asker: ProjectAsker, drawn: Sequence[Trail]) -> list[str]:
    """Store the trails that are alive, drop those that evaporated, and return the ids of the former."""
    stored = {
        one.id: one
        for one in counted_records.of(asker, TRAILS, MOST_RECORDS, (learned_records.TRAIL,))
    }
    ids = []
    for one in drawn:
        id = counted_records.id_of(asker.place, TRAILS, one.key)
        text = f"Steps that work for {trails.NAMES.get(one.kind, one.kind)} here: {one.path}"
        record = counted_records.Record(
            TRAILS, one.key, text, kind=learned_records.TRAIL, extra=learned_records.extra_of(one)
        )
        _keep(ctx, asker, record, stored.get(id))
        ids.append(id)
    gone = [memory for id, memory in stored.items() if id not in ids]
    counted_records.drop(ctx, asker.own, gone)
    return ids


def _keep_board(
    ctx: Context,
    asker: ProjectAsker,
    known: Sequence[Task],
    counts: Sequence[outcomes.KindCount],
    things: Sequence[Thing],
    trail_ids: Sequence[str],
    now: datetime,
) -> None:
    """Keep what hooks tell: they read this record and those that it names, and search for nothing."""
    odd = world.unresolved(things, now)
    edits = [(file, task.at) for task in known for file in task.files if task.done is not None]
    done, undone = outcomes.evidence(known)
    board = Board(
        tasks=len(known),
        done=done,
        undone=undone,
        sessions=len({one.session for one in known}),
        since=min((one.at for one in known), default="")[:10],
        last=max((one.at for one in known), default="")[:10],
        habits=outcomes.habits(known)[:MOST_HABITS],
        weak=outcomes.weak_kinds(counts),
        odd=[one.key for one in odd][:MOST_HABITS],
        trails=list(trail_ids),
        edits=[list(one) for one in edits[-MOST_EDITS:]],
    )
    record = counted_records.Record(
        HEURISTICS,
        learned_records.BOARD,
        "How work went in this project",
        kind=learned_records.BOARD,
        extra=asdict(board),
    )
    _keep(ctx, asker, record, counted_records.get(asker, HEURISTICS, learned_records.BOARD))


# -- what a person sees --


@dataclass(frozen=True)
class TrailView:
    """Steps that worked: in `won` of `n` tasks of a kind, in so many sessions.

    Attributes:
        strength: how much it counts now, less with every day on which it was not gone.
    """

    id: str
    text: str
    kind: str
    n: int
    won: int
    sessions: int
    strength: float
    last: str


@dataclass(frozen=True)
class ThingView:
    """A command, a file or the like, and the state that it was seen in last.

    Attributes:
        seen: how often it was seen; `same` so often in a row in this state, since `since`.
        usual: the state that could be relied on before, "" for none.
        seconds: how long the command usually takes, 0 where that is not known.
        surprise: it is in another state than usual.
    """

    id: str
    kind: str
    name: str
    state: str
    text: str
    seen: int
    same: int
    usual: str
    last: datetime
    since: datetime
    seconds: float
    surprise: bool


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
    tasks: TaskFigures
    kinds: list[KindCount]
    trouble: list[Habit]
    trails: list[TrailView]
    things: list[ThingView]


def show(ctx: Context, request: messages.Request) -> LessonsAnswer:
    """Return what was learned in a project: trails, usual trouble, the state of things."""
    asker = asker_in(ctx, messages.place_of(ctx, request) or ctx.place(request.base))
    board = learned_records.board_of(guidance.board(asker))
    records = counted_records.of(asker, HEURISTICS, MOST_RECORDS, (learned_records.KIND,))
    kinds = [kind for record in records if (kind := learned_records.kind_of(record))]
    return LessonsAnswer(
        project=asker.place.name,
        tasks=board.figures,
        kinds=sorted(kinds, key=lambda kind: -kind.n),
        trouble=board.habits,
        trails=_trail_views(ctx, asker, board.trails),
        things=_thing_views(ctx, asker),
    )


def _trail_views(ctx: Context, asker: ProjectAsker, ids: Sequence[str]) -> list[TrailView]:
    """Return the trails of these ids that have not evaporated."""
    now = ctx.now()
    return [
        TrailView(
            id=id,
            text=trails.advice(trail),
            kind=trail.kind,
            n=trail.n,
            won=trail.won,
            sessions=trail.sessions,
            strength=round(trail.strength_at(now), 2),
            last=trail.last,
        )
        for id, trail in learned_records.trails_of(asker, ids)
        if trail.strength_at(now) >= trails.FLOOR
    ]


def _thing_views(ctx: Context, asker: ProjectAsker) -> list[ThingView]:
    """Return the state of a project's things, the last seen first."""
    views = []
    for memory in counted_records.of(asker, WORLD, MOST_RECORDS, (learned_records.THING,)):
        thing = learned_records.thing_of(memory)
        if thing is not None:
            view = ThingView(
                id=memory.id,
                kind=thing.kind,
                name=thing.name,
                state=thing.state,
                text=world.news(thing) if thing.is_surprise else thing.text,
                seen=len(thing.seen),
                same=thing.streak,
                usual=thing.usual,
                last=thing.last_at,
                since=thing.since,
                seconds=world.usual_seconds(thing),
                surprise=thing.is_surprise,
            )
            views.append(view)
    return sorted(views, key=lambda view: view.last.isoformat(), reverse=True)
