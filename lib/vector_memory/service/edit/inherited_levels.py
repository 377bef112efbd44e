"""What was made of a memory that becomes more sensitive: it has its level, or goes where it has none of its own."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace

from vector_memory.model import DERIVED, Memory, Scope, Sensitivity, strictest
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.capture import archives, step_log
from vector_memory.service.learning import learned_records
from vector_memory.service.memory.companions import drawn_from


def keep_level(ctx: Context, shelf: Shelf, memory: Memory) -> None:
    """Have nothing that was made of a memory be less sensitive than it is now: the ideas drawn from it, and the topics
    and summaries of its session over its turn. What was learned from that session goes when it is restricted."""
    session, turn = memory.source.session, memory.source.turn
    made = drawn_from(shelf, [memory])
    if session:
        for derived in shelf.journal.iter_memories(Scope(sessions=(session,), kinds=DERIVED)):
            first, last = derived.extra.get("turns") or (turn, turn)
            made += [derived] if first <= turn <= last else []
    for derived in made:
        level = strictest(derived.sensitivity, memory.sensitivity)
        if level is not derived.sensitivity:
            shelf.journal.update(replace(derived, sensitivity=level))
    if session and memory.sensitivity is Sensitivity.RESTRICTED:
        _unlearn(ctx, shelf, memory)


def _unlearn(ctx: Context, shelf: Shelf, memory: Memory) -> None:
    """Remove what was learned from a memory's session, and what was drawn from all of its project, which the next turn
    makes anew; and have its step log be without that turn."""
    session = memory.source.session
    with ctx.capturing:
        learned = learned_records.made_of(shelf, (session,), (memory.project,))
        shelf.journal.purge([record.id for record in learned])
    with contextlib.suppress(OSError):
        for log in archives.archives_of(ctx.home, session, archives.STEPS):
            os.unlink(log)
        for transcript in step_log.transcripts_of(ctx, session):
            step_log.write(ctx, transcript)
