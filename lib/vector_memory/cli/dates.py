"""Dates as people type them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo

import typer

EXAMPLES = "2026-11-20, 2026-11-20T14:30, today, yesterday, 12h, 3d, 2w"
_AGO = re.compile(r"(\d{1,5})\s*([hdwmy])(?:\s+ago)?", re.IGNORECASE)
_DAYS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30, "y": 365}


def parse(text: str, now: datetime, zone: tzinfo | None = None) -> datetime:
    """Return the moment that a date on the command line means, in UTC.

    Args:
        text: an ISO date or time, `now`, `today`, `yesterday`, or an age such as `12h`, `3d`, `2w`,
            `6m` (of 30 days), `1y`.
        now: the present moment, aware.
        zone: the zone of times that name none; None is this machine's.

    Raises:
        ValueError: it is no date.
    """
    word = text.strip().lower()
    midnight = now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    if word in {"now", "today", "yesterday"}:
        named = {"today": midnight, "yesterday": midnight - timedelta(days=1)}
        return _utc(named[word], zone) if word in named else now.astimezone(timezone.utc)
    age = _AGO.fullmatch(word)
    try:
        if age:
            days = int(age.group(1)) * _DAYS[age.group(2)]
            return now.astimezone(timezone.utc) - timedelta(days=days)
        return _utc(datetime.fromisoformat(re.sub(r"[zZ]$", "+00:00", text.strip())), zone)
    except OverflowError as error:
        raise ValueError(f"{text!r} lies outside the calendar") from error


def at_command_line(text: str | datetime) -> datetime:
    """Parse an option's date against the real clock; a wrong one is wrong usage."""
    if isinstance(text, datetime):
        return text
    try:
        return parse(text, datetime.now(timezone.utc))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no date. Examples: {EXAMPLES}.") from None


def _utc(moment: datetime, zone: tzinfo | None) -> datetime:
    if moment.tzinfo is None and zone is not None:
        moment = moment.replace(tzinfo=zone)
    return moment.astimezone(timezone.utc)
