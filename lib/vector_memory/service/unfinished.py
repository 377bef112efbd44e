"""What is still to be made of sessions that were read: topics and summaries, for the quiet moments.

It is noted in the same moment in which a reading counts as done, so that nothing is left out, whenever
the daemon ends. A backfill does not wait for it, and finds better topics later: they follow the vectors
of what was said.
"""

from __future__ import annotations

from collections.abc import Iterable

from vector_memory.service import endings, topics
from vector_memory.service.context import Context

TOPICS = "topics"
SUMMARY = "summary"
MINING = "mining"
"""Tasks that are due for a session: its topics, its summary, what a model finds in it."""


def finish_some(ctx: Context, most: int = 4) -> int:
    """Make what is due for some sessions; return for how many it was made, 0 when nothing is due."""
    due = sorted({*ctx.state.due(TOPICS, most), *ctx.state.due(SUMMARY, most)})
    finish(ctx, due)
    return len(due)


def finish(ctx: Context, sessions: Iterable[str]) -> None:
    """Make what is due for these sessions, and nothing where nothing is."""
    for session in sessions:
        over = ctx.state.is_due(SUMMARY, session)
        if not over and not ctx.state.is_due(TOPICS, session):
            continue
        for one in topics.derive(ctx, [session]):
            if over:
                endings.summarise(one)
        ctx.state.done(TOPICS, [session])
        if over:
            ctx.state.done(SUMMARY, [session])
