"""The day of a stored moment. A clock of a zone has none for the first and the last hours of the calendar, and a date from
elsewhere may be one of those: the zero time of some languages is the beginning of the year 1."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone, tzinfo

FIRST_YEAR, LAST_YEAR = 2, 9_998
"""The years that are whole on every clock, and of which something stands before and after."""
_FIRST = datetime(1, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=1)


def is_at_an_end(at: datetime) -> bool:
    """Whether a moment is at an end of the calendar: no date that anybody meant."""
    return not FIRST_YEAR <= at.year <= LAST_YEAR


def local_time(at: datetime, zone: tzinfo | None = None) -> datetime:
    """Return a moment on the clock of a zone, this machine's by default; as it is where that clock has none for it."""
    try:
        return at.astimezone(zone)
    except (OverflowError, ValueError, OSError):
        return at


def parse_local(text: str) -> datetime | None:
    """Return a time that an answer gives in ISO form, on this machine's clock; None where it is none."""
    try:
        return local_time(datetime.fromisoformat(text.replace("Z", "+00:00")))
    except ValueError:
        return None


def zone_of(now: datetime) -> tzinfo | None:
    """Return the zone of a present time: None, which is this machine's, where it shows what clocks here do. A time has
    an offset alone, which may be another one on another day; the machine knows the rules of its zone."""
    is_here = now.astimezone().utcoffset() == now.utcoffset()
    return None if is_here else now.tzinfo


def shown_at(wall: datetime, now: datetime) -> datetime:
    """Return when the clock on the wall shows a time first; of one that it leaves out, an hour before.

    Args:
        now: the present time, in the clock's zone.
    """
    zone = zone_of(now)
    naive = wall.replace(tzinfo=None)
    return naive.astimezone() if zone is None else naive.replace(tzinfo=zone)


def last_before(end: datetime, zone: tzinfo | None = None) -> date:
    """Return the last day of a stretch that ends at a moment, which is no part of it: the end of a day belongs to that
    day."""
    return local_time(max(end, _FIRST) - timedelta(microseconds=1), zone).date()
