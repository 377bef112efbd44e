"""`jobs`: what is done when nobody waits, when, and how it went."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal

import typer

from vector_memory.cli import asking, job_files, options, output
from vector_memory.cli.answers import Row
from vector_memory.cli.progress import ask_long
from vector_memory.errors import BadInputError

TIMEOUT_S = 3_600.0
SHOWN_LINES, LINE_CHARS = 40, 300
NEXT_RUNS = ("reached", "history")
"""What a report keeps for the run after it."""
app = options.group("Show the upkeep jobs: when each runs, and how its last run went.")
Name = Annotated[str, options.argument("NAME", "The job's name.")]
Maybe = Annotated[str | None, options.argument("NAME", "The job's name.", show_default=False)]
DryRun = Annotated[bool, options.switch("Change nothing: tell what it would do.", "--dry-run")]


@app.callback(invoke_without_command=True)
def jobs(ctx: typer.Context, as_json: options.Json = False) -> None:
    """Show the upkeep jobs: when each runs, and how its last run went.

    They run by themselves when nobody waits and the daemon runs. `config set jobs off` stops all.
    """
    if ctx.invoked_subcommand is None:
        list_jobs(as_json)


@app.command("list")
def list_jobs(as_json: options.Json = False) -> None:
    """List all jobs."""
    output.answer(asking.ask("jobs", asking.everywhere()), as_json, _table)


@app.command("show")
def show(name: Name, as_json: options.Json = False) -> None:
    """Show one job, and what its last run did."""
    answer = asking.ask("jobs", asking.everywhere(), action="show", name=name)
    output.answer(answer, as_json, _show)


@app.command("run")
def run(
    name: Maybe = None,
    due: Annotated[bool, options.switch("Run all that are due.", "--due")] = False,
    dry_run: DryRun = False,
    as_json: options.Json = False,
) -> int:
    """Run a job now, whenever it is due, or all that are due. Exit 1 when one fails."""
    if (name is None) is not due:
        raise typer.BadParameter("Give a job's name, or --due.")
    answer = ask_long(
        "run_job", asking.everywhere(), as_json, TIMEOUT_S, name=name, due=due, dry_run=dry_run
    )
    output.answer(answer, as_json, _ran if due else _show)
    if dry_run and not as_json:
        output.note("That was a dry run: nothing was changed.")
    ran = answer.rows("jobs") if due else [answer]
    return int(not dry_run and any(job.text("outcome") == "failed" for job in ran))


@app.command("enable")
def enable(name: Name, as_json: options.Json = False) -> None:
    """Let a job run by itself, from its next time on."""
    _switch("enable", name, as_json)


@app.command("disable")
def disable(name: Name, as_json: options.Json = False) -> None:
    """Let a job run only when you ask for it."""
    _switch("disable", name, as_json)


def _switch(action: str, name: str, as_json: bool) -> None:
    answer = asking.ask("jobs", asking.everywhere(), action=action, name=name)
    output.answer(
        answer, as_json, lambda job: output.say(_heading(Row({**job.fields, "message": ""})))
    )


@app.command("install")
def install(
    kind: Annotated[
        Literal["systemd", "launchd", "cron"] | None,
        options.switch("For what; what this machine has, by default.", "--for"),
    ] = None,
    remove: Annotated[bool, options.switch("Take away what it wrote.", "--remove")] = False,
    as_json: options.Json = False,
) -> None:
    """Write what wakes the daemon once a day, so that jobs run on days without a session.

    It writes files of your own and starts nothing: it tells the command that does.
    """
    if asking.everywhere().get("actor"):
        raise BadInputError("Only the user installs timers.", "Ask the user to run it.")
    written = job_files.timers(kind or job_files.usual_kind())
    job_files.settle(written, remove, as_json)


@app.command("export")
def export(
    n8n: Annotated[str, options.value("FILE", "The file to write.", "--n8n")],
    as_json: options.Json = False,
) -> None:
    """Write the jobs as workflows that n8n imports, each calling this command line."""
    path = asking.path_of(n8n)
    if os.path.lexists(path):
        raise BadInputError(f"{path} is there already.", "Choose another name.")
    rows = asking.ask("jobs", asking.everywhere(), whole=True).rows("jobs")
    job_files.write(path, job_files.workflows(rows))
    done = Row({"file": path, "workflows": len(rows)})
    output.answer(done, as_json, lambda done: output.say(
        f"{done.count('workflows')} workflows: {path}\nThen: n8n import:workflow --input={path}\n"
        'n8n 2 needs NODES_EXCLUDE="[]" for its Execute Command node.'
    ))  # fmt: skip


def _table(answer: Row) -> None:
    output.listing(answer.rows("jobs"), COLUMNS)


def _ran(answer: Row) -> None:
    if not answer.count("jobs"):
        output.say("No job is due.")
    for job in answer.rows("jobs"):
        output.say(_heading(job))


def _show(job: Row) -> None:
    output.say(_heading(job))
    output.say(f"It {job.text('about')}.")
    for line in list(_lines(job.row("report").fields))[:SHOWN_LINES]:
        output.say("  " + output.one_line(line, LINE_CHARS))


def _heading(job: Row) -> str:
    """Return what is known of a job, in a line."""
    off = "" if job.flag("enabled") else ", disabled"
    next_due = f", next {_moment(job, 'next_due')}" if job.text("next_due") else ""
    went = f", {job.text('outcome')}" if job.text("outcome") else ""
    message = job.line("message")
    said = f": {message}" if message else ""
    return f"{job.text('name')} ({job.text('cadence')}{off}{next_due}{went}){said}"


def _lines(report: object, name: str = "") -> Iterator[str]:
    """Yield a report line by line; what only the next run reads stays out."""
    if isinstance(report, dict) and "text" in report:
        more = _joined({key: value for key, value in report.items() if key != "text"})
        yield f"{name}: {report['text']}" + (f" ({more})" if more else "")
    elif isinstance(report, list) and any(isinstance(each, dict) for each in report):
        for value in report:
            yield from _lines(value, name)
    elif name or not isinstance(report, dict):
        if told := _joined(report):
            yield f"{name}: {told}"
    else:
        for key, value in report.items():
            if key not in NEXT_RUNS:
                yield from _lines(value, key.replace("_", " "))


def _joined(value: object) -> str:
    """Return a part of a report in one line."""
    if isinstance(value, dict):
        return ", ".join(f"{key.replace('_', ' ')} {_joined(each)}" for key, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(_joined, value))
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _moment(job: Row, name: str) -> str:
    """Return a time in this machine's zone, to the minute."""
    said = job.text(name)
    return f"{datetime.fromisoformat(said).astimezone():%Y-%m-%d %H:%M}" if said else ""


COLUMNS: dict[str, output.Cell] = {
    "job": lambda job: job.text("name"),
    "when": lambda job: job.text("cadence"),
    "next": lambda job: _moment(job, "next_due") if job.flag("enabled") else "disabled",
    "last": lambda job: _moment(job, "last_ended"),
    "outcome": lambda job: job.text("outcome"),
    "message": output.field("message", 80),
}
