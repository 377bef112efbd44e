"""Dates as people type them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from vector_memory.text import dates

NOW = datetime(2026, 11, 21, 1, 30, tzinfo=timezone.utc)
EAST = timezone(timedelta(hours=5))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-20", "2026-11-19T19:00:00+00:00"),
        ("2026-11-20T14:30", "2026-11-20T09:30:00+00:00"),
        ("2026-11-20T14:30Z", "2026-11-20T14:30:00+00:00"),
        ("2026-11-20T14:30:05+02:00", "2026-11-20T12:30:05+00:00"),
        ("now", "2026-11-21T01:30:00+00:00"),
        ("today", "2026-11-20T19:00:00+00:00"),
        ("Yesterday", "2026-11-19T19:00:00+00:00"),
        ("12h", "2026-11-20T13:30:00+00:00"),
        ("3d", "2026-11-18T01:30:00+00:00"),
        ("2w ago", "2026-11-07T01:30:00+00:00"),
        ("1y", "2025-11-21T01:30:00+00:00"),
        ("tomorrow", "2026-11-21T19:00:00+00:00"),
        ("the day after tomorrow", "2026-11-22T19:00:00+00:00"),
        ("tomorrow at 9:15", "2026-11-22T04:15:00+00:00"),
        ("in 3 days", "2026-11-24T01:30:00+00:00"),
        ("in two hours", "2026-11-21T03:30:00+00:00"),
        ("2 weeks ago", "2026-11-07T01:30:00+00:00"),
        ("last week", "2026-11-08T19:00:00+00:00"),
        ("this week", "2026-11-15T19:00:00+00:00"),
        ("next week", "2026-11-22T19:00:00+00:00"),
        ("next month", "2026-11-30T19:00:00+00:00"),
        ("next quarter", "2026-12-31T19:00:00+00:00"),
        ("last month", "2026-09-30T19:00:00+00:00"),
        ("next Monday", "2026-11-22T19:00:00+00:00"),
        ("next saturday", "2026-11-27T19:00:00+00:00"),
        ("monday", "2026-11-15T19:00:00+00:00"),
        ("3 May 2025", "2025-05-02T19:00:00+00:00"),
        ("March", "2026-02-28T19:00:00+00:00"),
        ("mañana", "2026-11-21T19:00:00+00:00"),
        ("letzte Woche", "2026-11-08T19:00:00+00:00"),
        ("vorletzte Woche", "2026-11-01T19:00:00+00:00"),
        ("5.12.2026", "2026-12-04T19:00:00+00:00"),
        ("03.5.", "2026-05-02T19:00:00+00:00"),
        ("5. Okt.", "2026-10-04T19:00:00+00:00"),
        ("14. November", "2026-11-13T19:00:00+00:00"),
        ("au 3 mai 2025", "2025-05-02T19:00:00+00:00"),
        ("au 12 déc", "2025-12-11T19:00:00+00:00"),
        ("au 3 mai 14:30", "2026-05-03T09:30:00+00:00"),
        ("au mois de mars", "2026-02-28T19:00:00+00:00"),
        ("im März", "2026-02-28T19:00:00+00:00"),
        ("in March", "2026-02-28T19:00:00+00:00"),
        ("el 3 de dic", "2025-12-02T19:00:00+00:00"),
        ("nächsten Montag", "2026-11-22T19:00:00+00:00"),
        ("lundi prochain", "2026-11-22T19:00:00+00:00"),
        ("el lunes que viene", "2026-11-22T19:00:00+00:00"),
        ("la semaine prochaine", "2026-11-22T19:00:00+00:00"),
        ("in 3 Tagen", "2026-11-24T01:30:00+00:00"),
        ("dans deux semaines", "2026-12-05T01:30:00+00:00"),
        ("dentro de 3 días", "2026-11-24T01:30:00+00:00"),
    ],
)
def test_a_date_is_a_moment_in_utc(text: str, expected: str) -> None:
    """Times without a zone are the given zone's; the answer is aware UTC."""
    moment = dates.parse(text, NOW, EAST)
    assert moment.isoformat() == expected
    assert moment.utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "3",
        "3x",
        "2026-13-01",
        "99999y",
        "-3d",
        "d",
        "in 3 days ago",
        "3 days",
        "next",
        "next banana",
        "tomorrow at 25:00",
        "the week",
        "last week or so",
        "5.12",
        "5.13.2026",
        "0.12.",
        "1.2.2024.5",
    ],
)
def test_what_is_no_date_is_refused(text: str) -> None:
    """Junk and moments outside the calendar raise ValueError, nothing else."""
    with pytest.raises(ValueError, match=r".+"):
        dates.parse(text, NOW, EAST)


def test_without_a_zone_this_machine_s_counts() -> None:
    """A naive time is the machine's own, as its calendar has it on that day."""
    expected = datetime(2026, 7, 1, 12).astimezone(timezone.utc)
    assert dates.parse("2026-07-01T12:00", NOW) == expected


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("this week", "2026-05-10"),
        ("this month", "2026-05-31"),
        ("montag", "2026-05-11"),
        ("lundi", "2026-05-11"),
        ("3 may", "2027-05-03"),
        ("sept 3", "2026-09-03"),
        ("april", "2027-04-01"),
        ("2d", "2026-05-08"),
        ("16h", None),
        ("2d ago", None),
        ("gestern", None),
        ("avant-hier", None),
        ("letzte woche", None),
        ("previous month", None),
        ("recently", None),
    ],
)
def test_a_day_to_come_is_never_what_is_over_a_year_later(text: str, day: str | None) -> None:
    """Only a date of the year comes again next year; a weekday in a week, and what is counted from today
    never."""
    coming = dates.coming_day(text, datetime(2026, 5, 6, 9, tzinfo=timezone.utc))
    assert (f"{coming:%Y-%m-%d}" if coming else None) == day
