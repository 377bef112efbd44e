"""What is still to be made of sessions that were read: topics and summaries, for the quiet moments.

It is noted in the same moment in which a reading counts as done, so that nothing is left out, whenever
the daemon ends. A backfill does not wait for it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from vector_memory import model
from vector_memory.errors import UnsafeTextError, VectorMemoryError
from vector_memory.service.base import privacy
from vector_memory.service.base.context import Context
from vector_memory.service.capture import session_summary, session_topics

if TYPE_CHECKING:
    from vector_memory.index.reader import TurnRead
    from vector_memory.journal.state_rows import Task

log = logging.getLogger(__name__)

TOPICS: Task = "topics"
SUMMARY: Task = "summary"
MINING: Task = "mining"
"""Tasks that are due for a session: its topics, its summary, what a model says of it."""
LESSONS: Task = "lessons"
"""What is due for a transcript, by its path: what its tasks teach."""


def finish_some(ctx: Context, most: int = 4) -> int:
    """Make what is due for some sessions; return for how many it was made, 0 when nothing is due."""
    sessions = sorted({*ctx.state.due_keys(TOPICS, most), *ctx.state.due_keys(SUMMARY, most)})
    for session in sessions:
        try:
            finish(ctx, [session])
        except VectorMemoryError:
            # The store cannot be written now: it stays due.
            raise
        except Exception:
            # A session that fails stops none of the others; its next turn makes it due again.
            ctx.count("errors")
            log.exception("no topics are made of session %s", session)
            ctx.state.mark_done(TOPICS, [session])
            ctx.state.mark_done(SUMMARY, [session])
    return max(len(sessions), _learn_some(ctx, most))


def learn_later(ctx: Context, turn: TurnRead, folder: str, final: bool) -> None:
    """Learn from what was read of a transcript soon: what waits for it to be indexed does not wait for this
    too."""
    if ctx.settings.learn_from_outcomes:
        # Before it is due: whichever thread comes to it first applies the privacy rules of this session.
        privacy.note_configurations(ctx, turn.path)
        ctx.state.add_due(LESSONS, turn.path)
        ctx.later(lambda: _learn(ctx, {turn.path: folder}, final, turn))


def _learn_some(ctx: Context, most: int) -> int:
    """Learn from some transcripts that a backfill read, or that the last daemon did not come to; nothing from
    those that do not exist any more."""
    paths = ctx.state.due_keys(LESSONS, most)
    if paths:
        _learn(ctx, dict.fromkeys(paths, ""), final=True)
    return len(paths)


def _learn(
    ctx: Context, folders: dict[str, str], final: bool, turn: TurnRead | None = None
) -> None:
    if ctx.stopping.is_set():
        # The next daemon finds it due.
        return
    from vector_memory.service.capture import step_log
    from vector_memory.service.learning import lessons

    transcripts = [(path, folder) for path, folder in folders.items() if os.path.isfile(path)]
    lessons.learn_all(ctx, transcripts, final, turn)
    for path, _ in transcripts if final else ():
        try:
            step_log.write(ctx, path)
        except (OSError, UnsafeTextError) as error:
            log.warning("the steps of %s are not logged: %s", path, error)
    ctx.state.mark_done(LESSONS, folders)


def finish(ctx: Context, sessions: Iterable[str]) -> None:
    """Make what is due for these sessions, and nothing where nothing is."""
    for session in sessions:
        is_over = ctx.state.is_due(SUMMARY, session)
        if not is_over and not ctx.state.is_due(TOPICS, session):
            continue
        for contents in session_topics.derive(ctx, [session]):
            if is_over and ctx.settings.captures(model.SUMMARY):
                session_summary.summarise(contents)
        ctx.state.mark_done(TOPICS, [session])
        if is_over:
            ctx.state.mark_done(SUMMARY, [session])
