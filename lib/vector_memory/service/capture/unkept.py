"""What was said while `capture` was off, in a turn that nobody told the end of: it was broken off (Esc), or its client was
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
"""The state's records by transcripts: `spans`, each [from, to] in seconds since 1970: when the hook of a prompt ran of whose
turn nothing is to be kept, and that of the next one of whose turn all is, None before that."""
LATEST_S = 5.0
"""A prompt is dated before its hook runs, which the client ends after so long."""
_CHANGING = threading.Lock()

Span = tuple[float, float | None]


def note_prompt(ctx: Context, transcript: str, at: float, is_kept: bool) -> None:
    """Note that a turn has begun, and whether what is said in it is kept."""
    if not os.path.isabs(transcript):
        return
    path = with_real_folder(transcript)
    with _CHANGING:
        spans = spans_of(ctx, path)
        is_open = bool(spans) and spans[-1][1] is None
        if is_kept and is_open:
            spans[-1] = spans[-1][0], at
        elif not is_kept and not is_open:
            spans.append((at, None))
        else:
            return
        ctx.state.put_record(UNKEPT, path, {"spans": spans}, is_durable=False)


def spans_of(ctx: Context, path: str) -> list[Span]:
    """Return when what was said in a transcript is not to be kept, in order: from and to, None for from then on."""
    return _spans(ctx.state.records(UNKEPT).get(path, Record()))


def keep_out(ctx: Context, read: TurnRead) -> None:
    """Keep out what of a reading, of a session's transcript or of a subagent's, was said in such turns."""
    for path, record in ctx.state.records(UNKEPT).items():
        if read.path != path and not read.path.startswith(path.removesuffix(".jsonl") + os.sep):
            continue
        for since, until in _spans(record):
            end = None if until is None else _moment(until)
            tombstones.block_said(ctx, read, _moment(since), end)


def settle(ctx: Context, transcript: str, is_kept: bool) -> None:
    """Note that a transcript was read to the end of its session, with what its subagents said.

    Args:
        is_kept: whether what was read was kept: then what may still grow of a turn that is not over was not read.
    """
    with _CHANGING:
        spans = spans_of(ctx, transcript)
        if spans and not (is_kept and spans[-1][1] is None):
            ctx.state.put_record(UNKEPT, transcript, None, is_durable=False)


def _spans(record: Record) -> list[Span]:
    spans = record.get("spans")
    return [
        (span[0], span[1] if isinstance(span[1], float) else None)
        for span in (spans if isinstance(spans, list) else ())
        if isinstance(span, list) and len(span) == 2 and isinstance(span[0], float)
    ]


def _moment(at: float) -> datetime:
    return datetime.fromtimestamp(at - LATEST_S, timezone.utc)
