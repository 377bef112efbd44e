"""The jobs as people and programs see them: `jobs list`, `show`, `run`, `enable`, `disable`."""

from __future__ import annotations

from dataclasses import replace

from vector_memory.journal.job_rows import JobRow
from vector_memory.model import Progress
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.jobs import registry, runner
from vector_memory.service.jobs.step import PHASES
from vector_memory.service.jobs.weekly_backup import newest
from vector_memory.service.upkeep import stats as figures
from vector_memory.system.json_in import Record

ACTIONS = ("list", "show", "enable", "disable")
OFF = "No job runs by itself: `vector-memory config set jobs on` lets them."


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


View = dict[str, object]
"""A job and how its last run went: `name`, `cadence`, whether it is `enabled`, when it `last_started` and
`last_ended`, the `outcome` (`ok`, `failed`, `running`, `waits` for something that is not there; "" before the first
run), when it is due (`next_due`), a `message`, and how often in a row it failed (`failures`); where all is wanted, what
it does (`about`), its cadence as in a crontab (`cron`, "" for none), how long its last run took (`took_s`) and what
that did (`report`)."""


def jobs(ctx: Context, request: JobsRequest) -> View:
    """Return all `jobs`, and when the newest backup was written (`backup_at`), or one; or enable or disable one.

    Raises:
        NotFoundError: there is none of that name.
        BadInputError: the action is unknown, or an agent enables or disables.
    """
    if request.action == "list":
        if ctx.state.writable:
            runner.due_jobs(ctx)
        views = [_view(ctx, row, request.whole) for row in _all(ctx)]
        backup_at = newest(ctx.home)
        return {"jobs": views, **({"backup_at": backup_at} if backup_at else {})}
    name = registry.job_name(request.name)
    if request.action != "show":
        request.require_user("enables and disables jobs")
        _set(ctx, name, request.action == "enable", request.actor)
    return _view(ctx, runner.told_row(ctx, name), whole=True)


def stats(ctx: Context, request: messages.Request) -> figures.StatsAnswer:
    """Return counts of all that there is; of the jobs, too, which a new data home has not noted yet."""
    return figures.stats(ctx, request, _all(ctx))


def _all(ctx: Context) -> list[JobRow]:
    rows = ctx.state.jobs()
    return [rows.get(name) or runner.row_of(ctx, name) for name in registry.JOBS]


def _set(ctx: Context, name: str, enabled: bool, actor: str) -> None:
    """Enable or disable a job; one that is enabled is due at its next time."""
    with ctx.job_clock.lock:
        due_at = registry.JOBS[name].cadence.after(ctx.local_now()) if enabled else None
        ctx.state.put_jobs([replace(runner.row_of(ctx, name), enabled=enabled, due_at=due_at)])
    runner.forget_due_times(ctx)
    ctx.state.audit("job_enable" if enabled else "job_disable", actor, [], {"name": name})


def run(ctx: Context, request: RunRequest, progress: Progress) -> View:
    """Run a job to its end and return how it went; or all `jobs` that are due, one after the other. None is where they
    are switched off; `message` says so.

    Raises:
        NotFoundError: there is none of that name.
        BadInputError: another job is running.
    """
    if not request.due:
        name = registry.job_name(request.name)
        progress(0, 1, name)
        begin = Record({PHASES: list(request.phases)}) if request.phases else None
        return _view(ctx, runner.run(ctx, name, request.dry_run, begin), whole=True)
    if not ctx.settings.jobs:
        return {"jobs": [], "message": OFF}
    names = runner.due_jobs(ctx)
    views = []
    for number, name in enumerate(names):
        progress(number, len(names), name)
        views.append(_view(ctx, runner.run(ctx, name, request.dry_run), whole=True))
    return {"jobs": views}


def _view(ctx: Context, row: JobRow, whole: bool = False) -> View:
    job, enabled = registry.JOBS[row.name], row.enabled and ctx.settings.jobs
    view: View = {
        "name": row.name, "cadence": job.cadence.words, "enabled": enabled, "last_started": row.started_at,
        "last_ended": row.ended_at, "outcome": row.outcome, "next_due": row.due_at if enabled else None,
        "message": row.message, "failures": row.failures,
    }  # fmt: skip
    if whole:
        view |= {"about": job.about, "cron": job.cadence.cron, "took_s": row.took_s}
        view["report"] = runner.report_of_run(row.report)
    return view
