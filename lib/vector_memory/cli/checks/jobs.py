"""The upkeep jobs: those that fail, how old the newest backup is, and whether the folders of notes are there that
they read and write."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

from vector_memory.cli.answers import Row
from vector_memory.cli.checks import Case, CheckResult, ok, warn
from vector_memory.text import days

OLD = timedelta(days=7)


def check(case: Case) -> Iterator[CheckResult]:
    """Yield which jobs fail, the age of the backup, and which folders of notes are gone."""
    yield from _folders(case)
    answer = case.ask("jobs")
    now = datetime.now(timezone.utc)
    jobs = answer.rows("jobs")
    failing = [job for job in jobs if job.text("outcome") == "failed"]
    for job in failing:
        message = f"{job.text('name')} failed {job.count('failures')} times: {job.line('message')}"
        yield warn(message, f"`vector-memory jobs run {job.text('name')}`")
    if jobs and not failing:
        enabled = sum(job.flag("enabled") for job in jobs)
        yield ok(f"{enabled} of {len(jobs)} jobs run by themselves")
    yield from _backup(answer, jobs, now)


def _folders(case: Case) -> Iterator[CheckResult]:
    settings = case.settings()
    for name in ("vault", "daily_notes", "reviews") if settings else ():
        folder = os.path.expanduser(getattr(settings, name))
        if folder and not os.path.isdir(folder):
            message = (
                f"{name}: there is no folder {folder}, so its notes are neither read nor written."
            )
            yield warn(message, f"`vector-memory config set {name} DIR`")


def _backup(answer: Row, jobs: list[Row], now: datetime) -> Iterator[CheckResult]:
    """Yield how old the newest backup is. A new store has none before the job's first time."""
    at = days.parse_local(answer.text("backup_at"))
    job = next((job for job in jobs if job.text("name") == "backup"), Row())
    if at is None:
        is_coming = job.flag("enabled") and not job.text("outcome")
        message = "There is no backup in the usual place yet."
        yield ok(message) if is_coming else warn(message, "`vector-memory backup`")
    elif now - at > OLD:
        message = f"The newest backup in the usual place is {(now - at).days} days old."
        why = job.line("message") if job.text("outcome") == "waits" else ""
        yield warn(message, why or "`vector-memory backup`")
    else:
        yield ok(f"The newest backup is of {at:%Y-%m-%d}")
