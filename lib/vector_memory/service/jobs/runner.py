"""The runner: one step of one job at a time, in the keeper's thread when nobody waits, or for who asks.

A run is begun and ended in the state, and each step's cursor is written with what it reports. A daemon that
is killed leaves a run that goes on at its cursor; one that is left so again and again waits like one that
failed. A job that fails keeps none of the others.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from vector_memory.errors import BadInputError, StoreFullError
from vector_memory.journal.job_rows import FAILED, RUNNING, JobRow
from vector_memory.service.base import privacy
from vector_memory.service.base.context import Context, JobClock
from vector_memory.service.jobs import registry, schedule
from vector_memory.service.jobs.step import Entry, JobRun, Step, counts_of, with_step, without_words
from vector_memory.system.json_in import Record

log = logging.getLogger(__name__)

LOOK_AGAIN = timedelta(hours=1)
"""How long the due times in memory are believed: a clock may be put right meanwhile."""
MOST_RUN_S = 1_200.0
"""How long the steps of one run may take in all; then it goes on another time."""
MOST_CUT_OFF = 2
"""How often a run may be cut off by the daemon's end before that counts as a failure."""
BUSY = "Another job is running."


def forget_due_times(ctx: Context) -> None:
    """Look at the state before the next step: a due time has changed."""
    ctx.job_clock.looked_at = None


def advance(ctx: Context) -> int:
    """Do one step of a job that is due; return 1, or 0 when none is. It costs a comparison of times while
    nothing is due.

    Raises:
        StoreFullError: the state cannot be written.
    """
    clock, now = ctx.job_clock, ctx.now()
    if not ctx.settings.jobs or not _is_time(clock, now) or not ctx.state.writable:
        return 0
    if not clock.lock.acquire(blocking=False):
        return 0
    try:
        due = due_jobs(ctx)
        if due:
            _one_step(ctx, due[0])
        return int(bool(due))
    finally:
        clock.lock.release()


def _is_time(clock: JobClock, now: datetime) -> bool:
    looked_at = clock.looked_at
    if looked_at is None or not looked_at <= now <= looked_at + LOOK_AGAIN:
        return True
    return clock.next_at is not None and clock.next_at <= now


def due_jobs(ctx: Context) -> list[str]:
    """Return the names of the jobs that are due, and note when the next one is."""
    clock, now = ctx.job_clock, ctx.now()
    plan = schedule.plan(registry.CADENCES, ctx.state.jobs(), ctx.local_now(), registry.OFF)
    if plan.moved:
        ctx.state.put_jobs(plan.moved)
    clock.looked_at = None if plan.due else now
    clock.next_at = plan.next_at
    return list(plan.due)


def row_of(ctx: Context, name: str) -> JobRow:
    """Return what is known of a job."""
    row = ctx.state.jobs().get(name)
    return row or JobRow(name, name not in registry.OFF)


def run(ctx: Context, name: str, dry_run: bool, begin: Record | None = None) -> JobRow:
    """Run a job to its end, whenever it is due, and return its row; with `dry_run` nothing is changed or noted.

    Args:
        begin: the cursor to begin at, whatever run was left unfinished; at the beginning by default.

    Raises:
        BadInputError: another one is running.
        VectorMemoryError: a dry run failed; a run's failure stands in its row.
    """
    clock = ctx.job_clock
    if not clock.lock.acquire(timeout=10.0):
        raise BadInputError(BUSY, "Try again in a minute.")
    try:
        if dry_run:
            return _rehearse(ctx, name, begin or Record())
        if begin:
            fresh_row = _begin_or_resume(
                replace(row_of(ctx, name), outcome="", cursor={}), ctx.now(), False
            )
            ctx.state.put_jobs([replace(fresh_row, cursor=begin)])
            clock.begun.add(name)
            clock.told.pop(name, None)
        row = _one_step(ctx, name)
        while row.outcome == RUNNING and not ctx.stopping.is_set():
            row = _one_step(ctx, name)
        return told_row(ctx, name)
    finally:
        clock.lock.release()
        forget_due_times(ctx)


def _rehearse(ctx: Context, name: str, begin: Record) -> JobRow:
    """Return the row that a run would leave."""
    row, work = row_of(ctx, name), registry.work_of(name)
    job_run = JobRun(ctx.now(), begin, dry_run=True, before=_run_before(row))
    deadline = time.monotonic() + MOST_RUN_S
    while True:
        with privacy.for_folder(ctx, ""):
            step = work(ctx, job_run)
        report = Record(with_step(job_run.report, step.report))
        if not step.cursor or time.monotonic() > deadline:
            message = step.message or registry.sentence(name, report)
            return replace(row, report=report, message=message)
        job_run = replace(job_run, cursor=Record(step.cursor), report=report)


def _one_step(ctx: Context, name: str) -> JobRow:
    """Do one step of a job; return its row as it stands then."""
    clock = ctx.job_clock
    before = row_of(ctx, name)
    was_cut_off = before.outcome == RUNNING and name not in clock.begun
    row = _begin_or_resume(before, ctx.now(), was_cut_off)
    clock.begun.add(name)
    if was_cut_off and row.failures > MOST_CUT_OFF:
        message = "The daemon ended in the middle of it, several times."
        return _end_run(ctx, row, FAILED, message)
    # Stored before it is done: if this step ends the daemon, the next daemon knows which one it was.
    ctx.state.put_jobs([row])
    report, earlier_run = Record(report_of_run(row.report)), Record(row.report).part(_BEFORE)
    job_run = JobRun(ctx.now(), Record(row.cursor), False, report, earlier_run)
    started = time.monotonic()
    try:
        with privacy.for_folder(ctx, ""):
            step = registry.work_of(name)(ctx, job_run)
    except Exception as error:
        _note_failure(ctx, row, error)
        if isinstance(error, StoreFullError):
            raise
        return row_of(ctx, name)
    took_s = round(row.took_s + time.monotonic() - started, 3)
    earlier = clock.told.get(name, job_run.report) if row.cursor else {}
    clock.told[name] = with_step(earlier, step.report)
    report = Record(without_words(with_step(job_run.report, step.report)))  # type: ignore[call-overload]
    if not step.cursor:
        done_row = replace(row, report=report, took_s=took_s)
        message = step.message or registry.sentence(name, report)
        return _end_run(ctx, done_row, step.outcome, message, step)
    # A step that was done is no failure, however often the run was cut off.
    stored_report = {**report, _BEFORE: job_run.before}
    row = replace(row, cursor=step.cursor, report=stored_report, took_s=took_s, failures=0)
    if took_s > MOST_RUN_S:
        message = f"It took longer than {MOST_RUN_S / 60:.0f} minutes, and goes on another time."
        return _end_run(ctx, replace(row, took_s=0.0), FAILED, message, step)
    ctx.state.put_jobs([row], [step.entry] if step.entry else [])
    return row


_BEFORE = "before"
"""In the report of a run that is going on: the report of the run before."""


def told_row(ctx: Context, name: str) -> JobRow:
    """Return a job's row, with the whole report of its last run where this process has it: the state holds no texts."""
    row = row_of(ctx, name)
    return replace(row, report=ctx.job_clock.told.get(name) or report_of_run(row.report))


def report_of_run(report: Mapping[str, object]) -> dict[str, object]:
    """Return a run's own report from its row, without that of the run before."""
    return {name: value for name, value in report.items() if name != _BEFORE}


def _begin_or_resume(row: JobRow, now: datetime, was_cut_off: bool) -> JobRow:
    """Return the row of a run that begins, or goes on after it failed or its daemon ended."""
    if row.outcome == RUNNING:
        return replace(row, failures=row.failures + 1) if was_cut_off else row
    if row.cursor:
        return replace(row, outcome=RUNNING, started_at=now)
    before = {_BEFORE: _run_before(row)}
    return replace(row, outcome=RUNNING, started_at=now, took_s=0.0, report=before, message="")


def _run_before(row: JobRow) -> Record:
    """Return the report of the run before one that begins anew: one that failed before its first step was done has none."""
    report = Record(row.report)
    return report.part(_BEFORE) if _BEFORE in report else report


def _note_failure(ctx: Context, row: JobRow, error: Exception) -> None:
    """Note a failure. The run goes on at its cursor when it is tried again."""
    log.error("job %s failed: %s", row.name, error, exc_info=error)
    ctx.count("jobs_failed")
    _end_run(ctx, row, FAILED, f"{type(error).__name__}: {error}"[:500])


def _end_run(
    ctx: Context, row: JobRow, outcome: str, message: str, step: Step | None = None
) -> JobRow:
    """Write how a run ended and when the job is due again, with its audit entries, in one transaction."""
    ended = schedule.after_run(
        row, registry.JOBS[row.name].cadence, ctx.local_now(), outcome, message
    )
    entries = [step.entry] if step is not None and step.entry else []
    detail = {"name": row.name, "outcome": ended.outcome, **counts_of(report_of_run(ended.report))}
    ctx.state.put_jobs([ended], [*entries, Entry("job", (), detail)])
    ctx.job_clock.begun.discard(row.name)
    forget_due_times(ctx)
    return ended
