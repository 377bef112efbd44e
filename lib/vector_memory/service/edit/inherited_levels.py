"""When a memory becomes more sensitive, whatever repeats its words becomes so, too, or is removed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import replace

from vector_memory.model import DERIVED, LIVING, Memory, Scope, Sensitivity, strictest
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.capture import archives, session_summary, step_log
from vector_memory.service.learning import learned_records
from vector_memory.service.memory.companions import companions, drawn_from, repeating
from vector_memory.service.memory.views import BriefView, brief

SHOWN_CHARS = 300


def keep_level(
    ctx: Context, shelf: Shelf, memory: Memory, was: Memory, *, is_agent: bool
) -> list[BriefView]:
    """Where a memory became more sensitive, raise all that repeats its words to its level: what was captured of its
    exchange, what gave way to it, what holds its whole text in any store, and the topics and summaries over the turns
    of all these. The daily notes of their sessions follow. Where it is restricted now, what was
    learned from their sessions is removed.

    Args:
        shelf: its store.
        was: the memory as it was before.
        is_agent: an agent asks: only what was made of this memory is raised. Else an agent could hide the user's own
            rules by storing a few of their words.

    Returns:
        What has become more sensitive with it.
    """
    if strictest(memory.sensitivity, was.sensitivity) is was.sensitivity:
        return []
    raised: list[Memory] = []
    sessions: set[str] = set()
    for each_shelf in [shelf] if is_agent else ctx.every_shelf():
        telling = [] if is_agent else repeating(each_shelf, [memory, was])
        if each_shelf is shelf:
            telling += [
                memory,
                *(
                    drawn_from(each_shelf, [memory])
                    if is_agent
                    else _same_exchange(each_shelf, memory)
                ),
            ]
        telling += _overviews(each_shelf, telling)
        lifted = {
            other.id: replace(other, sensitivity=memory.sensitivity)
            for other in telling
            if strictest(other.sensitivity, memory.sensitivity) is not other.sensitivity
        }
        each_shelf.journal.write(
            [], list(lifted.values()), [], {other.id: other for other in telling}
        )
        raised += lifted.values()
        sessions |= {other.source.session for other in telling if other.source.session}
        if memory.sensitivity is Sensitivity.RESTRICTED:
            _unlearn(ctx, each_shelf, telling)
    ctx.changed()
    session_summary.note_levels(ctx, sorted(sessions))
    return [brief(BriefView, other, text=other.text[:SHOWN_CHARS]) for other in raised]


def _same_exchange(shelf: Shelf, memory: Memory) -> list[Memory]:
    """Return all that was captured of a memory's exchange, which has its prompt as the title, and what gave way to it."""
    is_captured = memory.is_captured and memory.kind not in DERIVED
    turn = shelf.journal.of_turn(memory.source, memory.project, LIVING) if is_captured else []
    captured = [other for other in turn if other.kind not in DERIVED]
    return [*captured, *companions(shelf, [memory, *captured])]


def _overviews(shelf: Shelf, telling: Sequence[Memory]) -> list[Memory]:
    """Return the topics and summaries over the turns from which some memories were captured."""
    turns = {
        (memory.project, memory.source.session, memory.source.turn)
        for memory in telling
        if memory.source.session and memory.kind not in DERIVED
    }
    derived: list[Memory] = []
    for project, session, turn in turns:
        scope = Scope(projects=(project,), sessions=(session,), kinds=DERIVED)
        for memory in shelf.journal.iter_memories(scope, statuses=LIVING):
            first, last = memory.extra.get("turns") or (turn, turn)
            derived += [memory] if first <= turn <= last else []
    return derived


def _unlearn(ctx: Context, shelf: Shelf, telling: Sequence[Memory]) -> None:
    """Remove what was learned from the sessions of some memories, and what was derived from their projects, which the
    next turn makes anew; and write the sessions' step logs again without those turns."""
    captured = [memory for memory in telling if memory.source.session]
    sessions = {memory.source.session for memory in captured}
    if not sessions:
        return
    with ctx.capturing:
        projects = tuple({memory.project for memory in captured})
        records = learned_records.records_of(shelf, sessions, projects)
        shelf.journal.purge([record.id for record in records])
    with contextlib.suppress(OSError):
        for session in sessions:
            for log in archives.archives_of(ctx.home, session, archives.STEPS):
                os.unlink(log)
            for transcript in step_log.transcripts_of(ctx, session):
                step_log.write(ctx, transcript)
