"""Dates as people type them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
import typer

from vector_memory.cli import dates

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
    ],
)
def test_a_date_is_a_moment_in_utc(text: str, expected: str) -> None:
    """Times without a zone are the given zone's; the answer is aware UTC."""
    moment = dates.parse(text, NOW, EAST)
    assert moment.isoformat() == expected
    assert moment.utcoffset() == timedelta(0)


@pytest.mark.parametrize("text", ["", "soon", "3", "3x", "2026-13-01", "99999y", "-3d", "d"])
def test_what_is_no_date_is_refused(text: str) -> None:
    """Junk and moments outside the calendar raise ValueError, nothing else."""
    with pytest.raises(ValueError, match=r".+"):
        dates.parse(text, NOW, EAST)


def test_at_the_command_line_a_wrong_date_brings_examples() -> None:
    """A wrong date is wrong usage, and the message shows right ones."""
    with pytest.raises(typer.BadParameter, match="yesterday, 12h, 3d, 2w"):
        dates.at_command_line("whenever")


def test_without_a_zone_this_machine_s_counts() -> None:
    """A naive time is the machine's own, as its calendar has it on that day."""
    expected = datetime(2026, 7, 1, 12).astimezone(timezone.utc)
    assert dates.parse("2026-07-01T12:00", NOW) == expected
