"""The period to which a question is limited: "last week", "in March", "two sessions ago"."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from vector_memory.model import Memory
from vector_memory.retrieve.query import DAY_S, FAR_FUTURE, FAR_PAST, ROLES, Query
from vector_memory.text import days, times

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Period:
    """A stretch of time, aware UTC: `start` belongs to it, `end` does not; None where it is open."""

    start: datetime | None
    end: datetime | None

    def __str__(self) -> str:
        """Return its days for people, the last one included, in this machine's zone."""
        first = days.local_time(self.start).date().isoformat() if self.start else ""
        last = days.last_before(self.end).isoformat() if self.end else ""
        if not first or not last:
            return f"the time since {first}" if first else f"the time until {last}"
        return first if first == last else f"{first} to {last}"


def period_of(query: Query) -> Period | None:
    """Return the stretch from the first to the last time that a question is limited to, None where it is
    not."""
    if not query.periods:
        return None
    starts, ends = zip(*query.periods, strict=True)
    start, end = min(starts), max(ends)
    return Period(
        None if start <= FAR_PAST else _EPOCH + timedelta(days=start),
        None if end >= FAR_FUTURE else _EPOCH + timedelta(days=end),
    )


def holds(query: Query, memory: Memory) -> bool:
    """Whether a memory is of a time that a question is limited to: stored in it, or about it.

    What people tell each other is told after it happened, and a question about it names the day when it
    happened: such talk is never left out, only put behind what is nearer.
    """
    if not query.periods or _is_talk(memory) or _is_inside(memory.created_at, query):
        return True
    return any(
        _is_inside(span.start + (span.end - span.start) / 2, query)
        for span in times.spans(str(memory.text), memory.created_at)
        # "since 2024" is about all that followed, which says nothing of one week.
        if span.start is not None and span.end is not None
    )


def _is_talk(memory: Memory) -> bool:
    speaker = memory.source.speaker
    return bool(speaker) and speaker.lower() not in ROLES


def _is_inside(at: datetime, query: Query) -> bool:
    day = at.timestamp() / DAY_S
    return any(start <= day < end for start, end in query.periods)
