"""What is learned from how work went: tasks of a session, trails, the state of things, and what of it a
session is told at its start.

All of it is made anew from one record of each session: its tasks, known by the name of the prompt that began
them, and what was seen in it, known by its time. So nothing counts twice, however often a
transcript is read and wherever the last reading was cut off; and what is forgotten or purged of them is gone
from what is made of them with the next turn.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace

from vector_memory.index.cursor import Cursor, Position
from vector_memory.index.exchanges import Exchange
from vector_memory.index.reader import TurnRead, read_exchanges, session_and_folder
from vector_memory.model import (
    HEURISTICS,
    LIVING,
    PASSAGE,
    TRAILS,
    TRAJECTORIES,
    WORLD,
    Memory,
    Origin,
    Scope,
    Sensitivity,
)
from vector_memory.observe.learning import outcomes, tasks, trails, trajectories, trouble, world
from vector_memory.observe.learning.outcomes import Task
from vector_memory.observe.learning.trajectories import Trajectory
from vector_memory.observe.learning.world import Sighting
from vector_memory.service.base import messages, privacy
from vector_memory.service.base.asker import ProjectAsker, asker_at, asker_in
from vector_memory.service.base.context import Context
from vector_memory.service.base.offered_commands import are_harmless
from vector_memory.service.learning import counted_records, learned_records
from vector_memory.service.learning.counted_records import CountedRecord
from vector_memory.service.learning.learned_records import Board, SessionLedger
from vector_memory.service.learning.observed_calls import cleaner, harvest
from vector_memory.service.memory import tombstones
from vector_memory.service.memory.exchange_versions import exchange_of
from vector_memory.system.files import with_real_folder

log = logging.getLogger(__name__)

MOST_SESSIONS, MOST_TASKS, MOST_THINGS, MOST_HABITS = 150, 400, 300, 6
_one_at_a_time = threading.Lock()
"""Held from reading a transcript to noting how far it was read."""


def learn_all(
    ctx: Context,
    transcripts: Sequence[tuple[str, str]],
    final: bool = True,
    turn: TurnRead | None = None,
) -> None:
    """Learn from several transcripts, each with its session's folder or "". One from which nothing can be learned
    keeps none of the others from it.

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
        with _logging_errors(path):
            asker = _learn_one(ctx, with_real_folder(path), folder, final, turn)
            if asker is not None:
                changed[asker.place.id] = asker
    for asker in changed.values():
        # Should it fail, what it is made of is stored: the next turn makes it.
        with (
            _logging_errors(asker.place.root),
            privacy.for_folder(ctx, asker.place.tree),
            ctx.capturing,
        ):
            redraw_records(ctx, asker)


@contextmanager
def _logging_errors(where: str) -> Iterator[None]:
    """Log what goes wrong."""
    try:
        yield
    except Exception as error:
        log.warning("nothing is learned from %s now: %r", where, error)


def _learn_one(
    ctx: Context, path: str, folder: str, final: bool, turn: TurnRead | None
) -> ProjectAsker | None:
    """Return the project about which something was learned, None for none."""
    session, cwd = (turn.session, turn.cwd) if turn else session_and_folder(path)
    folder = folder or cwd or "/"
    asker = asker_at(ctx, folder)
    if asker is None:
        return None
    with privacy.for_folder(ctx, folder, privacy.ran_under(ctx, path)), _one_at_a_time:
        cursor = Cursor.from_dict(ctx.state.cursor(path) or {})
        exchanges = _exchanges_after(turn, cursor) if turn else None
        if exchanges is None:
            exchanges = read_exchanges(path, cursor, final=final)
        turns = harvest(exchanges, cleaner())
        if not turns:
            return None
        is_new = _store(ctx, asker, session, turns)
        session_turns = [turn for turn in turns if not turn.order]
        key = tasks.group(session_turns)[-1][0].key if session_turns else turns[0].key
        positions = (exchange.position for exchange in exchanges if exchange.key == key)
        _note_position(ctx, path, next(positions))
    return asker if is_new or final else None


def _exchanges_after(turn: TurnRead, cursor: Cursor) -> list[Exchange] | None:
    """Return what was read of a transcript from where lessons begin again; None where that was read by
    another process, or lies before what was read."""
    if turn.exchanges is None or not turn.reaches_back or cursor.lessons < turn.cursor.lessons:
        return None
    return [exchange for exchange in turn.exchanges if exchange.position >= cursor.lessons]


def _note_position(ctx: Context, path: str, place: Position) -> None:
    """Note where lessons begin again. Nothing else of a cursor changes, which may have moved meanwhile."""
    with ctx.capturing:
        cursor = Cursor.from_dict(ctx.state.cursor(path) or {})
        if cursor.lessons != place:
            ctx.state.set_cursor(path, replace(cursor, lessons=place).to_dict())


def _store(
    ctx: Context, asker: ProjectAsker, session: str, turns: Sequence[tasks.TaskTurn]
) -> bool:
    """Keep what a transcript tells; return whether any of it was new. Nothing is purged meanwhile."""
    with ctx.capturing:
        kept_turns = teaching(ctx, asker, session, turns)
        own_turns = [turn for turn in kept_turns if not turn.order]
        ordered = [turn for turn in kept_turns if turn.order]
        ledger = SessionLedger(
            outcomes.of_turns(own_turns, session),
            list(world.seen_in(own_turns)),
            [task for turn in ordered for task in outcomes.of_turns([turn], session)],
            dict(pair for turn in turns for pair in turn.orders),
        )
        if not (ledger.tasks or ledger.seen or ledger.subagents):
            return False
        stored = learned_records.ledger_of(asker, session)
        return stored.with_more(ledger).keep(ctx, asker, f"session:{session}", session)


def teaching(
    ctx: Context, asker: ProjectAsker, session: str, turns: Sequence[tasks.TaskTurn]
) -> list[tasks.TaskTurn]:
    """Return the turns that the user did not have purged, and of which nothing is restricted."""
    whole_names = {tombstones.session_name(session), tombstones.project_name(asker.place.id)}
    blocked = ctx.state.blocked(
        whole_names | {tombstones.exchange_name(turn.key) for turn in turns}
    )
    passages = Scope(sessions=(session,), kinds=(PASSAGE,), levels=(Sensitivity.RESTRICTED,))
    withheld = {
        exchange_of(passage.external_id)
        for passage in asker.own_shelf.journal.iter_memories(passages, statuses=LIVING)
    }
    purged_until = max((at for name, at in blocked.items() if name in whole_names), default=None)
    return [
        turn
        for turn in turns
        if tombstones.exchange_name(turn.key) not in blocked
        and turn.key not in withheld
        and (purged_until is None or turn.started_at > purged_until)
    ]


# -- what is made of it --


def redraw_records(ctx: Context, asker: ProjectAsker) -> None:
    """Make trails, things, examples and the board of a project anew, and drop what is too old or too much."""
    now, root = ctx.now(), asker.place.root
    kept_tasks, seen, outdated = tasks_and_sightings(asker)
    counted_records.drop(ctx, asker.own_shelf, outdated)
    if not (kept_tasks or seen or learned_records.board_of(asker).id):
        return
    # Nothing that the observer would flag is told.
    habits = [
        habit if are_harmless([habit.command], root) else replace(habit, end="")
        for habit in trouble.recurring(kept_tasks)[:MOST_HABITS]
    ]
    lasting = [thing for thing in world.things_of(seen) if thing.is_worth_keeping][:MOST_THINGS]
    drawn = [trail for trail in trails.find(kept_tasks, now) if are_harmless(trail.commands, root)]
    examples = [
        example for example in trajectories.find(kept_tasks) if are_harmless(example.commands, root)
    ]
    examples = _with_outcomes(ctx, asker, examples, kept_tasks)
    _keep_drawn(ctx, asker, WORLD, learned_records.THING, lasting)
    _keep_drawn(ctx, asker, TRAILS, learned_records.TRAIL, drawn)
    _keep_drawn(ctx, asker, TRAJECTORIES, learned_records.TRAJECTORY, examples)
    board = Board(
        len(kept_tasks), max((task.at[:10] for task in kept_tasks), default=""), habits=habits
    )
    _keep_drawn(ctx, asker, HEURISTICS, learned_records.BOARD, [board])


def tasks_and_sightings(asker: ProjectAsker) -> tuple[list[Task], list[Sighting], list[Memory]]:
    """Return a project's newest tasks, oldest first, each once, what was seen, and the records of the oldest sessions
    where there are too many."""
    pairs = learned_records.ledgers([asker.own_shelf], (asker.place.id,))
    ordered = sorted(pairs, key=lambda pair: pair[1].ended_at, reverse=True)
    newest = [ledger for _, ledger in ordered[:MOST_SESSIONS]]
    tasks = sorted((task for ledger in newest for task in ledger.tasks), key=lambda task: task.at)
    seen = [sighting for ledger in newest for sighting in ledger.seen]
    outdated = [record for record, _ in ordered[MOST_SESSIONS:]]
    return learned_records.each_once(tasks)[-MOST_TASKS:], seen, outdated


def _with_outcomes(
    ctx: Context, asker: ProjectAsker, examples: Sequence[Trajectory], kept_tasks: Sequence[Task]
) -> list[Trajectory]:
    """Return examples with the tasks that they came into; what was counted before stays, as what sessions were
    shown is not known for long."""
    tried = {
        trajectory.id: dict(trajectory.tried)
        for trajectory in learned_records.trajectories_of(asker)
    }
    for id, task in learned_records.tasks_of_shown(ctx, kept_tasks) if tried else ():
        if id in tried:
            tried[id][task.key] = bool(task.done)
    ids = [counted_records.id_of(asker.place, TRAJECTORIES, example.key) for example in examples]
    return [
        example.with_tried(tried.get(id, {})) for id, example in zip(ids, examples, strict=True)
    ]


def _keep_drawn(
    ctx: Context,
    asker: ProjectAsker,
    collection: str,
    kind: str,
    drawn: Sequence[trails.Trail | Trajectory | world.Thing | Board],
) -> None:
    """Store what was made, each under its key, and drop what is not made any more."""
    records = counted_records.counted_records_of(
        asker, collection, learned_records.MOST_RECORDS, (kind,)
    )
    # What somebody stored there stays.
    outdated = {memory.id: memory for memory in records if memory.origin is Origin.JOB}
    for item in drawn:
        id = counted_records.id_of(asker.place, collection, item.key)
        outdated.pop(id, None)
        record = CountedRecord(
            collection, item.key, item.text, kind=kind, extra={**asdict(item), "id": id}
        )
        counted_records.keep_new(ctx, asker, record)
    counted_records.drop(ctx, asker.own_shelf, list(outdated.values()))


# -- what a person sees --


def show(ctx: Context, request: messages.Request) -> dict[str, object]:
    """Return what was learned in a `project`: how many `tasks` were done, and how those of each kind went, the most
    frequent first (`kinds`); what went wrong several times, as its record has it (`trouble`); steps that work
    (`trails`); and the state of what work depends on, the last seen first (`things`)."""
    asker = asker_in(ctx, messages.place_of(ctx, request) or ctx.place(request.base))
    now = ctx.now()
    kept_tasks, alive = tasks_and_sightings(asker)[0], learned_records.trails_of(asker, now)
    return {
        "project": asker.place.name,
        "tasks": outcomes.figures(kept_tasks),
        "kinds": outcomes.by_kind(kept_tasks),
        "trouble": learned_records.board_of(asker).habits,
        "trails": [replace(trail, strength=round(trail.strength_at(now), 2)) for trail in alive],
        "things": learned_records.things_of(asker),
    }
