"""Names of notes, as vaults have them."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from vector_memory import config
from vector_memory.errors import BadInputError
from vector_memory.text.note_names import note_name


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("YYYY-MM-DD", "2027-01-01.md"),
        ("YYYY/MM MMMM/YYYY-MM-DD ddd", "2027/01 January/2027-01-01 Fri.md"),
        ("gggg-[W]ww", "2026-W53.md"),
        ("[Diary of YYYY]/DD.MMM.YYYY", "Diary of YYYY/01.Jan.2027.md"),
    ],
)
def test_a_pattern_names_a_day(pattern: str, name: str) -> None:
    assert note_name(pattern, datetime(2027, 1, 1, 9)) == name


def test_by_default_each_day_and_week_and_month_has_its_own() -> None:
    days = [datetime(2024, 1, 1) + timedelta(days=n) for n in range(800)]
    made = config.Settings()
    assert len({note_name(made.daily_note_name, day) for day in days}) == 800
    weeks = {tuple(day.isocalendar()[:2]) for day in days}
    assert len({note_name(made.weekly_note_name, day) for day in days}) == len(weeks)


@pytest.mark.parametrize(
    ("setting", "pattern", "said"),
    [
        ("daily_note_name", "YYYY-MM", "DD"),
        ("daily_note_name", "[YYYY]-MM-DD", "YYYY"),
        ("weekly_note_name", "YYYY-[W]WW", "GGGG"),
        ("monthly_note_name", "MM", "YYYY"),
        ("daily_note_name", "../YYYY-MM-DD", "below a folder"),
        ("daily_note_name", "/YYYY-MM-DD", "below a folder"),
        ("daily_note_name", "", "below a folder"),
    ],
)
def test_one_that_leaves_open_which_note_is_meant_is_refused(
    setting: str, pattern: str, said: str
) -> None:
    with pytest.raises(BadInputError, match=said):
        config.validate({setting: pattern})
