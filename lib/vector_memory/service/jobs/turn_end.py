"""What is learned when a turn or a session has ended: its transcript is read, and what follows from it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from vector_memory.index.cursor import Cursor
from vector_memory.index.reader import TurnRead
from vector_memory.service.base.asker import ProjectAsker
from vector_memory.service.base.context import Context
from vector_memory.service.capture import (
    deferred,
    find_ideas,
    model_reading,
    session_summary,
    store_session,
)
from vector_memory.service.inject import session_start
from vector_memory.service.learning import note_uses
from vector_memory.service.memory import applied_uses, tombstones
from vector_memory.service.tools import fix_feedback, flags
from vector_memory.service.transfer import import_notes


@dataclass(frozen=True)
class EndedTurn:
    """A turn that ended: of which session, with which transcript, in which folder; whether the session
    is over; the last answer, where the transcript lags behind it; whether it is read in a process of its
    own, however small it is: the daemon that tried before may have died of it; when it ended, in
    seconds since 1970; and from where it is asked, None where the user wants no memory."""

    session: str
    transcript: str
    folder: str
    final: bool = False
    last_message: str = ""
    apart: bool = False
    stopped_at: float | None = None
    asker: ProjectAsker | None = None


def learn(ctx: Context, ended: EndedTurn) -> None:
    """Read what is new, once, and make what is made of it: memories, topics, the session's summary, verdicts
    on fixes and notes that were shown, lessons, the snapshot for the next start."""
    turn, *_ = turns = _read(ctx, ended)
    captured = store_session.store(ctx, turns, ended.folder, tasks=(deferred.TOPICS,))
    find_ideas.find_all(ctx)
    concerned = {ended.session, *captured.sessions}
    flags.settle(ctx)
    if ended.final:
        for session in concerned:
            session_summary.finish(ctx, session)
        ctx.state.mark_done(deferred.TOPICS, concerned)
    deferred.finish(ctx, concerned)
    if ctx.is_behind:
        # Once their ideas are found.
        for session in concerned:
            ctx.state.add_due(deferred.SUMMARY if ended.final else deferred.TOPICS, session)
    fix_feedback.judge(ctx, ended.session, turn)
    note_uses.judge(ctx, ended.session, turn, ended.last_message, ended.final)
    applied_uses.followed(ctx, ended.session)
    for turn_read in turns:
        deferred.learn_later(ctx, turn_read, ended.folder, ended.final)
    if ended.final:
        import_notes.index_client_memory(ctx, ended.transcript, ended.folder)
    if captured.stored and ended.asker is not None:
        session_start.save_snapshot(ctx, ended.asker, ended.folder)
    if not ctx.settings.generation_backend:
        return
    for session in concerned if ended.final else ():
        ctx.state.add_due(deferred.MINING, session)
    ctx.slowly(
        partial(model_reading.read_due, ctx)
        if ended.final
        else partial(model_reading.read_turn, ctx, concerned)
    )


def pass_over(ctx: Context, ended: EndedTurn) -> None:
    """Read what is new, and block it from being captured now or later: the user wanted no memory when it was said."""
    before = Cursor.from_dict(ctx.state.cursor(ended.transcript) or {})
    turns = _read(ctx, ended)
    for turn in turns:
        tombstones.block_read(ctx, turn, before if turn is turns[0] else Cursor())
    with ctx.capturing:
        ctx.state.set_cursors({turn.path: turn.cursor.to_dict() for turn in turns}, [])


def _read(ctx: Context, ended: EndedTurn) -> list[TurnRead]:
    """Return what is new in a session's transcript, and at its end what subagents said whose transcripts were not there
    yet when they stopped."""
    turn = store_session.read_turn(
        ctx, ended.transcript, ended.final, ended.last_message, ended.apart, ended.stopped_at
    )
    turns = [turn]
    for path in store_session.unread_of_subagents(ctx, ended.transcript) if ended.final else ():
        # One that cannot be read is no reason to lose the session's own end.
        with suppress(OSError):
            turns.append(store_session.read_turn(ctx, path, True))
    return turns
