"""`wrapup`: what a session did, what it leaves and what was learned in it, before one leaves it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from vector_memory.model import EPISODES, PASSAGE, Memory, Scope, unique
from vector_memory.observe.learning import outcomes
from vector_memory.observe.learning.outcomes import Task
from vector_memory.observe.learning.trouble import Habit
from vector_memory.service.base import messages
from vector_memory.service.base.asker import ProjectAsker
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import each_of
from vector_memory.service.edit.remember import REQUESTED_IN
from vector_memory.service.learning import learned_records, lessons
from vector_memory.service.memory import last_session
from vector_memory.service.memory.views import memory_view
from vector_memory.service.think import ledger

LEARNED = ("decision", "preference", "learning", "procedure", "cause", "conclusion", "solution")
"""Kinds of what a session has taught, those that weigh most first."""
MOST_LEARNED, MOST_LEFT, MOST_FILES, MOST_TROUBLE, LOOKED_AT = 12, 8, 20, 12, 2_000
ASKED_CHARS, SAME_CHARS = 200, 60


class WrapupRequest(ledger.WorkRequest):
    """What came of a session? `session` is its id; the project's last one by default."""


def wrapup(ctx: Context, request: WrapupRequest) -> dict[str, object]:
    """Return what came of a session of a project.

    Raises:
        BadInputError: no project is asked about.

    Returns:
        The `project` and the `session`; whether the session is `known` here, though there may be nothing of it yet; its
        tasks in order (`done`); how many tasks its `subagents` did; the `files` that it changed; what it leaves to do
        or to answer (`left`); what was decided, found out or told to be remembered (`learned`: decisions first, and of
        each kind the newest); the `trouble` it met; the figures of the whole project, this session in them
        (`lessons`); and how many of its memories wait for the user to decide (`waits`).
    """
    asker = ledger.project_of(ctx, request)
    scope = replace(asker.scope, projects=(asker.place.id,))
    newest = next(last_session.newest_of_sessions(asker.shelves, scope), None)
    session = newest[1].source.session if newest else ""
    if request.session:
        session = messages.named_sessions(asker.shelves, [request.session])[0]
    session_ledger = learned_records.ledger_of(asker, session)
    session_scope = replace(scope, sessions=(session,))
    stored = asker.own_shelf.journal.iter_memories(
        session_scope, newest_first=True, limit=LOOKED_AT
    )
    memories = list(stored) if session else []
    titles = {
        memory.external_id.rpartition(":")[0]: memory.title
        for memory in memories
        if memory.kind == PASSAGE
    }
    learned, habits = (
        _learned_memories(asker, memories, session),
        learned_records.board_of(asker).habits,
    )
    names = asker.names
    settled = [memory for memory in learned if not memory.is_held][:MOST_LEARNED]
    return {
        "project": asker.place.name,
        "session": session,
        "known": bool(memories) or ctx.running.knows(session),
        "done": [_task_view(task, titles) for task in session_ledger.tasks],
        "subagents": len(session_ledger.subagents),
        "files": list(unique(file for task in session_ledger.tasks for file in task.files))[
            :MOST_FILES
        ],
        "left": [memory_view(memory, names) for memory in _open_memories(asker, scope, session)],
        "learned": [memory_view(memory, names) for memory in settled],
        "trouble": _trouble_views(session_ledger.tasks, habits),
        "lessons": outcomes.figures(lessons.tasks_and_sightings(asker)[0]),
        "waits": sum(memory.is_held for memory in learned),
    }


def _learned_memories(
    asker: ProjectAsker, memories: Iterable[Memory], session: str
) -> list[Memory]:
    """Return what was decided or found in the session's talk, and what was told to be remembered in it."""
    recent = each_of(asker.shelves, lambda journal: journal.recent(asker.scope, LOOKED_AT))
    remembered = (
        memory for memory in recent if session and memory.extra.get(REQUESTED_IN) == session
    )
    # An error with what ended it stands among the session's trouble.
    decided = (
        memory for memory in memories if memory.kind in LEARNED and memory.collection != EPISODES
    )
    chosen: list[Memory] = []
    for memory in (*remembered, *decided):
        # What was said once more, at greater length, is no second thing that was learned.
        if not any(memory.text[:SAME_CHARS] in other.text for other in chosen):
            chosen.append(memory)
    ranks = {kind: rank for rank, kind in enumerate(LEARNED)}
    return sorted(chosen, key=lambda memory: ranks.get(memory.kind, 0))


def _open_memories(asker: ProjectAsker, scope: Scope, session: str) -> list[Memory]:
    passage_scope, shelves = replace(scope, sessions=(session,), kinds=(PASSAGE,)), asker.shelves
    newest = [
        (shelf, memory)
        for shelf in shelves
        for memory in shelf.journal.recent(passage_scope, 1, cold=True)
    ]
    ends = [last_session.end_of(shelf, scope, memory) for shelf, memory in newest if session]
    return last_session.left_open(shelves, scope, [end for end in ends if end], MOST_LEFT)


def _task_view(task: Task, titles: dict[str, str]) -> dict[str, object]:
    """Return a task of the session, with how it was asked for, "" where that is not stored."""
    title = " ".join(titles.get(task.key, "").split())[:ASKED_CHARS]
    names = ("kind", "done", "sure", "errors", "minutes", "files")
    return {"title": title, **{name: getattr(task, name) for name in names}}


def _trouble_views(tasks: Sequence[Task], habits: Iterable[Habit]) -> list[dict[str, object]]:
    """Return each error that came in the session, what ended it ("" for nothing), and in how many tasks of the
    project it has come, as `lessons` has it; 0 where it is new."""
    counts = Counter({habit.sign: habit.n for habit in habits})
    met = {trouble.sign: trouble for task in tasks for trouble in task.trouble}
    by_count = sorted(met.values(), key=lambda trouble: -counts[trouble.sign])
    return [
        {"line": trouble.line, "end": trouble.end, "n": counts[trouble.sign]}
        for trouble in by_count[:MOST_TROUBLE]
    ]
