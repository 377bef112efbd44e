"""Which day to come a sentence names by which something is to be done, or on which it happens."""

from __future__ import annotations

import os
from datetime import datetime, timedelta, timezone

from vector_memory.text import times
from vector_memory.text.patterns import PatternTable

MOST_DAYS = 183
"""A day without its year that is farther ahead than this is rather the one that was."""
_AHEAD = (0, 7, 31, MOST_DAYS)
"""Days after which a weekday, a day of a month, a date without its year has come again."""
_SOME_TIME = datetime(2000, 1, 1, tzinfo=timezone.utc)
_TABLE = PatternTable("deadlines", os.path.dirname(__file__))


def deadline(text: str, said_at: datetime) -> datetime | None:
    """Return the end of the day to come by which a sentence says that something has to be done, or on which it happens;
    None where it names no such day.

    Args:
        text: one sentence.
        said_at: when it was said, in the zone of its days.
    """
    if not has_deadline(text):
        return None
    coming = (_spans(text, said_at + timedelta(days=days)) for days in _AHEAD)
    ends = (spans[0].end for spans in coming if len(spans) == 1)
    return next((end for end in ends if end is not None and end > said_at), None)


def has_deadline(text: str) -> bool:
    """Whether a sentence names a day, and no other time, by which something is to be done, or on which it happens,
    whether that is over or not."""
    named = _spans(text, _SOME_TIME)
    if len(named) != 1 or not named[0].is_date or text.rstrip().endswith("?"):
        return False
    before, _, behind = text.replace("next ", "").partition(named[0].words)
    leads = _TABLE.found(before)
    if "other" in leads:
        return False
    # Until a day something lasts, on it something happens.
    happens = "happens" in leads or "happens then" in _TABLE.found(behind)
    return (happens and named[0].start is not None) or "owed" in _TABLE.found(text)


def _spans(text: str, now: datetime) -> tuple[times.TimeSpan, ...]:
    # What is next is found as what comes next.
    return times.spans(text.replace("next ", ""), now)
