"""What tells the words of a memory that becomes more sensitive: it has its level, or goes where it has none of its own."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import replace

from vector_memory.model import DERIVED, LIVING, Memory, Scope, Sensitivity, strictest
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.capture import archives, step_log
from vector_memory.service.learning import learned_records
from vector_memory.service.memory.companions import companions, repeating
from vector_memory.service.memory.views import BriefView, brief

SHOWN_CHARS = 300


def keep_level(ctx: Context, shelf: Shelf, memory: Memory, was: Memory) -> list[BriefView]:
    """Have nothing that tells a memory's words be less sensitive than it, where it is more so than it was: what holds
    its whole text in any store, what was captured of the same exchanges, what gave way to them, and the topics and
    summaries over those turns. What was learned from their sessions goes where it is restricted now.

    Args:
        shelf: its store.
        was: the memory as it was before.

    Returns:
        What has become more sensitive with it.
    """
    if strictest(memory.sensitivity, was.sensitivity) is was.sensitivity:
        return []
    raised: list[Memory] = []
    for own in ctx.all_shelves():
        telling = _telling(own, [memory, was], [memory] if own is shelf else [])
        less = [
            replace(one, sensitivity=memory.sensitivity)
            for one in telling
            if strictest(one.sensitivity, memory.sensitivity) is not one.sensitivity
        ]
        own.journal.write([], less, [])
        raised += less
        if memory.sensitivity is Sensitivity.RESTRICTED:
            _unlearn(ctx, own, telling)
    ctx.changed()
    return [brief(BriefView, one, text=one.text[:SHOWN_CHARS]) for one in raised]


def _telling(shelf: Shelf, versions: list[Memory], own: list[Memory]) -> list[Memory]:
    """Return what tells a memory's words in a store, and is less sensitive or not.

    Args:
        versions: the memory as it is and as it was.
        own: the memory itself, where it is in this store.
    """
    same = {one.id: one for one in (*own, *repeating(shelf, versions))}
    turns = {(one.source, one.project): one for one in same.values() if one.is_captured}
    said = [one for one in turns.values() if one.kind not in DERIVED]
    for one in said:
        # All that was captured of an exchange has its prompt as the title.
        of_turn = shelf.journal.of_turn(one.source, one.project, LIVING)
        same |= {other.id: other for other in of_turn if other.kind not in DERIVED}
    same |= {older.id: older for older in companions(shelf, list(same.values()))}
    for one in said:
        told = Scope(projects=(one.project,), sessions=(one.source.session,), kinds=DERIVED)
        for derived in shelf.journal.iter_memories(told, statuses=LIVING):
            first, last = derived.extra.get("turns") or (one.source.turn, one.source.turn)
            same |= {derived.id: derived} if first <= one.source.turn <= last else {}
    return list(same.values())


def _unlearn(ctx: Context, shelf: Shelf, telling: Sequence[Memory]) -> None:
    """Remove what was learned from the sessions of some memories, and what was drawn from all of their projects, which the
    next turn makes anew; and have the sessions' step logs be without those turns."""
    captured = [one for one in telling if one.source.session]
    sessions = {one.source.session for one in captured}
    if not sessions:
        return
    with ctx.capturing:
        projects = tuple({one.project for one in captured})
        learned = learned_records.made_of(shelf, sessions, projects)
        shelf.journal.purge([record.id for record in learned])
    with contextlib.suppress(OSError):
        for session in sessions:
            for log in archives.archives_of(ctx.home, session, archives.STEPS):
                os.unlink(log)
            for transcript in step_log.transcripts_of(ctx, session):
                step_log.write(ctx, transcript)
