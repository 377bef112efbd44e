"""Times in a text, as somebody in a time zone means them."""

from __future__ import annotations

from datetime import datetime, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory.text import times

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 18, 15, 30, tzinfo=BERLIN)  # a Wednesday


def local(text: str, now: datetime = NOW) -> list[tuple[str | None, str | None]]:
    """Return the spans that a text names, in the user's time."""
    return [
        tuple(
            at and at.astimezone(now.tzinfo).strftime("%Y-%m-%d %H:%M") for at in (x.start, x.end)
        )  # type: ignore[misc]
        for x in times.spans(text, now)
    ]


def day(first: str, last: str | None = None) -> list[tuple[str | None, str | None]]:
    """Return the span from the beginning of one day to that of another."""
    after = last or f"{first[:8]}{int(first[8:]) + 1:02}"
    return [(f"{first} 00:00", f"{after} 00:00")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fixed on 3 May 2023", day("2023-05-03")),
        ("on May 3rd, 2023 she left", day("2023-05-03")),
        ("what happened on 3 May?", day("2026-05-03")),
        ("what happened on 3 December?", day("2025-12-03")),
        ("on 2026-11-03 we met", day("2026-11-03")),
        ("at 2026-11-03 14:22", [("2026-11-03 14:22", "2026-11-03 14:23")]),
        ("what did Maria do in March?", day("2026-03-01", "2026-04-01")),
        ("and in December?", day("2025-12-01", "2026-01-01")),
        ("in July 2023", day("2023-07-01", "2023-08-01")),
        ("during May 2025", day("2025-05-01", "2025-06-01")),
        ("in early March", day("2026-03-01", "2026-03-11")),
        ("in mid-June 2024", day("2024-06-11", "2024-06-21")),
        ("Q2 2024", day("2024-04-01", "2024-07-01")),
        ("last quarter", day("2026-07-01", "2026-10-01")),
        ("in summer 2023", day("2023-06-01", "2023-09-01")),
        ("in the first week of November", day("2026-11-01", "2026-11-08")),
        ("in 2024", day("2024-01-01", "2025-01-01")),
        ("what broke since 2026-05-03?", [("2026-05-03 00:00", None)]),
        ("until 2026-05-03.", [(None, "2026-05-04 00:00")]),
        ("yesterday", day("2026-11-17")),
        ("the day before yesterday", day("2026-11-16")),
        ("last week", day("2026-11-09", "2026-11-16")),
        ("earlier this week", day("2026-11-16", "2026-11-23")),
        ("last weekend", day("2026-11-14", "2026-11-16")),
        ("last month", day("2026-10-01", "2026-11-01")),
        ("last year", day("2025-01-01", "2026-01-01")),
        ("two days ago", day("2026-11-16")),
        ("a couple of days ago", day("2026-11-16")),
        ("three months ago", day("2026-08-01", "2026-09-01")),
        ("two years ago", day("2024-01-01", "2025-01-01")),
        ("on Friday", day("2026-11-13")),
        ("on Wednesday", day("2026-11-11")),
        ("the last three days", [("2026-11-15 00:00", "2026-11-18 15:30")]),
        ("in the past 2 hours", [("2026-11-18 13:30", "2026-11-18 15:30")]),
        ("last night", [("2026-11-17 17:00", "2026-11-18 05:00")]),
        ("recently", [("2026-11-04 00:00", "2026-11-18 15:30")]),
        ("since March", [("2026-03-01 00:00", None)]),
        ("after the 3rd of May, 2024", [("2024-05-04 00:00", None)]),
        ("before May 2025", [(None, "2025-05-01 00:00")]),
        ("until 10 October", [(None, "2026-10-11 00:00")]),
        ("between 3 May and 10 June", day("2026-05-03", "2026-06-11")),
        ("from Monday to Friday", day("2026-11-09", "2026-11-14")),
        ("letzte Woche", day("2026-11-09", "2026-11-16")),
        ("¿qué decidimos ayer?", day("2026-11-17")),
        ("between November and March", day("2025-11-01", "2026-04-01")),
        ("between October 1 and October 15", day("2026-10-01", "2026-10-16")),
        ("since October 5", [("2026-10-05 00:00", None)]),
        ("what did we do Monday?", day("2026-11-16")),
        ("what broke over the weekend?", day("2026-11-14", "2026-11-16")),
        ("the weekend before last", day("2026-11-07", "2026-11-09")),
        ("the week before last", day("2026-11-02", "2026-11-09")),
        ("the week of November 5", day("2026-11-02", "2026-11-09")),
        ("at the end of October", day("2026-10-21", "2026-11-01")),
        ("at the beginning of the month", day("2026-11-01", "2026-11-11")),
        ("early last week", [("2026-11-09 00:00", "2026-11-11 08:00")]),
        ("half a year ago", day("2026-04-01", "2026-07-01")),
        ("a fortnight ago", day("2026-11-01", "2026-11-08")),
        ("a week or two ago", day("2026-11-01", "2026-11-15")),
        ("two sprints ago", day("2026-10-07", "2026-11-11")),
        ("last sprint", [("2026-10-21 00:00", "2026-11-18 15:30")]),
        ("in the last hour", [("2026-11-18 14:30", "2026-11-18 15:30")]),
        ("on the 2nd?", day("2026-11-02")),
        ("on the 20th, or not", day("2026-10-20")),
        ("vor zwei Wochen", day("2026-11-01", "2026-11-08")),
        ("vorletzte Woche", day("2026-11-02", "2026-11-09")),
        ("seit letztem Montag", [("2026-11-16 00:00", None)]),
        ("was haben wir Ende Oktober entschieden?", day("2026-10-21", "2026-11-01")),
        ("im August", day("2026-08-01", "2026-09-01")),
        ("qu'avons-nous décidé il y a trois jours ?", day("2026-11-15")),
        ("lundi dernier", day("2026-11-16")),
        ("hier", day("2026-11-17")),
        ("el 3 de mayo de 2025", day("2025-05-03")),
        ("hace dos meses", day("2026-09-01", "2026-10-01")),
    ],
)
def test_a_time_is_understood(text: str, expected: list[tuple[str, str]]) -> None:
    """Each way to name a time gives the stretch that is meant."""
    assert local(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Python 3.12 on port 8080", "we may march on", "127.0.0.1:5432 answers", "error 2024 occurred",
        "wait a second", "the sun job", "should we march 3 items or may 5 things happen",
        "30 February", "rust 1.75.0-nightly", "ISO 9001", "a week", "0x2024", "v2024.1", "2026-05-03.log",
        "next Monday", "every Friday", "every other day", "the monday.com sync", "on the 2nd try", "delete the last tag",
        "was ist hier falsch?",
    ],
)  # fmt: skip
def test_what_is_no_time_is_left_alone(text: str) -> None:
    """Versions, ports, verbs and impossible dates name no time."""
    assert local(text) == []


def test_words_without_bounds_are_no_period_in_any_language() -> None:
    """Something that was "the other day" may be older than two weeks."""
    for text in ("the other day", "recently", "neulich"):
        (span,) = times.spans(text, NOW)
        assert span.start is not None and not span.is_period


def test_days_follow_the_clocks_of_the_user() -> None:
    """A day on which clocks change is an hour longer, and starts at the user's midnight."""
    (span,) = times.spans("yesterday", datetime(2026, 10, 26, 9, tzinfo=BERLIN))
    assert span.start == datetime(2026, 10, 24, 22, tzinfo=timezone.utc)
    assert span.end == datetime(2026, 10, 25, 23, tzinfo=timezone.utc)


def test_years_end() -> None:
    """In January the last month is of another year, and so is last week."""
    now = datetime(2027, 1, 2, 12, tzinfo=timezone.utc)
    assert local("last month", now) == day("2026-12-01", "2027-01-01")
    assert local("last week", now) == day("2026-12-21", "2026-12-28")
    assert local("last quarter", now) == day("2026-10-01", "2027-01-01")


@given(st.text(max_size=300) | st.text("0123456789 -:/maylstweekgo", max_size=200))
def test_any_text_is_read_without_harm(text: str) -> None:
    """Whatever stands there, spans are in order, in the text, and their ends after their starts."""
    for span in times.spans(text, NOW):
        assert text[span.offset : span.offset + len(span.words)] == span.words
        if span.start and span.end:
            assert span.start < span.end
    times.sessions_back(text)
    times.asks_when(text)
    times.mentions_time(text)


@pytest.mark.parametrize(
    ("text", "back"),
    [
        ("what did we do last session?", 1), ("in the previous conversation", 1),
        ("two sessions ago", 2), ("the session before last", 2), ("in this session", 0),
        ("the session token expired", None), ("what did we do?", None),
    ],
)  # fmt: skip
def test_sessions_are_counted_back(text: str, back: int | None) -> None:
    """Sessions are counted from the one that asks."""
    assert times.sessions_back(text) == back


@pytest.mark.parametrize(
    ("text", "asks", "says"),
    [
        ("When did we move the repo?", True, False), ("what date was it", True, False),
        ("I went there yesterday", False, True), ("we moved last sprint", False, True),
        ("two weeks later", False, True), ("it runs at 14:30", False, True),
        ("the port is 8080", False, False), ("it may work", False, False),
    ],
)  # fmt: skip
def test_asking_for_and_saying_a_time(text: str, asks: bool, says: bool) -> None:
    """A question for a time is told from a statement that has one."""
    assert times.asks_when(text) is asks
    assert times.mentions_time(text) is says


@pytest.mark.parametrize(
    ("text", "is_asked"),
    [
        ("いつ？！", True),
        ("是吗？昨天修好了!", True),
        ("昨日直した!", False),
        ("We fixed it.", False),
    ],
)
def test_a_full_width_sign_ends_a_question(text: str, is_asked: bool) -> None:
    """No blank stands behind it."""
    assert times.is_asked(text) is is_asked
