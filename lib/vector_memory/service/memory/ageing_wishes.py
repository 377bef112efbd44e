"""How a memory is to age, as somebody asks for it: until when it holds, when it comes back, how soon it fades."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, time, timedelta, timezone
from typing import TypeVar

from vector_memory.aging import EVERY, HALF_LIFE, Every, moment_in, of_ageing, without_ageing
from vector_memory.errors import BadInputError
from vector_memory.model import COLLECTIONS, Memory, Retention, Status, Temporal
from vector_memory.service.base import messages, request_fields
from vector_memory.service.base.context import Context
from vector_memory.text import dates, days

T = TypeVar("T")
MOST_DAYS = 36_500
NEVER = "never"
"""In place of a date: there is none any more."""
ENDED = "ended"
"""In `extra`: `at` when it was found to hold no more, and `until` when it would have held, None for ever."""


class AgeingWishes(messages.Request):
    """What a request may say of how a memory ages; what is None or "" stays as it is. Dates are as typed.

    Attributes:
        temporal: one of `Temporal`.
        due: the day or the moment after which a deadline is over, or on which a periodic memory comes first.
        every: one of `Every`: it is periodic.
        half_life_days: after how many days without use half of its confidence is gone; 0 for never.
        valid_from: since when it holds, `valid_until` until when.
        expires: when it may be removed. These three may be `NEVER`.
    """

    temporal: Temporal | None = messages.one_of(Temporal, None)
    due: str = messages.word()
    every: Every | None = messages.one_of(Every, None)
    half_life_days: int | None = messages.or_none(messages.number(0, 0, MOST_DAYS))
    valid_from: str = messages.word()
    valid_until: str = messages.word()
    expires: str = messages.word()

    @property
    def wishes_nothing(self) -> bool:
        """Whether it says nothing of how the memory ages."""
        words = (self.temporal, self.due, self.every, self.valid_from, self.valid_until)
        return not any((*words, self.expires)) and self.half_life_days is None


def apply_wishes(ctx: Context, request: AgeingWishes, memory: Memory) -> Memory:
    """Return a memory that ages as a request says. What was over holds again where it has a date to come now, or none
    any more.

    Raises:
        BadInputError: a date is none, a deadline has no date or one that is over, what expires has one that is
            over, what holds ends before it begins, what comes back does not say how often, or what does neither
            has a date for it.
    """
    if request.wishes_nothing:
        return memory
    temporal = _temporal(request, memory)
    every = request.every.value if request.every else memory.extra.get(EVERY)
    original = as_it_was(memory)
    extra = without_ageing(original.extra)
    if temporal is Temporal.PERIODIC:
        extra[EVERY] = _require_value(every, "how often it comes back", "every")
    half_life = memory.extra.get(HALF_LIFE)
    if request.half_life_days is not None:
        half_life = request.half_life_days
    elif request.temporal:
        # What was captured from talk fades by itself, unless somebody says that it is to stay.
        half_life = 0 if temporal is Temporal.PERMANENT else None
    if half_life is not None:
        extra[HALF_LIFE] = half_life
    since, until = _validity(ctx, request, original, temporal)
    changed = replace(
        original,
        temporal=temporal,
        valid_from=since,
        valid_until=until,
        expires_at=_expiry(ctx, request.expires, memory.expires_at),
        extra=extra,
    )
    if original is not memory and memory.valid_until and not (request.due or request.valid_until):
        return end_at(changed, memory.valid_until)
    return changed if is_over(changed, ctx.now()) else _revived_in_time(changed)


def ageing_like(draft: Memory, older: Memory, now: datetime) -> Memory:
    """Return a draft that ages as the memory does whose place it is to take, but for what is over of that, and for what
    was so by the rule of its collection."""
    original, rule = as_it_was(older), COLLECTIONS.get(older.collection)
    is_expired = original.expires_at is not None and original.expires_at <= now
    if not ((rule and rule.ttl_s) or draft.expires_at or is_expired):
        draft = replace(draft, expires_at=original.expires_at)
    by_rule = rule is not None and rule.retention is Retention.DECAY
    if is_over(original, now) or (by_rule and original.temporal is Temporal.DECAYING):
        return draft
    return replace(
        draft,
        temporal=draft.temporal if original.temporal is Temporal.PERMANENT else original.temporal,
        valid_from=original.valid_from
        if original.temporal is Temporal.PERIODIC
        else draft.valid_from,
        valid_until=original.valid_until,
        extra={**draft.extra, **of_ageing(original.extra)},
    )


def _validity(
    ctx: Context, request: AgeingWishes, memory: Memory, temporal: Temporal
) -> tuple[datetime | None, datetime | None]:
    """Return since when a memory holds that becomes of a class, and until when. A deadline's day and the first day of
    what comes back go with their class; what was a deadline comes back from its day on.

    Raises:
        BadInputError: see `aged`.
    """
    valid_from, valid_until = _validity_without_class(memory, temporal)
    if (
        temporal is Temporal.PERIODIC
        and memory.temporal is Temporal.DEADLINE
        and memory.valid_until
    ):
        now = ctx.local_now()
        day = days.last_before(memory.valid_until, days.zone_of(now))
        valid_from = days.shown_at(datetime.combine(day, time()), now).astimezone(timezone.utc)
    due = due_at(ctx, request.due, is_end=temporal is not Temporal.PERIODIC)
    until = _new_date(ctx, request.valid_until, "valid_until", valid_until)
    since = _new_date(ctx, request.valid_from, "valid_from", valid_from)
    if temporal is Temporal.DEADLINE:
        until = _require_value(due or until, "until when it holds", "due")
        if until <= ctx.now():
            typed = request.due or request.valid_until or f"{until:%Y-%m-%d}"
            raise BadInputError(f"The deadline {typed!r} is over.", "Give one to come.")
    elif due is not None:
        since = due
    is_date_given = request.valid_from or request.valid_until or request.due
    if is_date_given and since and until and since > until:
        raise BadInputError(
            f"It would hold from {since:%Y-%m-%d %H:%M} and be over by {until:%Y-%m-%d %H:%M}.",
            "Give a valid_until that is later than valid_from, or `never`.",
        )
    return since, until


def _validity_without_class(
    memory: Memory, temporal: Temporal
) -> tuple[datetime | None, datetime | None]:
    """Return since when a memory holds and until when, without what its class has set where that changes."""
    lost_class = memory.temporal if memory.temporal is not temporal else None
    return (
        None if lost_class is Temporal.PERIODIC else memory.valid_from,
        None if lost_class is Temporal.DEADLINE else memory.valid_until,
    )


def permanent(memory: Memory) -> Memory:
    """Return a memory as one that holds until something else is said; what was found to hold no more does not."""
    original = as_it_was(memory)
    since, until = _validity_without_class(original, Temporal.PERMANENT)
    extra = {name: value for name, value in original.extra.items() if name != EVERY}
    lasting = replace(
        original, temporal=Temporal.PERMANENT, valid_from=since, valid_until=until, extra=extra
    )
    return (
        end_at(lasting, memory.valid_until)
        if original is not memory and memory.valid_until
        else lasting
    )


def end_at(memory: Memory, at: datetime) -> Memory:
    """Return a memory that holds no more from a moment on, and knows until when it would have held; as it is where
    it was over before."""
    if is_over(memory, at):
        return memory
    until = memory.valid_until.isoformat() if memory.valid_until else None
    extra = {**memory.extra, ENDED: {"at": at.isoformat(), "until": until}}
    return replace(memory, valid_until=at, extra=extra)


def as_it_was(memory: Memory) -> Memory:
    """Return a memory as it was before it was found to hold no more; itself where it was not, or has another date
    since."""
    record, end = memory.extra.get(ENDED), memory.valid_until
    if end is None or not isinstance(record, dict) or moment_in(record, "at") != end:
        return memory
    extra = {name: value for name, value in memory.extra.items() if name != ENDED}
    return replace(memory, valid_until=moment_in(record, "until"), extra=extra)


def hold_again(memory: Memory, now: datetime, by_agent: bool = False) -> Memory:
    """Return a memory that was found to be so: what was over holds again, unless another took its place.

    Args:
        by_agent: an end that somebody gave it stays then.

    Raises:
        BadInputError: it is a deadline that is over, and stays so without another date.
    """
    if memory.superseded_by:
        return memory
    original = as_it_was(memory)
    if not is_over(original, now):
        return _revived_in_time(original)
    if memory.temporal is Temporal.DEADLINE:
        raise BadInputError(
            f"Memory {memory.id[:12]} has a deadline, and that is over.",
            "Give it another `due`, or make it permanent.",
        )
    return memory if by_agent else _revived_in_time(replace(original, valid_until=None))


def is_over(memory: Memory, now: datetime) -> bool:
    """Whether the time until which a memory holds is over."""
    return memory.valid_until is not None and memory.valid_until <= now


def _revived_in_time(memory: Memory) -> Memory:
    """Return a memory whose time had passed as one that holds; nothing else has taken its place."""
    if memory.status is not Status.SUPERSEDED or memory.superseded_by:
        return memory
    return replace(memory.revived(), valid_until=memory.valid_until)


def _temporal(request: AgeingWishes, memory: Memory) -> Temporal:
    if request.temporal:
        is_periodic = request.temporal is Temporal.PERIODIC
        for name, is_wrong in (
            ("every", request.every and not is_periodic),
            ("due", request.due and not (is_periodic or request.temporal is Temporal.DEADLINE)),
        ):
            if is_wrong:
                raise BadInputError(
                    f"What is {request.temporal} has no `{name}`.",
                    "Leave out temporal: due makes a deadline, every lets it come back.",
                )
        return request.temporal
    if request.every:
        return Temporal.PERIODIC
    if request.due:
        return Temporal.PERIODIC if memory.temporal is Temporal.PERIODIC else Temporal.DEADLINE
    # What has its date keeps it, however soon it fades.
    fades = bool(request.half_life_days) and memory.temporal is Temporal.PERMANENT
    return Temporal.DECAYING if fades else memory.temporal


def _new_date(ctx: Context, typed: str, name: str, current: datetime | None) -> datetime | None:
    """Return a date as it is to be: another one, none (`never`), or where nothing is said the one before."""
    return None if typed == NEVER else _date(ctx, typed, name) or current


def _expiry(ctx: Context, typed: str, current: datetime | None) -> datetime | None:
    """Return when a memory may be removed: a date to come, since with one that is over it would be gone unseen.

    Raises:
        BadInputError: it is over, or no date.
    """
    if typed in ("", NEVER):
        return current if not typed else None
    # Today is over only with its end.
    for is_end in (False, True):
        at = due_at(ctx, typed, is_end, "expires")
        if at is None or at > ctx.now():
            return at
    raise BadInputError(f"The date {typed!r} is over.", "Give one to come; `forget` removes now.")


def _date(ctx: Context, typed: str, name: str, is_end: bool = False) -> datetime | None:
    """Return the moment that a date means; with `is_end`, of a whole day its end.

    Raises:
        BadInputError: it is no date, or the last day of all.
    """
    now = ctx.local_now()
    at = request_fields.time_of({name: typed}, name, now)
    if at is None or not is_end:
        return at
    try:
        local = at.astimezone(days.zone_of(now))
        return _next_day(local, now) if local.time() == time() else at
    except (OverflowError, ValueError, OSError):
        raise _too_far_off(typed, name) from None


def _too_far_off(typed: str, name: str) -> BadInputError:
    return BadInputError(f"{name} is too far off: {typed!r}.", "Give an earlier date.")


def due_at(ctx: Context, typed: str, is_end: bool = True, name: str = "due") -> datetime | None:
    """Return the moment that a date to come means: "friday" is the next one, "3 May" that of next year where
    this year's is over, "3d", "3 days" and "in 3 days" the third day from now; of a whole day its end, with `is_end`.
    A distance in hours leads to a moment, and so does any to what expires: it is removed no sooner. "" means none.

    Raises:
        BadInputError: it is no date, or none of the calendar.
    """
    now = ctx.local_now()
    try:
        distance = dates.ahead(typed)
        if distance and (distance[1] or name == "expires"):
            return now.astimezone(timezone.utc) + distance[0]
        at = None if distance else _date(ctx, typed, name, is_end)
        if not distance and (at is None or at > now):
            return at
        next_date = dates.coming_day(typed, now)
        if next_date is None:
            return at
        if is_end:
            return _next_day(next_date, now)
        return days.shown_at(next_date, now).astimezone(timezone.utc)
    except OverflowError:
        raise _too_far_off(typed, name) from None


def _next_day(day: datetime, now: datetime) -> datetime:
    """Return the same hour of the next day, also where clocks are changed between."""
    wall = day.replace(tzinfo=None) + timedelta(days=1)
    return days.shown_at(wall, now).astimezone(timezone.utc)


def _require_value(value: T | None, what: str, field: str) -> T:
    if not value:
        raise BadInputError(f"It is not said {what}.", f"Give {field}.")
    return value
