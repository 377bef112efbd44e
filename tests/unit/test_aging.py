"""How memories age: confidence, tiers, and what comes up by the calendar."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journal_samples import memory

from vector_memory import aging
from vector_memory.aging import FLOOR, MOST_BY_USE, confidence, day_of, half_life_days, tier
from vector_memory.model import (
    PASSAGE,
    PREFERENCE,
    QUESTION,
    STANDING,
    WORLD,
    Memory,
    Priority,
    Source,
    Status,
    Temporal,
    Tier,
)

NOW = datetime(2026, 11, 22, 12, tzinfo=timezone.utc)
TALK = Source(session="s", path="/t/s.jsonl")


def aged(days: float, **fields: Any) -> Memory:
    """Return a memory that was said so many days ago."""
    return memory(1, **{"created_at": NOW - timedelta(days=days), **fields})


def test_what_was_remembered_on_purpose_does_not_age() -> None:
    """Nor does what is protected, important, or says what to do."""
    for one in (
        aged(900),
        aged(900, source=TALK, priority=Priority.HIGH),
        aged(900, source=TALK, kind=PREFERENCE),
        aged(900, temporal=Temporal.DECAYING, collection="learnings"),
        aged(900, source=TALK, extra={"half_life_days": 0}),
    ):
        assert half_life_days(one) is None
        assert confidence(one, NOW) == one.confidence


def test_half_of_what_is_above_the_floor_goes_with_each_half_life() -> None:
    """90 days for what decays and for talk, 30 for the state of things, or what the user set."""
    for one, days in (
        (aged(0, temporal=Temporal.DECAYING), 90),
        (aged(0, source=TALK, kind=PASSAGE), 90),
        (aged(0, temporal=Temporal.DECAYING, collection=WORLD), 30),
        (aged(0, temporal=Temporal.DECAYING, extra={"half_life_days": 7}), 7),
    ):
        later = NOW + timedelta(days=days)
        assert confidence(one, later) == pytest.approx(FLOOR + (0.5 - FLOOR) / 2)


def test_a_use_makes_surer_and_starts_the_clock_anew() -> None:
    """Being shown does neither; what was verified counts from then on."""
    old = aged(90, temporal=Temporal.DECAYING)
    shown = replace(old, uses=40, last_used_at=NOW)
    assert confidence(shown, NOW) == confidence(old, NOW) < 0.3
    used = replace(old, applied=3, applied_at=NOW)
    assert confidence(used, NOW) == pytest.approx(0.56)
    verified = replace(old, extra={"verified": {"verdict": "refuted", "at": NOW.isoformat()}})
    assert confidence(verified, NOW) == 0.5


@given(
    st.floats(0, 1), st.integers(0, 1_000), st.floats(0, 10_000), st.sampled_from(list(Temporal))
)
def test_confidence_stays_within_bounds(
    sure: float, applied: int, days: float, temporal: Temporal
) -> None:
    """Never above what use can give, never below the floor, and never more by waiting."""
    one = aged(days, confidence=sure, applied=applied, temporal=temporal)
    now = confidence(one, NOW)
    assert min(sure, FLOOR) <= now <= max(sure, MOST_BY_USE)
    assert confidence(one, NOW + timedelta(days=1)) <= now


def test_tiers_by_their_rules() -> None:
    """New and used: hot. Then warm; unused for 90 days and doubtful: cold."""
    talk = {"source": TALK, "kind": PASSAGE}
    assert tier(aged(6, **talk), NOW) is Tier.HOT
    assert tier(aged(300, **talk, applied=1, applied_at=NOW - timedelta(days=1)), NOW) is Tier.HOT
    assert tier(aged(8, **talk), NOW) is Tier.WARM
    assert tier(aged(300, **talk, uses=9, last_used_at=NOW), NOW) is Tier.COLD
    assert tier(aged(300), NOW) is Tier.WARM
    # What was settled, or is to be done, holds however long ago it was said; what was only asked does not.
    assert {tier(aged(300, source=TALK, kind=kind), NOW) for kind in STANDING} == {Tier.WARM}
    assert tier(aged(300, source=TALK, kind=QUESTION), NOW) is Tier.COLD
    assert tier(aged(89, confidence=0.1), NOW) is Tier.WARM
    assert tier(aged(90, confidence=0.1), NOW) is Tier.COLD
    assert tier(aged(300, **talk, status=Status.SUPERSEDED), NOW) is Tier.WARM


def test_what_lasts_is_kept_at_hand() -> None:
    """What matters, was confirmed, or was of use in five sessions; and it never goes by itself."""
    for fields in (
        {"priority": Priority.CORE},
        {"applied": 5},
        {"extra": {"verified": {"verdict": "confirmed"}}},
    ):
        one = aged(300, source=TALK, confidence=0.1, **fields)
        assert tier(one, NOW) is Tier.LONG_TERM
        assert tier(replace(one, extra={}, tier=Tier.LONG_TERM), NOW) is Tier.LONG_TERM
        assert tier(replace(one, created_at=NOW), NOW) is Tier.HOT


@given(st.floats(0, 1), st.integers(0, 9), st.floats(0, 1_000), st.sampled_from(list(Tier)))
def test_a_tier_is_settled_at_once(sure: float, applied: int, days: float, now_in: Tier) -> None:
    """Asked again at the same time, nothing moves any more."""
    one = aged(days, confidence=sure, applied=applied, source=TALK, tier=now_in)
    then = tier(one, NOW)
    assert tier(replace(one, tier=then), NOW) is then


def test_a_deadline_comes_up_two_weeks_before_and_is_out_afterwards() -> None:
    """Whatever ends at midnight belongs to the day before."""
    one = aged(
        30, temporal=Temporal.DEADLINE, valid_until=datetime(2026, 12, 1, tzinfo=timezone.utc)
    )
    assert day_of(one, NOW - timedelta(days=7)) is None
    assert day_of(one, NOW - timedelta(days=5)) == date(2026, 11, 30)
    # Two weeks by the calendar, whatever the hour.
    assert day_of(one, datetime(2026, 11, 16, 0, 5, tzinfo=timezone.utc)) == date(2026, 11, 30)
    assert day_of(one, NOW + timedelta(days=8)) == date(2026, 11, 30)
    assert day_of(one, NOW + timedelta(days=9)) is None
    assert day_of(replace(one, temporal=Temporal.PERMANENT), NOW + timedelta(days=8)) is None


@pytest.mark.parametrize(
    ("every", "first", "days"),
    [
        ("daily", "2026-01-01", ["2026-11-22", "2026-11-23"]),
        ("weekly", "2026-11-02", ["2026-11-22", "2026-11-23"]),
        ("weekly", "2026-11-03", ["2026-11-23", "2026-11-24"]),
        ("monthly", "2026-01-31", ["2026-11-27", "2026-11-28", "2026-11-29", "2026-11-30"]),
        ("yearly", "2020-12-01", ["2026-11-24", "2026-12-01"]),
    ],
)
def test_a_periodic_memory_comes_up_in_its_window(every: str, first: str, days: list[str]) -> None:
    """On its day, and some days before where it is rare; a short month has its last day."""
    one = aged(
        900,
        temporal=Temporal.PERIODIC,
        extra={"every": every},
        valid_from=datetime.fromisoformat(first + "T00:00:00+00:00"),
    )
    for day in days:
        assert day_of(one, datetime.fromisoformat(day + "T09:00:00+00:00")) is not None
    before = date.fromisoformat(days[0]) - timedelta(days=1)
    if every != "daily":
        assert day_of(one, datetime.fromisoformat(f"{before}T09:00:00+00:00")) is None
    over = replace(one, valid_until=NOW - timedelta(days=1))
    assert day_of(over, datetime.fromisoformat(days[-1] + "T09:00:00+00:00")) is None
    assert day_of(replace(one, extra={"every": "often"}), NOW) is None
    # However far off, it has a next day, unless it is over before.
    told = aging.due_on(one, datetime.fromisoformat(f"{before}T09:00:00+00:00"))
    assert told is not None and str(told) in (str(before), days[-1])
    assert aging.due_on(one) is None
    assert aging.due_on(over, NOW) is None
    assert aging.EVERY == "every"
