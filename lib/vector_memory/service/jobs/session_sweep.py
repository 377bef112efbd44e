"""session-extraction-sweep: transcripts that no hook reported, since the client crashed or the plugin was off,
are read like those of a backfill. Only folders are looked at from which something was read before, and in them
only files that are newer than the oldest that was: a history that nobody asked for stays unread."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from functools import partial

from vector_memory.model import ignore_progress
from vector_memory.service.base.context import Context
from vector_memory.service.capture import backfill, interrupted_session, model_reading
from vector_memory.service.jobs.step import JobRun, Step

AT_ONCE = 16


def step(ctx: Context, run: JobRun) -> Step:
    """Read some of the transcripts that have changed; at last let the model go on where it stopped.

    Returns:
        What it did, and where the next step begins.
    """
    if not ctx.settings.capture:
        return Step(message="Sessions are not captured: `capture` is off.")
    changed = dict(_changed_transcripts(ctx, run.now))
    if run.dry_run:
        return Step({"transcripts": len(changed), "files": sorted(changed)[:AT_ONCE]})
    batch = dict(sorted(changed.items())[:AT_ONCE])
    has_more = len(changed) > len(batch)
    if not has_more:
        ctx.slowly(partial(model_reading.read_due, ctx))
    if not batch:
        return Step({"transcripts": 0, "stored": 0})
    request = backfill.BackfillRequest(paths=tuple(batch), actor="job", wait=False)
    answer = backfill.backfill(ctx, request, ignore_progress)
    # Only now: what is read again after a crash adds nothing.
    for path, stamp in batch.items():
        ctx.state.follow(os.path.dirname(path), {path: stamp})
    counts = {"transcripts": len(batch), "stored": answer.stored, "errors": len(answer.errors)}
    return Step(counts, {"more": True} if has_more else {})


def _changed_transcripts(ctx: Context, now: datetime) -> Iterator[tuple[str, str]]:
    """Yield transcripts that are not written to any more and have changed since they were swept, each with its time and
    size."""
    paths = [
        path for path in ctx.state.cursors() if path.startswith("/") and path.endswith(".jsonl")
    ]
    since = (now - interrupted_session.LOOKED_BACK).timestamp()
    for folder in sorted({os.path.dirname(path) for path in paths}):
        known_paths = {path for path in paths if os.path.dirname(path) == folder}
        stats = interrupted_session.transcripts_in(folder)
        oldest = min((stats[path].st_mtime for path in known_paths if path in stats), default=None)
        stamps = {
            path: f"{file_stat.st_mtime_ns}:{file_stat.st_size}"
            for path, file_stat in stats.items()
            if file_stat.st_mtime >= since
            and (path in known_paths or (oldest and file_stat.st_mtime > oldest))
        }
        for path in ctx.state.unread_files(folder, stamps):
            if not backfill.is_live(path):
                yield path, stamps[path]
