"""The day of a stored moment, at the ends of the calendar too."""

from __future__ import annotations

import time
from datetime import date, datetime, timedelta, timezone

import pytest

from vector_memory import aging
from vector_memory.cli import output
from vector_memory.client import cold
from vector_memory.model import CleanText, Memory, Temporal
from vector_memory.retrieve.period import Period
from vector_memory.text import dates, days, times

FIRST = datetime(1, 1, 1, tzinfo=timezone.utc)
LAST = datetime(9999, 12, 31, 23, 59, 59, 999_999, timezone.utc)
WEST, EAST = timezone(timedelta(hours=-5)), timezone(timedelta(hours=9))


@pytest.mark.parametrize(("at", "zone"), [(FIRST, WEST), (LAST, EAST)])
def test_a_moment_that_a_clock_has_no_time_for_stays(at: datetime, zone: timezone) -> None:
    """All others are told in the zone."""
    assert days.local_time(at, zone) == at
    usual = datetime(2026, 5, 3, 22, tzinfo=timezone.utc)
    assert days.local_time(usual, EAST).date() == date(2026, 5, 4)


def test_the_end_of_a_day_belongs_to_that_day() -> None:
    """Nothing lies before the first moment."""
    assert days.last_before(datetime(2026, 5, 4, tzinfo=timezone.utc), timezone.utc) == date(
        2026, 5, 3
    )
    assert days.last_before(FIRST, WEST) == days.last_before(FIRST, EAST) == date(1, 1, 1)


@pytest.mark.parametrize("at", [FIRST, LAST])
def test_a_hook_without_a_daemon_tells_any_moment(at: datetime) -> None:
    """Exactly as it is stored, not rounded beyond the calendar."""
    stored = (at - cold.EPOCH) // timedelta(microseconds=1)
    assert cold.moment({"created_at_us": stored}) == at


@pytest.mark.parametrize("at", [FIRST, LAST])
@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
def test_any_stored_moment_is_told(
    at: datetime, zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a table, in a sentence, as a deadline, and by the times that a text names."""
    with monkeypatch.context() as context:
        context.setenv("TZ", zone)
        time.tzset()
        assert output.day(at.isoformat()) == at.date().isoformat()
        assert str(at.year) in str(Period(at, at)).replace("0001", "1")
        memory = Memory(
            "0" * 32, CleanText("From Monday to Friday, since yesterday"), at,
            temporal=Temporal.DEADLINE, valid_until=at,
        )  # fmt: skip
        assert aging.due_on(memory) == at.date()
        aging.day_of(memory, datetime.now().astimezone())
        assert times.spans(str(memory.text), memory.created_at) == ()
    time.tzset()


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(
    ("now", "day"),
    [("2026-07-10T12:00", "2026-12-01"), ("2026-11-28T12:00", "2027-07-01")],
    ids=["clocks go back until then", "clocks go forward until then"],
)
def test_a_deadline_beyond_a_change_of_clocks_ends_with_its_day(now: str, day: str) -> None:
    """Before and after the change, and by whichever clock of here the present time was read."""
    local = datetime.fromisoformat(now).astimezone()
    end = datetime.fromisoformat(day).astimezone() + timedelta(days=1)
    memory = Memory(
        "0" * 32, CleanText("Hand it in"), local, temporal=Temporal.DEADLINE, valid_until=end
    )
    due = date.fromisoformat(day)
    assert aging.due_on(memory) == aging.due_on(memory, local) == due
    assert aging.day_of(memory, (end - timedelta(hours=1)).astimezone()) == due
    assert days.shown_at(datetime.fromisoformat(day), local) == end - timedelta(days=1)
    assert days.zone_of(local) is None and days.zone_of(local.astimezone(WEST)) is WEST


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize("now", ["2026-07-15T09:00", "2026-12-07T09:00"])
@pytest.mark.parametrize(
    ("words", "first", "behind"),
    [
        ("in May", "2026-05-01", "2026-06-01"),
        ("in January", "2026-01-01", "2026-02-01"),
        ("on 3 March 2026", "2026-03-03", "2026-03-04"),
    ],
)
def test_a_month_begins_by_the_clock_of_its_own_days(
    now: str, words: str, first: str, behind: str
) -> None:
    """Whatever the clock of today is set to."""
    (span,) = times.spans(f"what did we decide {words}?", datetime.fromisoformat(now).astimezone())
    bounds = (datetime.fromisoformat(day).astimezone() for day in (first, behind))
    assert (span.start, span.end) == tuple(bounds)
    assert str(Period(span.start, span.end)).startswith(first)
    typed = words.partition(" ")[2]
    assert dates.parse(typed, datetime.fromisoformat(now).astimezone()) == span.start


@pytest.mark.usefixtures("berlin")
def test_hours_are_counted_across_a_change_of_clocks() -> None:
    """Clocks went from two to three in this night."""
    now = datetime(2026, 3, 29, 1, 30, tzinfo=timezone.utc).astimezone()
    (span,) = times.spans("what did I do in the last 2 hours?", now)
    assert (span.start, span.end) == (now - timedelta(hours=2), now)
    (yesterday,) = times.spans("what did I do yesterday?", now)
    assert yesterday.end == datetime(2026, 3, 28, 23, tzinfo=timezone.utc)
