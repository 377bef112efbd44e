"""What was said while `capture` was off, in a turn of whose end no hook told: it was broken off (Esc), or its client was
killed. No later reading of its transcript keeps it."""

from __future__ import annotations

import os
import threading
from datetime import datetime, timezone

from vector_memory.index.reader import TurnRead
from vector_memory.service.base.context import Context
from vector_memory.service.memory import tombstones
from vector_memory.system.files import with_real_folder
from vector_memory.system.json_in import Record

UNKEPT = "unkept"
"""The state's records by transcripts: `spans`, each [first, last, next] in seconds since 1970: when the hooks ran of the first
and the last prompt of turns of which nothing is to be kept, and of the next one of whose turn all is, None before that."""
LATEST_S, JUST_AFTER_S = 5.0, 0.001
"""A prompt is dated before its hook runs, which the client ends after so long."""
_CHANGING = threading.Lock()

Span = tuple[float, float, float | None]


def note_prompt(ctx: Context, transcript: str, at: float, is_kept: bool) -> None:
    """Note that a turn has begun, and whether what is said in it is kept."""
    if not os.path.isabs(transcript):
        return
    path = with_real_folder(transcript)
    with _CHANGING:
        spans = spans_of(ctx, path)
        first, last, next_at = spans[-1] if spans else (at, at, at)
        if next_at is None:
            spans[-1] = (first, last, at) if is_kept else (first, at, None)
        elif not is_kept:
            spans.append((at, at, None))
        else:
            return
        ctx.state.put_record(UNKEPT, path, {"spans": spans}, is_durable=False)


def spans_of(ctx: Context, path: str) -> list[Span]:
    """Return when what was said in a transcript is not to be kept, in order."""
    return _spans(ctx.state.records(UNKEPT).get(path, Record()))


def keep_out(ctx: Context, read: TurnRead) -> None:
    """Keep out what of a reading, of a session's transcript or of a subagent's, was said in such turns."""
    for path, record in ctx.state.records(UNKEPT).items():
        if read.path != path and not read.path.startswith(path.removesuffix(".jsonl") + os.sep):
            continue
        for first, last, next_at in _spans(record):
            # The last one was dated before its hook ran, however soon the next one came.
            until = (
                None if next_at is None else _time_at(max(next_at - LATEST_S, last + JUST_AFTER_S))
            )
            tombstones.block_said(ctx, read, _time_at(first - LATEST_S), until)


def settle(ctx: Context, transcript: str, is_kept: bool) -> None:
    """Note that a transcript was read to the end of its session, with what its subagents said.

    Args:
        is_kept: whether what was read was kept: then what may still grow of a turn that is not over was not read.
    """
    with _CHANGING:
        spans = spans_of(ctx, transcript)
        if spans and not (is_kept and spans[-1][2] is None):
            ctx.state.put_record(UNKEPT, transcript, None, is_durable=False)


def _spans(record: Record) -> list[Span]:
    spans = record.get("spans")
    return [
        (first, last, next_at if isinstance(next_at, float) else None)
        for span in (spans if isinstance(spans, list) else ())
        if isinstance(span, list) and len(span) == 3
        for first, last, next_at in (span,)
        if isinstance(first, float) and isinstance(last, float)
    ]


def _time_at(at: float) -> datetime:
    return datetime.fromtimestamp(at, timezone.utc)
