"""The session before one, where nobody told of its end: its client was killed, or the machine went down. It is read
when the next session of its project starts, which would else be told that an older one was the last."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone

from vector_memory.client.spool import read_aside
from vector_memory.model import PASSAGE
from vector_memory.service.base.asker import HookQuestion
from vector_memory.service.base.context import Context
from vector_memory.service.base.session_memory import SessionTail, last_turn
from vector_memory.system import processes
from vector_memory.system.files import with_real_folder

LOOKED_BACK = timedelta(days=30)
"""A transcript that was not written to for so long is not read of itself any more, as by `jobs.session_sweep`."""
LOOKED_AT = 20
"""So many transcripts are looked at, the newest first, and of one of them something must have been read: a history that
nobody asked for stays unread."""
OF_SUBAGENT = "agent-"
"""How the name of a subagent's transcript begins, where it lies beside those of sessions."""


@dataclass(frozen=True)
class Unended:
    """A transcript of which something is unread.

    Attributes:
        folder: where its session was started; `at` is when it was written to last.
        is_over: whether its session has ended for sure.
        is_unknown: whether nothing of it was read: it is newer than what is told as the last session.
    """

    path: str
    session: str
    folder: str
    at: datetime
    is_over: bool
    is_unknown: bool


def newest(ctx: Context, question: HookQuestion) -> Unended | None:
    """Return what is unread of the session before, None where it was read to its end, or may still go on."""
    own = with_real_folder(question.transcript) if question.transcript else ""
    folder = os.path.dirname(own)
    if not (os.path.isabs(folder) and ctx.settings.capture):
        return None
    others = [path for path in _by_time(folder) if path != own][:LOOKED_AT]
    here = last_turn(ctx.running, question.session)
    path = next((one for one in others if not _goes_on(_tail(ctx, one), here)), "")
    if not path:
        return None
    at = datetime.fromtimestamp(os.path.getmtime(path), timezone.utc)
    tail, session, is_known = _tail(ctx, path), _session(path), ctx.state.cursor(path) is not None
    if (
        ctx.now() - at > LOOKED_BACK
        or tail.is_over
        or not any(ctx.state.cursor(one) is not None for one in others)
        or (is_known and at <= _read_at(question, session))
        or any(entry.get("transcript") == path for _, entry in read_aside(ctx.home))
    ):
        return None
    # What reads transcripts takes a while to import, and most starts do without.
    from vector_memory.index.reader import head_of
    from vector_memory.service.capture import backfill

    cwd = head_of(path)[1]
    if not cwd or ctx.place(cwd).id != question.place.id:
        return None
    is_over = bool(tail.client and not _lives(tail.client)) or not backfill.is_live(path)
    return Unended(path, session, cwd, at, is_over, not is_known)


def notice(left: Unended) -> str:
    """Return the sentence that says that what is told of the last session is not of this one yet, "" where it is."""
    if not left.is_unknown:
        return ""
    when = f"{left.at.astimezone():%Y-%m-%d %H:%M}"
    return f"A newer session ({left.session[:8]}, {when}) was not ended in order, and is being read now."


def _by_time(folder: str) -> list[str]:
    """Return the transcripts of sessions in a folder, the one that was written to last first."""
    try:
        with os.scandir(folder) as entries:
            found = [
                (entry.stat(follow_symlinks=False).st_mtime, entry.path)
                for entry in entries
                if entry.name.endswith(".jsonl")
                and not entry.name.startswith(OF_SUBAGENT)
                and entry.is_file(follow_symlinks=False)
            ]
    except OSError:
        return []
    return [path for _, path in sorted(found, reverse=True)]


def _goes_on(tail: SessionTail, own: SessionTail) -> bool:
    """Whether the client that a session ran in is still there, and did not begin the present one meanwhile."""
    return tail.client is not None and tail.client != own.client and _lives(tail.client)


def _lives(client: tuple[int, int]) -> bool:
    now = processes.process(client[0])
    return now is not None and (now.pid, now.started) == client


def _session(path: str) -> str:
    return os.path.basename(path).removesuffix(".jsonl")


def _tail(ctx: Context, path: str) -> SessionTail:
    return last_turn(ctx.running, _session(path))


def _read_at(question: HookQuestion, session: str) -> datetime:
    """Return when something of a session was stored last."""
    scope = replace(question.scope, sessions=(session,))
    found = [
        one for shelf in question.shelves for one in shelf.journal.recent(scope, 1, (PASSAGE,))
    ]
    times = [time for one in found for time in (one.stored_at, one.updated_at) if time]
    return max(times, default=datetime(1970, 1, 1, tzinfo=timezone.utc))
