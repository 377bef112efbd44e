"""The jobs as people and programs see them: `jobs list`, `show`, `run`, `enable`, `disable`."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from vector_memory.journal.job_rows import JobRow
from vector_memory.model import Progress
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.jobs import registry, runner
from vector_memory.service.jobs.step import PHASES
from vector_memory.service.jobs.weekly_backup import newest
from vector_memory.system.json_in import Record

ACTIONS = ("list", "show", "enable", "disable")


class JobsRequest(messages.Request):
    """Jobs are to be listed, or one of them (`name`) to be shown, enabled or disabled.

    Attributes:
        whole: list all that is known of them.
    """

    action: str = messages.one_of(ACTIONS, "list")
    name: str = messages.word()
    whole: bool = messages.flag()


class RunRequest(messages.Request):
    """A job (`name`) is to be run now, or all that are `due`.

    Attributes:
        dry_run: only tell what it would do.
        phases: of a job that has some, only these.
    """

    name: str = messages.word()
    phases: tuple[str, ...] = messages.words()
    due: bool = messages.flag()
    dry_run: bool = messages.flag()


class JobView(messages.Answer):
    """A job, and how its last run went.

    Attributes:
        outcome: `ok`, `failed`, `running`, `waits` for something that is not there; "" before the first run.
        failures: how often in a row it failed.
        about: what it does.
        cron: its cadence as in a crontab, "" for none.
        took_s: how long its last run took, in seconds.
        report: what that run did.
    """

    name: str
    cadence: str
    enabled: bool
    last_started: datetime | None
    last_ended: datetime | None
    outcome: str
    next_due: datetime | None
    message: str
    failures: int
    about: str | None = messages.spare()
    cron: str | None = messages.spare()
    took_s: float | None = messages.spare()
    report: dict[str, object] | None = messages.spare()


class JobsAnswer(messages.Answer):
    """Jobs, and when the newest backup was written."""

    jobs: list[JobView]
    backup_at: datetime | None = messages.spare()


def jobs(ctx: Context, request: JobsRequest) -> JobsAnswer | JobView:
    """Return all jobs, or one; or enable or disable one.

    Raises:
        NotFoundError: there is none of that name.
        BadInputError: the action is unknown, or an agent enables or disables.
    """
    if request.action == "list":
        if ctx.state.writable:
            runner.due_jobs(ctx)
        rows = ctx.state.jobs()
        listed = [rows.get(name) or runner.row_of(ctx, name) for name in registry.JOBS]
        views = [_view(ctx, row, request.whole) for row in listed]
        return JobsAnswer(views, newest(ctx.home))
    name = registry.named(request.name)
    if request.action != "show":
        request.require_user("enables and disables jobs")
        _set(ctx, name, request.action == "enable", request.actor)
    return _view(ctx, runner.told_row(ctx, name), whole=True)


def _set(ctx: Context, name: str, enabled: bool, actor: str) -> None:
    """Enable or disable a job; one that is enabled is due at its next time."""
    with ctx.job_clock.lock:
        due_at = registry.JOBS[name].cadence.after(ctx.local_now()) if enabled else None
        ctx.state.put_jobs([replace(runner.row_of(ctx, name), enabled=enabled, due_at=due_at)])
    runner.look_again(ctx)
    ctx.state.audit("job_enable" if enabled else "job_disable", actor, [], {"name": name})


def run(ctx: Context, request: RunRequest, progress: Progress) -> JobView | JobsAnswer:
    """Run a job to its end and return how it went; or all that are due, one after the other.

    Raises:
        NotFoundError: there is none of that name.
        BadInputError: another job is running.
    """
    if not request.due:
        name = registry.named(request.name)
        progress(0, 1, name)
        begin = Record({PHASES: list(request.phases)}) if request.phases else None
        return _view(ctx, runner.run(ctx, name, request.dry_run, begin), whole=True)
    names = runner.due_jobs(ctx)
    views = []
    for number, name in enumerate(names):
        progress(number, len(names), name)
        views.append(_view(ctx, runner.run(ctx, name, request.dry_run), whole=True))
    return JobsAnswer(views)


def _view(ctx: Context, row: JobRow, whole: bool = False) -> JobView:
    job = registry.JOBS[row.name]
    enabled = row.enabled and ctx.settings.jobs
    return JobView(
        row.name,
        job.cadence.words,
        enabled,
        row.started_at,
        row.ended_at,
        row.outcome,
        row.due_at if enabled else None,
        row.message,
        row.failures,
        **_whole(job, row) if whole else {},
    )


def _whole(job: registry.Job, row: JobRow) -> dict[str, Any]:
    report = runner.report_of_run(row.report)
    return {"about": job.about, "cron": job.cadence.cron, "took_s": row.took_s, "report": report}
