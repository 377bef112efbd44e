"""backup: one file a week in the data home's `backups/`, the last four of those that the job wrote. What the
user wrote there by hand is never deleted."""

from __future__ import annotations

import os
import shutil
import time
from datetime import datetime
from fnmatch import filter as matching

from vector_memory.journal.job_rows import WAITS
from vector_memory.journal.readonly import JOURNAL
from vector_memory.model import ignore_progress
from vector_memory.service.base.context import Context
from vector_memory.service.jobs.step import JobRun, Step
from vector_memory.service.upkeep import backups
from vector_memory.system.paths import Home

KEPT = 4
_OWN_NAMES = f"weekly-{'[0-9]' * 8}T{'[0-9]' * 6}.tar.gz"
LEFT_S = 86_400.0
"""After so long a folder that a killed backup left is nobody's any more."""


def step(ctx: Context, run: JobRun) -> Step:
    """Name the file, then write it, then delete what is too old: each is a step, and bears to be done twice.

    Returns:
        What it did, and where the next step begins.
    """
    path = run.cursor.text("path")
    if not path:
        return _begin(ctx, run)
    if not os.path.lexists(path):
        request = backups.BackupRequest(path=path, actor="job")
        answer = backups.backup(ctx, request, ignore_progress)
        return Step({"memories": answer.memories, "bytes": answer.bytes}, {"path": path})
    removed = _delete_old(ctx.home)
    return Step({"removed": removed, "file": path}, message=f"Wrote {path}.")


def _begin(ctx: Context, run: JobRun) -> Step:
    journals = [os.path.join(shelf.folder, JOURNAL) for shelf in ctx.all_shelves()]
    size_mb = sum(map(os.path.getsize, journals)) / 1e6
    most_mb = ctx.settings.backup_most_mb
    if size_mb > most_mb:
        message = (
            f"The journals take {size_mb:,.0f} MB, more than `backup_most_mb` allows ({most_mb:,}): "
            "`vector-memory backup DIR` writes one where there is room."
        )
        return Step({"mb": round(size_mb)}, message=message, outcome=WAITS)
    path = os.path.join(ctx.home.backups, f"weekly-{run.now:%Y%m%dT%H%M%S}.tar.gz")
    if run.dry_run:
        return Step(
            {
                "mb": round(size_mb),
                "file": path,
                "would_remove": len(_older_backups(ctx.home, KEPT - 1)),
            }
        )
    return Step({}, {"path": path})


def _older_backups(home: Home, count: int) -> list[str]:
    names = os.listdir(home.backups) if os.path.isdir(home.backups) else []
    own_names = sorted(matching(names, _OWN_NAMES), reverse=True)
    return [os.path.join(home.backups, name) for name in own_names[count:]]


def _delete_old(home: Home) -> int:
    """Delete the job's own older backups, and what killed ones left; return how many files went."""
    paths = _older_backups(home, KEPT)
    for path in paths:
        os.unlink(path)
    for entry in os.scandir(home.backups):
        is_left = entry.name.startswith(".backup-") and entry.is_dir(follow_symlinks=False)
        if is_left and time.time() - entry.stat(follow_symlinks=False).st_mtime > LEFT_S:
            shutil.rmtree(entry.path, ignore_errors=True)
    return len(paths)


def newest(home: Home) -> datetime | None:
    """Return when the newest backup in the usual place was written, None without one."""
    if not os.path.isdir(home.backups):
        return None
    times = [
        entry.stat(follow_symlinks=False).st_mtime
        for entry in os.scandir(home.backups)
        if entry.name.endswith(backups.ENDING) and entry.is_file(follow_symlinks=False)
    ]
    return datetime.fromtimestamp(max(times)).astimezone() if times else None
