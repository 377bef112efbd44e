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
from vector_memory.service.memory.companions import companions, drawn_from, repeating
from vector_memory.service.memory.views import BriefView, brief

SHOWN_CHARS = 300


def keep_level(
    ctx: Context, shelf: Shelf, memory: Memory, was: Memory, *, is_agent: bool
) -> list[BriefView]:
    """Have nothing that tells a memory's words be less sensitive than it, where it is more so than it was: all that was
    captured of its exchange, what gave way to it, what holds its whole text in any store, and the topics and summaries
    over the turns of all these. What was learned from their sessions goes where it is restricted now.

    Args:
        shelf: its store.
        was: the memory as it was before.
        is_agent: an agent asks, who would hide the user's own rules by a few of their words: what was made of the memory
            alone counts.

    Returns:
        What has become more sensitive with it.
    """
    if strictest(memory.sensitivity, was.sensitivity) is was.sensitivity:
        return []
    raised: list[Memory] = []
    for own in [shelf] if is_agent else ctx.every_shelf():
        telling = [] if is_agent else repeating(own, [memory, was])
        if own is shelf:
            telling += [memory, *(drawn_from(own, [memory]) if is_agent else _around(own, memory))]
        telling += _derived(own, telling)
        less = {
            one.id: replace(one, sensitivity=memory.sensitivity)
            for one in telling
            if strictest(one.sensitivity, memory.sensitivity) is not one.sensitivity
        }
        own.journal.write([], list(less.values()), [])
        raised += less.values()
        if memory.sensitivity is Sensitivity.RESTRICTED:
            _unlearn(ctx, own, telling)
    ctx.changed()
    return [brief(BriefView, one, text=one.text[:SHOWN_CHARS]) for one in raised]


def _around(shelf: Shelf, memory: Memory) -> list[Memory]:
    """Return all that was captured of a memory's exchange, which has its prompt as the title, and what gave way to it."""
    is_said = memory.is_captured and memory.kind not in DERIVED
    turn = shelf.journal.of_turn(memory.source, memory.project, LIVING) if is_said else []
    said = [one for one in turn if one.kind not in DERIVED]
    return [*said, *companions(shelf, [memory, *said])]


def _derived(shelf: Shelf, telling: Sequence[Memory]) -> list[Memory]:
    """Return the topics and summaries over the turns that some memories were captured of."""
    turns = {
        (one.project, one.source.session, one.source.turn)
        for one in telling
        if one.source.session and one.kind not in DERIVED
    }
    derived: list[Memory] = []
    for project, session, turn in turns:
        scope = Scope(projects=(project,), sessions=(session,), kinds=DERIVED)
        for one in shelf.journal.iter_memories(scope, statuses=LIVING):
            first, last = one.extra.get("turns") or (turn, turn)
            derived += [one] if first <= turn <= last else []
    return derived


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
