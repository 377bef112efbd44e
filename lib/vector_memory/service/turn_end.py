"""What is learned when a turn or a session has ended: its transcript is read, and what follows from it."""

from __future__ import annotations

from dataclasses import dataclass

from vector_memory.service import (
    capture,
    client_notes,
    endings,
    feedback,
    mining,
    sessions,
    topics,
)
from vector_memory.service.context import Context


@dataclass(frozen=True)
class Ended:
    """A turn that ended: of which session, with which transcript, in which folder; whether the session
    is over; and the last answer, where the transcript lags behind it."""

    session: str
    transcript: str
    folder: str
    final: bool = False
    last_message: str = ""


def learn(ctx: Context, ended: Ended) -> None:
    """Index what is new, and make what is made of it: topics, the session's summary, verdicts on fixes
    that were shown, the snapshot for the next start."""
    captured = capture.index_transcript(
        ctx, ended.transcript, ended.folder, ended.final, ended.last_message
    )
    if ended.final:
        for one in {ended.session, *captured.sessions}:
            endings.finish(ctx, one)
    elif captured.stored:
        topics.derive(ctx, captured.sessions)
    feedback.judge(ctx, ended.session, ended.transcript)
    if ended.final:
        client_notes.index(ctx, ended.transcript, ended.folder)
    if captured.stored:
        sessions.save_snapshot(ctx, ended.folder)
    if ctx.settings.extraction:
        found = {ended.session, *captured.sessions}
        ctx.slowly(lambda: mining.mine(ctx, found, ended.final))
