"""What was said while `capture` was off, in a turn that nobody told the end of: it was broken off (Esc), or its client was
killed. It is kept by no later reading, whoever has the transcript read."""

from __future__ import annotations

import os
from datetime import datetime, timezone

from vector_memory.index.reader import TurnRead
from vector_memory.service.base.context import Context
from vector_memory.service.memory import tombstones
from vector_memory.system.files import with_real_folder
from vector_memory.system.json_in import Record

UNKEPT = "unkept"
"""The state's records by transcripts: `at`, when a turn began of which nothing is to be kept, and `until`, when the next one
began of which all is; both in seconds since 1970."""
JUST_BEFORE_S = 2.0
"""The client dates a prompt before it runs the hook, which says when the turn began."""


def note_prompt(ctx: Context, transcript: str, at: float, is_kept: bool) -> None:
    """Note that a turn has begun, and whether what is said in it is kept."""
    if not os.path.isabs(transcript):
        return
    path = with_real_folder(transcript)
    known = ctx.state.records(UNKEPT).get(path)
    if not is_kept:
        # What was said between two such turns goes with them, where neither ended.
        begun = known.get("at") if known else None
        record: dict[str, object] = {"at": begun if isinstance(begun, float) else at}
    elif known and "until" not in known:
        record = {**known, "until": at}
    else:
        return
    ctx.state.put_record(UNKEPT, path, record, is_durable=False)


def keep_out(ctx: Context, read: TurnRead) -> None:
    """Keep out what of a reading, of a session's transcript or of a subagent's, was said in such turns."""
    for path, record in ctx.state.records(UNKEPT).items():
        if read.path != path and not read.path.startswith(path.removesuffix(".jsonl") + os.sep):
            continue
        since, until = (_moment(record.get(name)) for name in ("at", "until"))
        if since is not None:
            tombstones.block_said(ctx, read, since, until)


def settle(ctx: Context, transcript: str, at: float, is_kept: bool) -> None:
    """Note that all of a transcript that had been said by then was read.

    Args:
        is_kept: whether what was read was kept: then what may still grow of a turn that is not over was not read.
    """
    record = ctx.state.records(UNKEPT).get(transcript, Record())
    end = record.get("until" if is_kept else "at")
    if isinstance(end, float) and end <= at:
        ctx.state.put_record(UNKEPT, transcript, None, is_durable=False)


def _moment(at: object) -> datetime | None:
    if not isinstance(at, float):
        return None
    return datetime.fromtimestamp(at - JUST_BEFORE_S, timezone.utc)
