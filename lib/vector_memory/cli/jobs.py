"""`jobs`: what is done when nobody waits, when, and how it went."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator

from vector_memory.cli import asking, job_files, output
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation
from vector_memory.errors import BadInputError
from vector_memory.text import days

SHOWN_LINES, LINE_CHARS = 40, 300
NEXT_RUNS = ("reached", "history")
"""What a report keeps for the run after it."""


def show_all(answer: Row) -> None:
    """Print all jobs as a table."""
    output.listing(answer.rows("jobs"), COLUMNS)


def show_heading(job: Row) -> None:
    """Print what is known of a job, in a line, without what its last run had to say."""
    output.say(_heading(Row({**job, "message": ""})))


def run(call: Invocation, name: str | None, due: bool, dry_run: bool) -> int:
    """Run a job, or all that are due; return 1 where one failed.

    Raises:
        BadParameter: neither was named, or both.
    """
    asking.require_one("Give a job's name, or --due.", name, due)
    answer = call.ask()
    call.show(answer, _show_due if due else show)
    if dry_run and not call.as_json:
        output.note("That was a dry run: nothing was changed.")
    ran_jobs = answer.rows("jobs") if due else [answer]
    return int(not dry_run and any(job.text("outcome") == "failed" for job in ran_jobs))


def install(call: Invocation, kind: str | None, remove: bool) -> None:
    """Write what wakes the daemon once a day, or take it away.

    Raises:
        BadInputError: an agent asks.
    """
    asking.require_user("installs timers")
    job_files.settle(job_files.timers, ("systemd", "launchd", "cron"), kind, remove, call)


def export(call: Invocation, n8n: str) -> None:
    """Write the jobs as workflows of n8n.

    Raises:
        BadInputError: there is such a file, or no folder for it.
    """
    folder = os.path.dirname(n8n)
    if not os.path.isdir(folder):
        raise BadInputError(f"There is no folder {folder}.", "Choose another one, or make it.")
    if os.path.lexists(n8n):
        raise BadInputError(f"{n8n} is there already.", "Choose another name.")
    jobs = call.ask().rows("jobs")
    job_files.write(n8n, job_files.workflows(jobs))
    call.say(
        Row({"file": n8n, "workflows": len(jobs)}),
        f"{len(jobs)} workflows: {n8n}",
        f"Then: n8n import:workflow --input={shlex.quote(n8n)}",
        'n8n 2 needs NODES_EXCLUDE="[]" for its Execute Command node.',
    )


def _show_due(answer: Row) -> None:
    if not answer.count("jobs"):
        output.say(answer.line("message") or "No job is due.")
    for job in answer.rows("jobs"):
        output.say(_heading(job))


def show(job: Row) -> None:
    """Print a job, and what its last run did."""
    output.say(_heading(job))
    output.say(f"It {job.text('about')}.")
    for line in list(_lines(job.row("report")))[:SHOWN_LINES]:
        output.say("  " + output.one_line(line, LINE_CHARS))


def _heading(job: Row) -> str:
    """Return what is known of a job, in a line."""
    off = "" if job.flag("enabled") else ", disabled"
    next_due = f", next {_moment(job, 'next_due')}" if job.text("next_due") else ""
    went = f", {job.text('outcome')}" if job.text("outcome") else ""
    message = job.line("message")
    reason = f": {message}" if message else ""
    return f"{job.text('name')} ({job.text('cadence')}{off}{next_due}{went}){reason}"


def _lines(report: object, name: str = "") -> Iterator[str]:
    """Yield a report line by line; what only the next run reads stays out."""
    if isinstance(report, dict) and "text" in report:
        details = _in_one_line({key: value for key, value in report.items() if key != "text"})
        yield f"{name}: {report['text']}" + (f" ({details})" if details else "")
    elif isinstance(report, list) and any(isinstance(member, dict) for member in report):
        for value in report:
            yield from _lines(value, name)
    elif name or not isinstance(report, dict):
        yield f"{name}: {_in_one_line(report)}"
    else:
        for key, value in report.items():
            # The sentence above tells of nothing that there was nothing of it.
            if value and key not in NEXT_RUNS:
                yield from _lines(value, key.replace("_", " "))


def _in_one_line(value: object) -> str:
    """Return a part of a report in one line."""
    if isinstance(value, dict):
        return ", ".join(
            f"{key.replace('_', ' ')} {_in_one_line(member)}" for key, member in value.items()
        )
    if isinstance(value, list):
        return ", ".join(map(_in_one_line, value))
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _moment(job: Row, name: str) -> str:
    """Return a time in this machine's zone, to the minute."""
    at = days.parse_local(job.text(name))
    return f"{at:%Y-%m-%d %H:%M}" if at else ""


COLUMNS: dict[str, output.Cell] = {
    **output.fields("job=name when=cadence"),
    "next": lambda job: _moment(job, "next_due") if job.flag("enabled") else "disabled",
    "last": lambda job: _moment(job, "last_ended"),
    **output.fields("outcome"),
    "message": output.field("message", 80),
}
