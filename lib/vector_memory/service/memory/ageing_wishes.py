"""How a memory is to age, as somebody asks for it: until when it holds, when it comes back, how soon it fades."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

from vector_memory.aging import EVERY, HALF_LIFE, Every
from vector_memory.errors import BadInputError
from vector_memory.model import Memory, Temporal
from vector_memory.service.base import messages, request_fields
from vector_memory.service.base.context import Context
from vector_memory.text import dates

T = TypeVar("T")
MOST_DAYS = 36_500
NEVER = "never"
"""In place of a date: there is none any more."""


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


def aged(ctx: Context, request: AgeingWishes, memory: Memory) -> Memory:
    """Return a memory that ages as a request says.

    Raises:
        BadInputError: a date is none, a deadline has no date or one that is over, what expires has one that is
            over, what holds ends before it begins, or what comes back does not say how often.
    """
    if request.wishes_nothing:
        return memory
    temporal = _temporal(request, memory)
    every = request.every.value if request.every else memory.extra.get(EVERY)
    extra = {name: value for name, value in memory.extra.items() if name not in (EVERY, HALF_LIFE)}
    if temporal is Temporal.PERIODIC:
        extra[EVERY] = _required(every, "how often it comes back", "every")
    half_life = memory.extra.get(HALF_LIFE)
    if request.half_life_days is not None:
        half_life = request.half_life_days
    elif request.temporal:
        # What was captured from talk fades by itself, unless somebody says that it is to stay.
        half_life = 0 if temporal is Temporal.PERMANENT else None
    if half_life is not None:
        extra[HALF_LIFE] = half_life
    due = due_at(ctx, request.due, is_end=temporal is not Temporal.PERIODIC)
    until = _moved(ctx, request.valid_until, "valid_until", memory.valid_until)
    since = _moved(ctx, request.valid_from, "valid_from", memory.valid_from)
    if temporal is Temporal.DEADLINE:
        until = _required(due or until, "until when it holds", "due")
        if until <= ctx.now():
            typed = request.due or request.valid_until or f"{until:%Y-%m-%d}"
            raise BadInputError(f"The deadline {typed!r} is over.", "Give one to come.")
    elif due is not None:
        since = due
    is_said = request.valid_from or request.valid_until or request.due
    if is_said and since and until and since > until:
        raise BadInputError(
            f"It would hold from {since:%Y-%m-%d %H:%M} and be over by {until:%Y-%m-%d %H:%M}.",
            "Give a valid_until that is later than valid_from, or `never`.",
        )
    return replace(
        memory,
        temporal=temporal,
        valid_from=since,
        valid_until=until,
        expires_at=_expiry(ctx, request.expires, memory.expires_at),
        extra=extra,
    )


def _temporal(request: AgeingWishes, memory: Memory) -> Temporal:
    if request.temporal:
        return request.temporal
    if request.every:
        return Temporal.PERIODIC
    if request.due:
        return Temporal.PERIODIC if memory.temporal is Temporal.PERIODIC else Temporal.DEADLINE
    # What has its date keeps it, however soon it fades.
    fades = bool(request.half_life_days) and memory.temporal is Temporal.PERMANENT
    return Temporal.DECAYING if fades else memory.temporal


def _moved(ctx: Context, typed: str, name: str, before: datetime | None) -> datetime | None:
    """Return a date as it is to be: another one, none (`never`), or where nothing is said the one before."""
    return None if typed == NEVER else _date(ctx, typed, name) or before


def _expiry(ctx: Context, typed: str, before: datetime | None) -> datetime | None:
    """Return when a memory may be removed: a date to come, since with one that is over it would be gone unseen.

    Raises:
        BadInputError: it is over, or no date.
    """
    if typed in ("", NEVER):
        return before if not typed else None
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
    at = request_fields.time_of({name: typed}, name, ctx.local_now())
    if at is None or not is_end:
        return at
    try:
        local = at.astimezone(ctx.local_now().tzinfo)
        is_day = (local.hour, local.minute, local.second, local.microsecond) == (0, 0, 0, 0)
        return at + timedelta(days=1) if is_day else at
    except OverflowError:
        raise BadInputError(f"{name} is too far off: {typed!r}.", "Give an earlier date.") from None


def due_at(ctx: Context, typed: str, is_end: bool = True, name: str = "due") -> datetime | None:
    """Return the moment that a date to come means: "friday" is the next one, "3 May" that of next year where
    this year's is over, "3d" in three days; of a whole day its end, with `is_end`. "" means none.

    Raises:
        BadInputError: it is no date.
    """
    at, now = _date(ctx, typed, name, is_end), ctx.local_now()
    if at is None or at > now:
        return at
    ahead = dates.coming(typed, now)
    return ahead + timedelta(days=1) if ahead is not None and is_end else ahead or at


def _required(value: T | None, what: str, field: str) -> T:
    if not value:
        raise BadInputError(f"It is not said {what}.", f"Give {field}.")
    return value
