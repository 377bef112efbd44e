"""What is due at a moment, from rows and a clock alone."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory.errors import NotFoundError
from vector_memory.journal.job_rows import FAILED, OK, JobRow
from vector_memory.service.jobs import registry, schedule
from vector_memory.service.jobs.schedule import cadence

ZONE = timezone(timedelta(hours=2))
NOON = datetime(2026, 5, 6, 12, tzinfo=ZONE)
"""A Wednesday."""
ALL = [
    cadence("every 2 h"),
    cadence("daily 03:00"),
    cadence("daily 23:59"),
    cadence("weekly Sun 05:00"),
    cadence("weekly Wed 12:00"),
    cadence("monthly 1. 06:00"),
]


@pytest.mark.parametrize(
    ("words", "cron", "following"),
    [
        ("every 2 h", "0 */2 * * *", NOON + timedelta(hours=2)),
        ("daily 03:30", "30 3 * * *", datetime(2026, 5, 7, 3, 30, tzinfo=ZONE)),
        ("daily 18:00", "0 18 * * *", datetime(2026, 5, 6, 18, tzinfo=ZONE)),
        ("weekly Sun 05:00", "0 5 * * 0", datetime(2026, 5, 10, 5, tzinfo=ZONE)),
        ("weekly Wed 12:00", "0 12 * * 3", datetime(2026, 5, 13, 12, tzinfo=ZONE)),
        ("monthly 1. 06:00", "0 6 1 * *", datetime(2026, 6, 1, 6, tzinfo=ZONE)),
        ("when asked for", "", None),
    ],
)
def test_a_cadence_has_words_and_a_next_time(
    words: str, cron: str, following: datetime | None
) -> None:
    made = cadence(words)
    assert (made.words, made.cron, made.after(NOON)) == (words, cron, following)


def test_a_job_that_was_never_seen_waits_for_its_next_time() -> None:
    """Whoever has just installed it does not wait for all jobs at once."""
    found = schedule.plan({"one": cadence("daily 03:00")}, {}, NOON)
    assert found.due == []
    assert [row.due_at for row in found.moved] == [datetime(2026, 5, 7, 3, tzinfo=ZONE)]
    assert found.next_at == found.moved[0].due_at


def test_any_number_of_missed_times_is_one_run() -> None:
    """After a month of sleep a daily job runs once, and then at its next time."""
    row = JobRow("one", due_at=NOON - timedelta(days=30))
    cadences = {"one": cadence("daily 03:00")}
    assert schedule.plan(cadences, {"one": row}, NOON).due == ["one"]
    done = schedule.after_run(row, cadences["one"], NOON, OK, "")
    assert schedule.plan(cadences, {"one": done}, NOON).due == []
    assert done.due_at == datetime(2026, 5, 7, 3, tzinfo=ZONE)


def test_the_longest_due_comes_first() -> None:
    rows = {name: JobRow(name, due_at=NOON - timedelta(hours=n)) for n, name in enumerate("abc")}
    assert schedule.plan(dict.fromkeys("abc", cadence("daily 03:00")), rows, NOON).due == [
        "c",
        "b",
        "a",
    ]


def test_what_is_disabled_is_not_due() -> None:
    rows = {"one": JobRow("one", enabled=False, due_at=NOON - timedelta(hours=1))}
    assert schedule.plan({"one": cadence("daily 03:00")}, rows, NOON).due == []
    assert (
        not schedule.plan({"two": cadence("daily 03:00")}, {}, NOON, off=["two"]).moved[0].enabled
    )


def test_a_clock_that_was_put_back_stops_no_job() -> None:
    """A due time far ahead is moved to the next one, and only once."""
    row = JobRow("one", due_at=NOON + timedelta(days=400))
    cadences = {"one": cadence("daily 03:00")}
    (moved,) = schedule.plan(cadences, {"one": row}, NOON).moved
    assert moved.due_at == datetime(2026, 5, 7, 3, tzinfo=ZONE)
    assert schedule.plan(cadences, {"one": moved}, NOON).moved == []


def test_a_failure_is_tried_again_later_each_time() -> None:
    """Five minutes, then twice as long each time, a day at most; the cursor stays."""
    row = JobRow("one", due_at=NOON, cursor={"seq": 7})
    waits = []
    for _ in range(12):
        row = schedule.after_run(row, cadence("daily 03:00"), NOON, FAILED, "broke")
        assert row.due_at is not None
        waits.append(row.due_at - NOON)
    minutes = [wait.total_seconds() / 60 for wait in waits]
    assert minutes[:4] == [5, 10, 20, 40]
    assert minutes[-1] == 24 * 60
    assert (row.failures, row.message, row.cursor) == (12, "broke", {"seq": 7})
    good = schedule.after_run(row, cadence("daily 03:00"), NOON, OK, "")
    assert (good.failures, good.cursor) == (0, {})


@given(
    each=st.sampled_from(ALL),
    minutes=st.integers(0, 60 * 24 * 400),
    jumps=st.lists(st.integers(-60 * 24 * 60, 60 * 24 * 60), max_size=8),
)
def test_whatever_the_clock_does_a_job_stays_within_reach(
    each: schedule.Cadence, minutes: int, jumps: list[int]
) -> None:
    """After any jumps its due time is no further off than its cadence, and each jump runs it once at
    most."""
    now = NOON + timedelta(minutes=minutes)
    rows: dict[str, JobRow] = {}
    for jump in [0, *jumps]:
        now += timedelta(minutes=jump)
        found = schedule.plan({"one": each}, rows, now)
        rows |= {row.name: row for row in found.moved}
        for name in found.due:
            rows[name] = schedule.after_run(rows[name], each, now, OK, "")
        again = schedule.plan({"one": each}, rows, now)
        assert (again.due, again.moved) == ([], [])
        due_at = rows["one"].due_at
        assert due_at is not None
        assert now < due_at <= now + timedelta(days=33)


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of a process is the machine's")
@pytest.mark.parametrize("words", ["daily 03:00", "daily 02:30", "daily 01:30", "weekly Sun 06:00", "weekly Mon 06:30", "monthly 1. 02:30"])  # fmt: skip
@pytest.mark.parametrize(
    ("zone", "change"),
    [
        ("CET-1CEST,M3.5.0,M10.5.0/3", datetime(2026, 10, 25, 1, tzinfo=timezone.utc)),
        ("CET-1CEST,M3.5.0,M10.5.0/3", datetime(2026, 3, 29, 1, tzinfo=timezone.utc)),
        ("EST5EDT,M3.2.0,M11.1.0", datetime(2026, 11, 1, 6, tzinfo=timezone.utc)),
        ("EST5EDT,M3.2.0,M11.1.0", datetime(2026, 3, 8, 7, tzinfo=timezone.utc)),
    ],
)
def test_where_clocks_change_a_job_runs_once_at_its_time(
    monkeypatch: pytest.MonkeyPatch, words: str, zone: str, change: datetime
) -> None:
    """Around that day, too: what the clock leaves out is an hour early, what it shows twice counts once."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        each = cadence(words)
        rows: dict[str, JobRow] = {}
        runs: list[datetime] = []
        for half_hour in range(-9 * 48, 9 * 48):
            now = (change + half_hour * timedelta(minutes=30)).astimezone()
            found = schedule.plan({"one": each}, rows, now)
            rows |= {row.name: row for row in found.moved}
            if found.due:
                runs.append(now)
                rows["one"] = schedule.after_run(rows["one"], each, now, OK, "")
    finally:
        monkeypatch.undo()
        time.tzset()
    days = [run.date() for run in runs]
    assert days == sorted(set(days))
    apart = {"daily": {1}, "weekly": {7}, "monthly": set()}[words.split()[0]]
    assert {(later - one).days for one, later in zip(days, days[1:], strict=False)} <= apart
    early = [run for run in runs if (run.hour, run.minute) != (each.hour, each.minute)]
    assert {(run.date(), run.hour, run.minute) for run in early} <= {(change.date(), 1, 30)}


def test_the_registry_is_whole() -> None:
    """Each job has its module, and says what it does."""
    for name, job in registry.JOBS.items():
        assert callable(registry.work_of(name))
        assert job.about
    assert len(registry.JOBS) == 20
    assert registry.OFF == ("share-pull", "benchmark-regression", "compliance-report")


def test_a_job_is_known_by_a_part_of_its_name() -> None:
    """That no other has, and that is more than a letter or two."""
    assert registry.job_name("backup") == "backup"
    assert registry.job_name("session-extraction") == "session-extraction-sweep"
    assert registry.job_name("gateway") == "memory-gateway"
    for several in ("memory", "review", "", "x", "nothing"):
        with pytest.raises(NotFoundError):
            registry.job_name(several)


def test_a_row_of_a_job_that_is_gone_is_left_alone() -> None:
    """One of a newer version, say."""
    rows = {"else": replace(JobRow("else"), due_at=NOON - timedelta(days=1))}
    assert schedule.plan({"one": cadence("daily 03:00")}, rows, NOON).due == []


def test_a_run_is_told_by_its_counts() -> None:
    """In a sentence; a count that a report lacks is none, and what needs no sentence gets none."""
    told = registry.sentence("ttl-sweep", {"expired": 3})
    assert told == "3 had expired, 0 flags were too old, 0 were past their time."
    assert registry.sentence("backup", {"memories": 3}) == ""
    assert all("{" not in registry.sentence(name, {}) for name in registry.JOBS)
