"""When jobs are due. Pure: the rows and the clock come in, what is to be done comes out.

A due time is a moment on the wall clock, kept in the state: machines sleep, and the daemon ends when nobody
asks it anything. However many times were missed, one run makes up for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from vector_memory.journal.job_rows import FAILED, OK, JobRow
from vector_memory.text import days

FIRST_RETRY, LAST_RETRY = timedelta(minutes=5), timedelta(days=1)
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


class Cadence(NamedTuple):
    """How often a job runs: every so many hours, else at a time of each day, of a weekday (0 is Monday), or of
    a day of the month; with nothing set only when it is asked for. `words` say so to people."""

    words: str
    hours: int = 0
    hour: int = -1
    minute: int = 0
    weekday: int = -1
    monthday: int = 0

    @property
    def cron(self) -> str:
        """The same as the five fields of a crontab, "" for one that runs when it is asked for."""
        if self.hours:
            return f"0 */{self.hours} * * *"
        if self.hour < 0:
            return ""
        day = str(self.monthday or "*")
        return f"{self.minute} {self.hour} {day} * {(self.weekday + 1) % 7 if self.weekday >= 0 else '*'}"

    def after(self, now: datetime) -> datetime | None:
        """Return the next time of this cadence behind an aware local time, None for never."""
        if self.hours:
            return now + timedelta(hours=self.hours)
        if self.hour < 0:
            return None
        wall_time = now.replace(
            hour=self.hour, minute=self.minute, second=0, microsecond=0, tzinfo=None
        )
        # Within 31 days there is each weekday, and each first of a month.
        while (due_at := days.shown_at(wall_time, now)) <= now or not self._has(wall_time):
            wall_time += timedelta(days=1)
        return due_at

    def _has(self, at: datetime) -> bool:
        return self.weekday in (-1, at.weekday()) and self.monthday in (0, at.day)


def cadence(words: str) -> Cadence:
    """Return the cadence of its words: `every 2 h`, `daily 03:30`, `weekly Sun 04:00`, `monthly 1. 06:00`,
    or `when asked for`."""
    if words == "when asked for":
        return Cadence(words)
    kind, *details = words.split()
    if kind == "every":
        return Cadence(words, hours=int(details[0]))
    hour, minute = map(int, details[-1].split(":"))
    weekday = _DAYS.index(details[0]) if kind == "weekly" else -1
    monthday = int(details[0].rstrip(".")) if kind == "monthly" else 0
    return Cadence(words, 0, hour, minute, weekday, monthday)


@dataclass(frozen=True)
class Plan:
    """What is to be done at a moment.

    Attributes:
        due: names of the jobs to be run, the longest due first; of equals in the registry's order.
        moved: rows to be written: of jobs that are new, and of those whose due time a clock that was put back
            left too far ahead.
        next_at: when the next job is due that is not due now, None for none.
    """

    due: Sequence[str]
    moved: Sequence[JobRow]
    next_at: datetime | None


def plan(
    cadences: Mapping[str, Cadence],
    rows: Mapping[str, JobRow],
    now: datetime,
    off: Iterable[str] = (),
) -> Plan:
    """Return what is due.

    A job that was never seen is due at its next time, not at once: nobody who has just installed it waits
    for twenty jobs.

    Args:
        cadences: of all jobs there are.
        rows: what is known of them.
        now: the local time, aware.
        off: jobs that are disabled from the start.
    """
    due: list[JobRow] = []
    moved: list[JobRow] = []
    later: list[datetime] = []
    disabled = set(off)
    for name, cadence in cadences.items():
        next_due = cadence.after(now)
        stored = rows.get(name)
        row = stored or JobRow(name, name not in disabled, due_at=next_due)
        if row.due_at is not None and next_due is not None and row.due_at > _latest(cadence, now):
            row = replace(row, due_at=next_due)
        if row is not stored:
            moved.append(row)
        if row.enabled and row.due_at is not None:
            (due.append(row) if row.due_at <= now else later.append(row.due_at))
    due.sort(key=lambda row: row.due_at or now)
    return Plan([row.name for row in due], moved, min(later, default=None))


def _latest(cadence: Cadence, now: datetime) -> datetime:
    """Return how far ahead a job can be due: further only where the clock was put back."""
    next_due = cadence.after(now) or now
    # An hour more: summer time may lie in between. A retry may be later than the next time.
    return max(next_due, now + LAST_RETRY) + timedelta(hours=1)


def after_run(row: JobRow, cadence: Cadence, now: datetime, outcome: str, message: str) -> JobRow:
    """Return a row after a run: due at its next time, after a failure sooner, each time twice as late.

    Args:
        outcome: `FAILED`, after which the run goes on at its cursor, or what else it is.
    """
    next_due = cadence.after(now)
    row = replace(row, ended_at=now, outcome=outcome or OK, message=message)
    if outcome != FAILED:
        return replace(row, failures=0, due_at=next_due, cursor={})
    failures = row.failures + 1
    retry = now + min(LAST_RETRY, FIRST_RETRY * 2 ** min(failures - 1, 10))
    due = min(retry, next_due) if next_due and failures < 2 else retry
    return replace(row, failures=failures, due_at=due if next_due else None)
