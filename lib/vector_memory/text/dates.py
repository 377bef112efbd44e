"""A date as people type it where one is asked for: `2026-05-03`, `3d`, `tomorrow`, `last week`."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo

from vector_memory.text import times, times_abroad
from vector_memory.text.days import local_time, zone_of
from vector_memory.text.times_abroad import MONTHS, WEEKDAYS

EXAMPLES = (
    "2026-11-20, 2026-11-20T14:30, tomorrow, next monday, in 3 days, 3 May, last week, 2 weeks ago, "
    "today, yesterday, 12h, 3d, 2w"
)
_DISTANCE = re.compile(
    rf"(?P<ahead>in\s+)?(?P<count>{times.COUNT})\s+(?P<unit>hour|day|week|month|year)s?(?P<ago>\s+ago)?"
)
MOST_DIGITS = 5
_DAYS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30, "y": 365}
_CLOCK = re.compile(r"(.*?\S)\s+(?:at\s+)?([01]?\d|2[0-3]):([0-5]\d)")
_DAYS_AHEAD = {
    "today": 0, "yesterday": -1, "tomorrow": 1, "the day after tomorrow": 2, "day after tomorrow": 2,
    "morgen": 1, "übermorgen": 2, "demain": 1, "après-demain": 2, "mañana": 1, "pasado mañana": 2,
}  # fmt: skip
_UNITS = ("week", "month", "quarter", "year")


def parse(text: str, now: datetime, zone: tzinfo | None = None) -> datetime:
    """Return the moment that a date means, in UTC; of a day, a week or a month its beginning.

    Args:
        text: an ISO date or time; `now`, a day in words (`tomorrow`, `next monday`, `3 May`, with a
            time of day if need be), a week, month or year (`last week`, `next month`), a distance
            (`in 3 days`, `2 weeks ago`), or an age such as `12h`, `3d`, `2w`, `6m` (of 30 days), `1y`.
        now: the present moment, aware.
        zone: the zone of times that name none; None is this machine's.

    Raises:
        ValueError: it is no date.
    """
    words = _english_words(text)
    try:
        distance = _distance(words)
        if distance is not None:
            return now.astimezone(timezone.utc) + timedelta(days=distance)
        clock = _CLOCK.fullmatch(words)
        day = _beginning(clock[1] if clock else words, now.astimezone(zone))
        if day is None:
            return _utc(datetime.fromisoformat(re.sub(r"[zZ]$", "+00:00", text.strip())), zone)
        hour, minute = (int(clock[2]), int(clock[3])) if clock else (0, 0)
        return _utc(day.replace(hour=hour, minute=minute, tzinfo=None), zone)
    except OverflowError as error:
        raise ValueError(f"{text!r} lies outside the calendar") from error


def coming_day(text: str, now: datetime) -> datetime | None:
    """Return the coming day that words mean where by themselves they name one that is over: a weekday, a day or a
    month without its year, a distance without "in"; None where they mean none, and of a distance in hours, which leads
    to a moment (`ahead`).

    Args:
        now: the present moment, in the zone of its days.
    """
    words, distance = _english_words(text), ahead(text)
    if distance is not None:
        far, is_in_hours = distance
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        return None if is_in_hours else midnight + far
    if words in WEEKDAYS:
        return _beginning(f"next {words}", now)
    if re.search(r"\d{4}|ago|last|yesterday", words):
        return None
    day, end = _beginning(words, now), _stretch(words, now)[1]
    if day is None or day > now:
        return day
    if end is not None and end > now:
        return end - timedelta(days=1)
    # What is counted from today moves with it: only a date of the year, or a weekday, comes again.
    earlier = _beginning(words, now - timedelta(days=36))
    days_moved = round((day - earlier) / timedelta(days=1)) if earlier is not None else 0
    if 0 < days_moved < 300:
        is_weekday = days_moved % 7 == 0 and end == day + timedelta(days=1)
        return day + timedelta(days=7) if is_weekday else None
    try:
        return day.replace(year=day.year + 1)
    except ValueError:
        # The 29th of February.
        return None


def ahead(text: str) -> tuple[timedelta, bool] | None:
    """Return how far a distance leads ahead ("in 3 days", "2 weeks", "12h"), and whether it is told in hours; None for
    anything else.

    Raises:
        OverflowError: it leads out of any calendar.
    """
    words = _english_words(text)
    age = None if words.endswith(" ago") else _age(words)
    if age is not None:
        return timedelta(days=age), words.endswith("h")
    distance = _DISTANCE.fullmatch(words)
    if distance is None or distance["ago"]:
        return None
    count, unit = times.count_of(distance["count"]), distance["unit"]
    return timedelta(days=count * _DAYS[unit[0]]), unit == "hour"


def _english_words(text: str) -> str:
    """Return the words of a date in small letters and in English, without an article or "on" before them."""
    low = " ".join(text.lower().split())
    # By itself "5.12." may be a version, but not where a date is asked for.
    is_dotted = low.endswith(".") and low.replace(".", "").isdecimal()
    words, _ = times_abroad.in_english(f"am {low}" if is_dotted else low)
    if any(word in MONTHS for word in words.split()):
        # In French "au" stands before a day, too, and where English has none: "au mois de mai".
        words = words.removeprefix("in ").removeprefix("the ").removeprefix("month of ")
    return words if words.startswith("on the ") else words.removeprefix("on ").removeprefix("the ")


def _age(words: str) -> float | None:
    """Return the days of an age such as `12h` or `3 d ago`, None where the words are none."""
    age = words.removesuffix(" ago")
    number, unit = age[:-1].rstrip(), age[-1:]
    is_age = number.isdecimal() and len(number) <= MOST_DIGITS and unit in _DAYS
    return int(number) * _DAYS[unit] if is_age else None


def _distance(words: str) -> float | None:
    """Return how many days from now something is, None where the words say no distance."""
    age = _age(words)
    if age is not None:
        return -age
    distance = _DISTANCE.fullmatch(words)
    if words == "now":
        return 0.0
    if distance is None or bool(distance["ahead"]) == bool(distance["ago"]):
        return None
    return (
        times.count_of(distance["count"])
        * _DAYS[distance["unit"][0]]
        * (1 if distance["ahead"] else -1)
    )


def _beginning(words: str, now: datetime) -> datetime | None:
    """Return the beginning of the day or the stretch that words name, in the zone of `now`; None where they
    name none."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if words in _DAYS_AHEAD:
        return midnight + timedelta(days=_DAYS_AHEAD[words])
    head, _, unit = words.partition(" ")
    if head == "next" and unit in WEEKDAYS:
        ahead = (WEEKDAYS.index(unit) - now.weekday() - 1) % 7 + 1
        return midnight + timedelta(days=ahead)
    if head == "next" and unit in _UNITS:
        return times.calendar(unit, -1, now)[0]
    if words[:4].isdigit() and words[4:5] == "-":
        return None
    return _stretch(words, now)[0]


def _stretch(words: str, now: datetime) -> tuple[datetime | None, datetime | None]:
    """Return the beginning and the end of the day or the stretch that words name, in the zone of `now`; None for both
    where they name none."""
    # In a sentence a month or a weekday needs a word before it, which nobody types as a date.
    for phrase in (words, f"in {words}", f"on {words}"):
        spans = times.spans(phrase, now)
        if len(spans) == 1 and spans[0].words == phrase and spans[0].start is not None:
            start, end = spans[0].start, spans[0].end
            return _on_the_wall(start, now), end and _on_the_wall(end, now)
    return None, None


def _on_the_wall(at: datetime, now: datetime) -> datetime:
    """Return what clocks show at a moment, with the offset of `now`: days are counted by what clocks show."""
    return local_time(at, zone_of(now)).replace(tzinfo=now.tzinfo)


def _utc(moment: datetime, zone: tzinfo | None) -> datetime:
    if moment.tzinfo is None and zone is not None:
        moment = moment.replace(tzinfo=zone)
    return moment.astimezone(timezone.utc)
