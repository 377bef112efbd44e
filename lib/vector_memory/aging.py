"""How a memory ages: how sure it still is, how near at hand it is kept, and when it comes up by the calendar.

All of it is worked out when it is read, from what is stored and the present moment. Nothing is written daily.
"""

from __future__ import annotations

import calendar
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

from vector_memory.model import (
    COLLECTIONS,
    IMPORTANT,
    QUIET,
    REVIEWED,
    RULES,
    STANDING,
    WORLD,
    Memory,
    Retention,
    Status,
    Temporal,
    Tier,
    Word,
)
from vector_memory.standing import FOUND_ON
from vector_memory.text import days

FLOOR = 0.05
"""The confidence that a memory falls to, however long nobody uses it."""
HALF_LIFE_DAYS, WORLD_HALF_LIFE_DAYS = 90.0, 30.0
"""After how many days without use half of what is above the floor is gone; of the state of things, sooner."""
PER_USE, MOST_BY_USE = 0.02, 0.8
"""What each session that used a memory adds to its confidence, and up to where."""
HOT_DAYS, COLD_DAYS = 7, 90
COLD_CONFIDENCE = 0.3
LASTING_USES = 5
"""In how many sessions a memory must have been of use to be kept at hand for good."""
NOTICE_DAYS = 14
"""How long before a deadline it is told."""
HALF_LIFE, EVERY, VERIFIED = "half_life_days", "every", "verified"
"""In `extra`: the days of its own half-life, 0 for none; how often it comes back; the last look at whether it
is so."""


class Every(Word):
    """How often a periodic memory comes back."""

    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"
    YEARLY = "yearly"


DAYS_AHEAD = {Every.DAILY: 0, Every.WEEKLY: 1, Every.MONTHLY: 3, Every.YEARLY: 7}
"""How many days before its day a periodic memory comes up."""
_DAY_S = 86_400


def half_life_days(memory: Memory) -> float | None:
    """Return after how many days without use half of a memory's confidence is gone, None for never.

    What the user set holds. Else what is stored as decaying ages, and what was captured from talk by itself.
    What was remembered on purpose does not, nor what is protected, important, or of a kind that stands.
    """
    own_half_life = memory.extra.get(HALF_LIFE)
    if isinstance(own_half_life, (int, float)):
        return float(own_half_life) or None
    rule = COLLECTIONS.get(memory.collection)
    is_protected = rule is not None and rule.retention is Retention.PROTECTED
    if is_protected or memory.priority in IMPORTANT or memory.kind in RULES:
        return None
    if memory.temporal is Temporal.DECAYING:
        return WORLD_HALF_LIFE_DAYS if memory.collection == WORLD else HALF_LIFE_DAYS
    does_age = memory.is_captured and memory.kind not in STANDING
    return HALF_LIFE_DAYS if does_age and memory.temporal is Temporal.PERMANENT else None


def last_use(memory: Memory) -> datetime:
    """Return since when a memory is unused: when it was said, stored, changed, verified or of use, whichever
    came last."""
    times = (memory.stored_at, memory.updated_at, memory.applied_at, _verified_at(memory))
    return max([memory.created_at, *(at for at in times if at is not None)])


def confidence(memory: Memory, now: datetime) -> float:
    """Return how sure a memory is now, 0 … 1: more by each session that used it, less by disuse."""
    sure = max(memory.confidence, min(MOST_BY_USE, memory.confidence + PER_USE * memory.applied))
    half_life = half_life_days(memory)
    if half_life is None or sure <= FLOOR:
        return sure
    # A clock may have been put back: nothing was used after now.
    days = max(0.0, (now - last_use(memory)).total_seconds() / _DAY_S)
    return float(FLOOR + (sure - FLOOR) * 0.5 ** (days / half_life))


def tier(memory: Memory, now: datetime) -> Tier:
    """Return the tier that a memory belongs to now. What is kept for good or cold stays so: the one never goes
    by itself, the other comes back by being used."""
    if memory.tier in (Tier.COLD, Tier.LONG_TERM) or memory.collection in QUIET or memory.is_held:
        return memory.tier
    unused = now - last_use(memory)
    if unused < timedelta(days=HOT_DAYS):
        return Tier.HOT
    if stays_at_hand(memory):
        return Tier.LONG_TERM
    is_old = unused >= timedelta(days=COLD_DAYS)
    is_doubtful = is_old and confidence(memory, now) < COLD_CONFIDENCE
    return Tier.COLD if is_doubtful and memory.status is Status.ACTIVE else Tier.WARM


def stays_at_hand(memory: Memory) -> bool:
    """Whether a memory is kept at hand for good: it matters, was found to be so, or was of use often."""
    return (
        memory.priority in IMPORTANT
        or _verification(memory).get("verdict") == "confirmed"
        or memory.applied >= LASTING_USES
    )


def day_of(memory: Memory, now: datetime) -> date | None:
    """Return the day for which a memory is to be told now, None where it is not.

    Args:
        now: the time in the user's zone.

    Returns:
        The day of a deadline that is near, or the day on which a periodic memory comes back next, if that is
        near.
    """
    day = due_on(memory, now)
    if day is None or (memory.valid_until is not None and memory.valid_until <= now):
        return None
    is_deadline = memory.temporal is Temporal.DEADLINE
    ahead = NOTICE_DAYS if is_deadline else DAYS_AHEAD[Every(memory.extra[EVERY])]
    return day if (day - now.date()).days <= ahead else None


def due_on(memory: Memory, now: datetime | None = None) -> date | None:
    """Return the last day on which a memory with a deadline holds; None for others.

    Args:
        now: the time in the zone whose days are meant, this machine's by default. With it, what is periodic has a day,
            too: the next one on which it comes back.
    """
    zone, end = days.zone_of(now) if now else None, memory.valid_until
    last_day = None if end is None else days.last_before(end, zone)
    if memory.temporal is Temporal.DEADLINE:
        return last_day
    is_periodic = memory.temporal is Temporal.PERIODIC and memory.extra.get(EVERY) in list(Every)
    if now is None or not is_periodic:
        return None
    first_day = days.local_time(memory.valid_from or memory.created_at, zone).date()
    day = _next_day(first_day, Every(memory.extra[EVERY]), now.date())
    return day if last_day is None or day <= last_day else None


def found_on(memory: Memory) -> dict[str, date]:
    """Return the day on which somebody found that a memory is not so, or holds no more, by what it is called in
    `standing.FOUND_ON`; {} where nobody did."""
    at, name = _verified_at(memory), f"{_verification(memory).get('verdict')}_on"
    return {name: days.local_time(at).date()} if at and name in FOUND_ON else {}


def noted_on(memory: Memory) -> dict[str, date]:
    """Return the days of `found_on`, and the one on which the user gave a memory its words, where that is a later day than
    its own: by what they are called in `standing.NOTED_ON`."""
    review = memory.extra.get(REVIEWED)
    review = review if isinstance(review, dict) and review.get("as") == "edited" else {}
    edited_at = moment_in(review, "at")
    edited_on = days.local_time(edited_at).date() if edited_at else None
    is_later = edited_on and edited_on > days.local_time(memory.created_at).date()
    return found_on(memory) | ({"edited_on": edited_on} if edited_on and is_later else {})


def _next_day(first_day: date, every: Every, today: date) -> date:
    """Return the first day, from today on, on which something recurs that began on `first_day`."""
    if first_day >= today:
        return first_day
    if every is Every.DAILY:
        return today
    if every is Every.WEEKLY:
        return today + timedelta(days=(first_day.weekday() - today.weekday()) % 7)
    months = range(1, 13) if every is Every.MONTHLY else (first_day.month,)
    candidates = [
        _day_in_month(year, month, first_day.day)
        for year in (today.year, today.year + 1)
        for month in months
    ]
    return min(day for day in candidates if day >= today)


def _day_in_month(year: int, month: int, day: int) -> date:
    """Return a day of a month, its last one where the month is shorter."""
    return date(year, month, min(day, calendar.monthrange(year, month)[1]))


def _verification(memory: Memory) -> dict[str, object]:
    verified_at = memory.extra.get(VERIFIED)
    return verified_at if isinstance(verified_at, dict) else {}


def _verified_at(memory: Memory) -> datetime | None:
    return moment_in(_verification(memory), "at")


def moment_in(noted: Mapping[str, object], name: str) -> datetime | None:
    """Return the aware time that a note says under a name, None where it says none."""
    try:
        at = datetime.fromisoformat(str(noted.get(name)))
    except ValueError:
        return None
    return at if at.tzinfo else None


def of_ageing(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a memory's `extra` belongs to how it ages: how often it comes back, how fast it fades."""
    return {name: extra[name] for name in (EVERY, HALF_LIFE) if name in extra}


def without_ageing(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return a memory's `extra` without what `of_ageing` takes of it."""
    return {name: value for name, value in extra.items() if name not in (EVERY, HALF_LIFE)}
