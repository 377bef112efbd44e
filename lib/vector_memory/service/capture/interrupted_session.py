"""The previous session, where no hook told of its end: its client was killed, or the machine went down. It is read
when the next session of its project starts, which would else be told that an older one was the last."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone

from vector_memory.client.spool import read_aside
from vector_memory.model import PASSAGE
from vector_memory.service.base.asker import HookQuestion
from vector_memory.service.base.context import Context
from vector_memory.service.base.session_memory import SessionTail, last_turn
from vector_memory.service.capture import uncaptured_turns
from vector_memory.system import json_in, processes
from vector_memory.system.files import open_plain, with_real_folder
from vector_memory.system.json_in import Record

LOOKED_BACK = timedelta(days=30)
"""A transcript that was not written to for so long is not read here any more, nor by a sweep."""
LOOKED_AT = 20
"""How many transcripts are looked at, the newest first. Of one of them something must have been read: a history whose
backfill nobody asked for stays unread."""
HEAD_LINES, LONGEST_LINE = 50, 1 << 20
"""How many lines of a transcript, and bytes of a line, are looked at for the folder that its session was started in: the
reader of whole transcripts takes long to import, and a start waits."""
OF_SUBAGENT = "agent-"
"""How the name of a subagent's transcript begins, where it lies beside those of sessions."""


@dataclass(frozen=True)
class Unended:
    """A transcript of which something is unread.

    Attributes:
        folder: where its session was started; `at` is when it was written to last.
        is_over: whether its session has ended for sure: its client was known, and is gone.
        is_unknown: whether nothing of it was read: it is newer than what is told as the last session.
        is_kept: whether what was said in it may be kept.
    """

    path: str
    session: str
    folder: str
    at: datetime
    is_over: bool
    is_unknown: bool
    is_kept: bool


def newest(ctx: Context, question: HookQuestion) -> Unended | None:
    """Return what is unread of the session before, None where it was read to its end, or may still go on."""
    own_path = with_real_folder(question.transcript) if question.transcript else ""
    folder = os.path.dirname(own_path)
    if not (os.path.isabs(folder) and ctx.settings.capture):
        return None
    paths = [path for path in _by_time(transcripts_in(folder)) if path != own_path][:LOOKED_AT]
    own_tail = last_turn(ctx.running, question.session)
    path = next(
        (candidate for candidate in paths if not _is_running(_tail(ctx, candidate), own_tail)), ""
    )
    if not path:
        return None
    status = os.stat(path)
    at = datetime.fromtimestamp(status.st_mtime, timezone.utc)
    tail, session = _tail(ctx, path), _session_id(path)
    is_known = ctx.state.cursor(path) is not None
    record_name, stamp = f"unended:{folder}", {path: f"{status.st_mtime_ns}:{status.st_size}"}
    if (
        ctx.now() - at > LOOKED_BACK
        or tail.is_over
        or not any(ctx.state.cursor(sibling) is not None for sibling in paths)
        or (is_known and at <= _last_stored_at(question, session))
        or not ctx.state.unread_files(record_name, stamp)
        or any(entry.get("transcript") == path for _, entry in read_aside(ctx.home))
    ):
        return None
    cwd = _start_folder(path)
    if not cwd or ctx.place(cwd).id != question.place.id:
        return None
    # A client writes some lines more when its session is over: they are taken up once.
    ctx.later(lambda: ctx.state.follow(record_name, stamp))
    is_over = tail.client is not None and not _is_alive(tail.client)
    is_kept = not any(next_at is None for _, _, next_at in uncaptured_turns.spans_of(ctx, path))
    return Unended(path, session, cwd, at, is_over, not is_known, is_kept)


def notice(unended: Unended) -> str:
    """Return the sentence that says that what is told of the last session is not of this one yet, "" where it is."""
    if not (unended.is_unknown and unended.is_kept):
        return ""
    when = f"{unended.at.astimezone():%Y-%m-%d %H:%M}"
    state = "was not ended in order" if unended.is_over else "may not have ended"
    return f"A newer session ({unended.session[:8]}, {when}) {state}, and is being read now."


def _start_folder(path: str) -> str:
    """Return the folder that a session was started in, "" where its first lines do not tell."""
    with open_plain(path) as file:
        for _ in range(HEAD_LINES):
            with suppress(ValueError):
                entry = json_in.storable_json(json_in.load(file.readline(LONGEST_LINE)))
                if isinstance(entry, dict) and (cwd := Record(entry).text("cwd")):
                    return cwd
    return ""


def transcripts_in(folder: str) -> dict[str, os.stat_result]:
    """Return the transcripts in a folder, each with its size and times."""
    try:
        with os.scandir(folder) as entries:
            return {
                entry.path: entry.stat(follow_symlinks=False)
                for entry in entries
                if entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False)
            }
    except OSError:
        return {}


def _by_time(transcripts: Mapping[str, os.stat_result]) -> list[str]:
    """Return those of sessions, not of subagents, the one that was written to last first."""
    session_paths = [
        path for path in transcripts if not os.path.basename(path).startswith(OF_SUBAGENT)
    ]
    return sorted(session_paths, key=lambda path: (transcripts[path].st_mtime, path), reverse=True)


def _is_running(tail: SessionTail, own_tail: SessionTail) -> bool:
    """Whether the client that a session ran in is still there, and did not begin the present one meanwhile."""
    return tail.client is not None and tail.client != own_tail.client and _is_alive(tail.client)


def _is_alive(client: tuple[int, int]) -> bool:
    running = processes.process(client[0])
    return running is not None and (running.pid, running.started) == client


def _session_id(path: str) -> str:
    return os.path.basename(path).removesuffix(".jsonl")


def _tail(ctx: Context, path: str) -> SessionTail:
    return last_turn(ctx.running, _session_id(path))


def _last_stored_at(question: HookQuestion, session: str) -> datetime:
    """Return when something of a session was stored last."""
    scope = replace(question.scope, sessions=(session,))
    memories = [
        memory
        for shelf in question.shelves
        for memory in shelf.journal.recent(scope, 1, (PASSAGE,))
    ]
    times = [time for memory in memories for time in (memory.stored_at, memory.updated_at) if time]
    return max(times, default=datetime(1970, 1, 1, tzinfo=timezone.utc))
