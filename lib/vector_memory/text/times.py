"""Times in a text: "last week", "in March", "two sessions ago", "3 May 2026".

Libraries for this take milliseconds a text, import for hundreds of them, and give a point where a span
is meant; a prompt is analysed in a tenth of a millisecond here. English; German, French and Spanish are
read as English (`times_abroad`); other languages yield nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import TYPE_CHECKING

from vector_memory.text import days, tables, times_abroad
from vector_memory.text.days import is_at_an_end
from vector_memory.text.times_abroad import MONTHS, WEEKDAYS
from vector_memory.text.words import clauses_in

if TYPE_CHECKING:
    from vector_memory.text.patterns import PatternSet

RECENTLY_DAYS = 14
SPRINT_DAYS = 14
SHORTEST_PERIOD = timedelta(minutes=30)
MAX_KEYWORDS = 8
"""Words up to which a text without a full stop is looked for, rather than said."""
MAX_CHARS = 1_500
"""What of a text is looked at: times in what is pasted behind a question are those of a log."""
_COUNTS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "couple": 2, "three": 3, "few": 3, "several": 4, "four": 4,
    "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip

_MONTH = (
    "(?:" + "|".join(f"{name[:3]}(?:{name[3:]})?" for name in MONTHS if name != "may") + "|may)"
)
_MONTH = _MONTH.replace("sep(?:tember)?", "sept?(?:ember)?")
COUNT = r"(?:\d{1,3}|an?|one|two|(?:a\s)?couple(?:\sof)?|three|(?:a\s)?few|several|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_YEAR = r"(?:19|20)\d\d"
_ORDINAL = r"\d{1,2}(?:st|nd|rd|th)?"
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_CALENDAR = r"(?:week(?:end)?|month|year|quarter|sprint)"
_UNIT = r"(?:minute|hour|day|week|fortnight|sprint|month|year)s?"


@dataclass(frozen=True)
class TimeSpan:
    """A stretch of time that a text names: aware UTC, `start` inclusive, `end` exclusive, None where
    it is open; `words` are the exact words, from `offset` on; `is_vague` where they say no bounds:
    "recently"; `is_date` where they are one of the calendar, which comes again where no year stands there."""

    start: datetime | None
    end: datetime | None
    words: str
    offset: int
    is_vague: bool = False
    is_date: bool = False

    @property
    def is_period(self) -> bool:
        """Whether it has bounds that somebody can mean: "recently" has none, and the minute of a line of a
        log is nobody's period."""
        if self.start is None or self.end is None:
            return True
        return self.end - self.start >= SHORTEST_PERIOD and not self.is_vague


def spans(text: str, now: datetime) -> tuple[TimeSpan, ...]:
    """Return the times that a text names, in their order.

    Args:
        now: the time in the user's time zone, aware; years that are left out are the most recent
            ones that have begun.
    """
    text = text[:MAX_CHARS]
    low = text.lower()
    if len(low) != len(text) or is_at_an_end(now):
        return ()
    low, places = times_abroad.in_english(low)
    if not any(cue in low for cue in _CUES):
        return ()
    time_spans: list[TimeSpan] = []
    end_of_last = 0
    for match in _EXPRESSION.finditer(low):
        if match.start() < end_of_last:
            continue
        span = _resolved(match, now)
        if span is None:
            continue
        start, end, offset = _with_open_end(low, match.start(), *span)
        words = low[offset : match.end()]
        is_vague = match["word"] in _VAGUE if match["word"] else False
        is_date = match.lastgroup in _DATES and "last" not in match[0]
        time_spans.append(
            TimeSpan(_utc(start, now), _utc(end, now), words, offset, is_vague, is_date)
        )
        end_of_last = match.end()
    return tuple(_as_written(span, text, places) for span in _join_ranges(time_spans, low))


def _as_written(span: TimeSpan, text: str, places: Sequence[tuple[int, int]] | None) -> TimeSpan:
    """Return a span with the words of the text itself."""
    first, last = span.offset, span.offset + len(span.words)
    if places is not None:
        first, last = places[first][0], places[last - 1][1]
    return replace(span, words=text[first:last], offset=first)


@dataclass(frozen=True)
class AskedTimes:
    """What a question has to do with time.

    Attributes:
        spans: the times that it names.
        periods: those of them that it asks about, rather than states.
        asks_when: whether its answer is a time.
        sessions_back: how many sessions ago it speaks of, see `sessions_back`.
        asks: whether its first sentence asks for something.
    """

    spans: tuple[TimeSpan, ...]
    periods: tuple[TimeSpan, ...]
    asks_when: bool
    sessions_back: int | None
    asks: bool


def asked_times(text: str, now: datetime | None) -> AskedTimes:
    """Return what a question has to do with time.

    Args:
        now: the time in the user's time zone, aware; None looks for no times.
    """
    time_spans = spans(text, now) if now is not None else ()
    periods = tuple(span for span in time_spans if span.is_period and is_asked(text, span.offset))
    return AskedTimes(time_spans, periods, asks_when(text), sessions_back(text), is_asked(text))


def sessions_back(text: str) -> int | None:
    """Return how many sessions ago a text speaks of: 0 for this one, 1 for the last; None for none."""
    low = text.lower()
    if not any(word in low for word in ("session", "conversation", "chat", "sitzung")):
        return None
    match = _SESSION.search(low)
    if not match:
        return None
    if match["ago"]:
        return count_of(match["ago"])
    if match["before"]:
        return 2
    return 0 if match["this"] else 1


def asks_when(text: str) -> bool:
    """Whether the answer to a question is a time."""
    return bool(_ASKS_WHEN.search(text))


def is_asked(text: str, offset: int = 0) -> bool:
    """Whether the sentence that stands at `offset` asks for something, rather than states it."""
    at, ends = offset + 1, ".!?\uff1f"
    # Where no blanks part words none stands behind a full-width sign.
    before, behind = (part.replace("\uff1f", "\uff1f ") for part in (text[:at], text[at:]))
    sentence = (clauses_in(before, ends)[-1] + clauses_in(behind, ends)[0]).strip()
    if sentence.endswith(("?", "\uff1f")) or _ASKING.match(sentence):
        return True
    return not sentence.endswith((".", "!")) and len(text.split()) <= MAX_KEYWORDS


def mentions_time(text: str) -> bool:
    """Whether a statement says when something was, is or will be."""
    return bool(_timed_patterns().found(text))


# -- what is looked for -----------------------------------------------------------------------------

_CUES = (
    *"0123456789", "day", "week", "month", "year", "night", "morning", "evening", "noon", "recent", "lately",
    "quarter", "summer", "winter", "spring", "autumn", "fall", "hour", "sprint", *(name[:3] for name in MONTHS),
)  # fmt: skip
"""Of these one stands in every text that names a time."""
_EXPRESSION = re.compile(
    rf"""
      (?P<iso>\b{_YEAR}-(?:0\d|1[0-2])(?:-[0-3]\d(?:[t ]\d\d:\d\d(?::\d\d)?)?)?)(?![\d-]|\.\w)
    | \b(?P<dmy>{_ORDINAL}\s+(?:of\s+)?{_MONTH}\b\.?(?:,?\s+{_YEAR}\b)?)
    | \b(?P<mdy>{_MONTH}\.?\s+{_ORDINAL}\b(?!:)(?:,?\s+{_YEAR}\b)?)
    | \b(?P<part>early|mid|late|(?:the\s+)?(?:beginning|start|middle|end)\s+of)[ -](?P<partof>{_MONTH}\b(?:\s+{_YEAR}\b)?|(?:last|this|(?<=start\sof\s)the|(?<=beginning\sof\s)the)\s+(?:week|month|quarter|year)\b)
    | \b(?P<my>{_MONTH}\.?,?\s+{_YEAR}\b)
    | \b(?:(?:in|of|since|until|till|before|after|during|by|from|last|this|throughout|between|and|to)\s+)(?P<month>{_MONTH}\b(?!\.?\s+{_ORDINAL}\b(?!:))(?:\.?,?\s+{_YEAR}\b)?)
    | \b(?P<nth>first|second|third|fourth|last)\s+week\s+(?:of|in)\s+(?P<nthof>{_MONTH}\b(?:\s+{_YEAR}\b)?|(?:last|this)\s+month\b)
    | \b(?:in\s+|last\s+|this\s+)?(?P<season>spring|summer|autumn|fall|winter)\s+(?:of\s+)?(?P<syear>{_YEAR})\b
    | \b(?P<quarter>q[1-4](?:\s+(?:of\s+)?{_YEAR})?)\b
    | \b(?:in|of|since|until|before|after|during|by|from|year)\s+(?P<year>{_YEAR})\b(?![.:]\d|-\d\d-)
    | \b(?P<half>half\s+an?\s+(?:year|hour)\s+ago)\b
    | \b(?P<ago>{COUNT}(?:\s+or\s+{COUNT})?\s+{_UNIT}(?:\s+or\s+(?:so|{COUNT}))?\s+ago)\b
    | \b(?:the\s+|over\s+the\s+|in\s+the\s+)?(?:last|past|previous)\s+(?P<run>{COUNT}\s+{_UNIT}|hour)\b
    | \b(?P<named>(?:earlier\s+|later\s+)?(?:last|past|previous|this)\s+{_CALENDAR}|(?:the\s+)?{_CALENDAR}\s+before\s+last|(?:over|during|at|on|since|before|after)\s+(?:the\s+)?weekend)\b
    | \b(?P<night>last\s+night|tonight|this\s+(?:morning|afternoon|evening))\b
    | (?<!\bnext\s)(?<!\bevery\s)(?<!\beach\s)(?<!\bcoming\s)\b(?P<weekday>(?:(?:last|on|this|since|until|before|after|from|to|and|between)\s+)?(?:{"|".join(WEEKDAYS)}))\b(?!\.\w)
    | \b(?P<nthday>(?:on|since|until|till|before|after|by|from)\s+the\s+\d{{1,2}}(?:st|nd|rd|th))(?=\s*(?:[?.,;!)]|$))
    | (?<!\bevery\s)\b(?P<word>(?:(?:the\s+)?day\s+before\s+)?yesterday|today|recently|lately|(?:the\s+)?other\s+day)\b
    """,
    re.VERBOSE,
)
_SESSION = re.compile(
    rf"\b(?:(?P<before>session before (?:the )?last|conversation before (?:the )?last)"
    rf"|(?P<ago>{COUNT})\s+(?:sessions?|conversations?|chats?)\s+ago"
    r"|(?P<this>this|current|our current|diese[rn]?)\s+(?:session|conversation|chat|sitzung)"
    r"|(?:last|previous|earlier|prior|letzten?)\s+(?:session|conversation|chat|sitzung))\b"
)
_ASKS_WHEN = re.compile(
    r"\b(?:when|since when|what (?:date|day|time|month|year)|which (?:date|day|week|month|year)"
    r"|how long (?:ago|has|have|did|was|were)|how recently|wann|quand|cu[aá]ndo)\b",
    re.IGNORECASE,
)
_TIME_PATTERN = (
    r"\b(?:yesterday|today|tonight|tomorrow|ago|(?:last|next|this|past|previous|every)\s+(?:night|"
    r"week|weekend|month|year|summer|winter|spring|fall|autumn|quarter|sprint|\w+day|few|couple)"
    r"|recently|lately|(?:a|the|two|three|four|five|few|several|\d+) (?:days?|weeks?|months?|years?|hours?)\b"
    r"|since|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:january|february|april|june|july|august|"
    r"september|october|november|december)|(?:in|on|of|since|until|by|late|early|mid)[ -](?:march|may)"
    r"|\d{4}-\d\d-\d\d|\d{1,2}:\d\d|(?:in|since) (?:19|20)\d\d|gestern|heute|morgen|ayer|hoy|hier)\b"
)
_DATES = ("iso", "dmy", "mdy", "partof", "my", "month", "weekday", "nthday")
_VAGUE = ("recently", "lately", "other day", "the other day")
_ASKING = re.compile(
    r"(?:(?:please|and|so|but|hey|ok(?:ay)?)[\s,]+)*(?:wh(?:at|en|y|ich|o|om|ose|ere)|how|did|do|does|was|were|is|are|has"
    r"|have|had|can you (?:tell|show|find)|tell|show|list|find|recall|remind|summari[sz]e)\b",
    re.IGNORECASE,
)
_WORDS = tables.sets("time_words")
_LIMITS, _LEADING, _BEFORE_VERBS = (_WORDS[part] for part in ("limits", "leading", "before verbs"))
_RANGE_STARTS = ("between", "from")
_RANGE_JOINTS = frozenset(("", "and", "to", "until", "till", "-", "\u2013"))


@lru_cache(maxsize=1)
def _timed_patterns() -> PatternSet:
    # Every memory is asked for it when it is indexed, and `re` takes a tenth of a millisecond for that.
    from vector_memory.text.patterns import PatternSet

    return PatternSet([_TIME_PATTERN])


# -- from words to times ------------------------------------------------------------------------------

_Bounds = tuple[datetime, datetime]


def _resolved(match: re.Match[str], now: datetime) -> _Bounds | None:
    """Return the span of one expression, in the user's time zone; None for an impossible date."""
    try:
        return _RESOLVERS[match.lastgroup or ""](match, now)
    except (ValueError, OverflowError):
        return None


def _iso(match: re.Match[str], now: datetime) -> _Bounds:
    parts = _numbers(match["iso"])
    if len(parts) == 2:
        return _month_bounds(parts[0], parts[1], 1, now)
    day = _day_at(now, *parts[:3])
    if len(parts) > 3:
        moment = day.replace(hour=parts[3], minute=parts[4])
        return moment, moment + timedelta(minutes=1)
    return day, day + timedelta(days=1)


def _day_and_month(match: re.Match[str], now: datetime) -> _Bounds:
    words = match["dmy"] or match["mdy"]
    numbers = _numbers(words)
    month = _month_number(words)
    if match["mdy"] and len(numbers) == 1:
        words_before = match.string[max(0, match.start() - 12) : match.start()].split()
        if words_before and words_before[-1] in _BEFORE_VERBS:
            raise ValueError("a verb: we may 5 times …")
    if len(numbers) > 1:
        day = _day_at(now, numbers[1], month, numbers[0])
    else:
        day = _day_at(now, now.year, month, numbers[0])
        if day > now:
            day = _day_at(now, now.year - 1, month, numbers[0])
    return day, day + timedelta(days=1)


def _month_and_year(match: re.Match[str], now: datetime) -> _Bounds:
    return _stretch(match["my"] or match["month"], now)


def _part_of_stretch(match: re.Match[str], now: datetime) -> _Bounds:
    """Return a third of a month, a week or a year."""
    start, end = _stretch(match["partof"], now)
    third = (end - start) / 3
    if (end - start).days in range(28, 32):
        third = timedelta(days=10)
    first, second = start + third, start + 2 * third
    word = match["part"].removeprefix("the").split()[0]
    if word in ("early", "beginning", "start"):
        return start, first
    return (second, end) if word in ("late", "end") else (first, second)


def _stretch(words: str, now: datetime) -> _Bounds:
    """Return the calendar unit that words name: "last week", "this year", "May 2025"."""
    head, _, unit = words.partition(" ")
    if head in ("last", "this", "the"):
        return calendar(unit.strip(), 1 if head == "last" else 0, now)
    month = _month_number(words)
    return _month_bounds(_year_in(words, now, month), month, 1, now)


def _week_of_month(match: re.Match[str], now: datetime) -> _Bounds:
    start, end = _stretch(match["nthof"], now)
    if match["nth"] == "last":
        return end - timedelta(days=7), end
    first = start + timedelta(days=7 * ("first", "second", "third", "fourth").index(match["nth"]))
    return first, first + timedelta(days=7)


def _season(match: re.Match[str], now: datetime) -> _Bounds:
    return _month_bounds(int(match["syear"]), SEASONS[match["season"]], 3, now)


def _quarter(match: re.Match[str], now: datetime) -> _Bounds:
    month = 3 * int(match["quarter"][1]) - 2
    return _month_bounds(_year_in(match["quarter"], now, month), month, 3, now)


def _year(match: re.Match[str], now: datetime) -> _Bounds:
    return _month_bounds(int(match["year"]), 1, 12, now)


def _ago(match: re.Match[str], now: datetime) -> _Bounds:
    """Return the day that long ago; for weeks, months and years a stretch around it, since nobody
    counts them exactly."""
    low, high, unit = _count_and_unit(match["ago"])
    if high > low:
        longest, shortest = (_time_ago(count, unit, now) for count in (high, low))
        return longest[0], shortest[1]
    return _time_ago(low, unit, now)


def _time_ago(count: int, unit: str, now: datetime) -> _Bounds:
    if unit in ("minute", "hour"):
        distance = timedelta(**{unit + "s": count})
        return now.astimezone(timezone.utc) - 1.5 * distance, now
    if unit == "day":
        return _days_back(now, count)
    if unit == "week":
        start = _days_back(now, 7 * count + 3)[0]
        return start, start + timedelta(days=7)
    if unit == "fortnight":
        return _time_ago(2 * count, "week", now)
    if unit == "sprint":
        return calendar("sprint", count, now)
    if unit == "month":
        return _month_bounds(*_shifted_month(now, -count), 1, now)
    return _month_bounds(now.year - count, 1, 12, now)


def _half_ago(match: re.Match[str], now: datetime) -> _Bounds:
    if "hour" in match["half"]:
        return now.astimezone(timezone.utc) - timedelta(minutes=45), now
    # The month that long ago and those around it.
    return _month_bounds(*_shifted_month(now, -7), 3, now)


def _last_stretch(match: re.Match[str], now: datetime) -> _Bounds:
    _, count, unit = _count_and_unit(match["run"])
    days_of = {
        "minute": 1 / 1440, "hour": 1 / 24, "day": 1, "week": 7, "fortnight": 14, "sprint": SPRINT_DAYS,
        "month": 30.5, "year": 365.25,
    }  # fmt: skip
    distance = timedelta(days=count * days_of[unit])
    if unit in ("minute", "hour"):
        return now.astimezone(timezone.utc) - distance, now
    return _midnight(now - distance), now


def _calendar_unit(match: re.Match[str], now: datetime) -> _Bounds:
    words = match["named"].split()
    if words[-2:] == ["before", "last"]:
        return calendar(words[-3], 2, now)
    return calendar(words[-1], int(words[-2] in ("last", "past", "previous")), now)


def calendar(unit: str, back: int, now: datetime) -> _Bounds:
    """Return the calendar week, weekend, month, quarter or year: this one, one before, or, with a negative
    `back`, one that comes. Of a sprint nobody knows when it began, nor whether it takes one week or two: the
    stretch holds it in any case."""
    today = _midnight(now)
    if unit == "sprint":
        start = _days_back(now, SPRINT_DAYS * (back + 1))[0]
        return start, (_days_back(now, 7 * (back - 1))[0] if back > 1 else now)
    if unit == "week":
        start = today - timedelta(days=today.weekday() + 7 * back)
        return start, start + timedelta(days=7)
    if unit == "weekend":
        # On a Monday "last weekend" was two days ago; on a Sunday "this weekend" is now.
        start = today - timedelta(days=(today.weekday() - 5) % 7)
        # On a Monday the weekend before last was nine days ago.
        start -= timedelta(days=7 * (back if today.weekday() >= 5 else max(0, back - 1)))
        return start, start + timedelta(days=2)
    if unit == "year":
        return _month_bounds(now.year - back, 1, 12, now)
    if unit == "quarter":
        first = now.replace(month=3 * ((now.month - 1) // 3) + 1, day=1)
        return _month_bounds(*_shifted_month(first, -3 * back), 3, now)
    return _month_bounds(*_shifted_month(now, -back), 1, now)


def _night(match: re.Match[str], now: datetime) -> _Bounds:
    if match["night"].startswith("last"):
        start = _days_back(now, 1)[0] + timedelta(hours=17)
        return start, start + timedelta(hours=12)
    return _days_back(now, 0)


def _weekday(match: re.Match[str], now: datetime) -> _Bounds:
    weekday = WEEKDAYS.index(match["weekday"].split()[-1])
    back = (now.weekday() - weekday) % 7
    if back == 0 and not match["weekday"].startswith("this"):
        back = 7
    return _days_back(now, back)


def _day_word(match: re.Match[str], now: datetime) -> _Bounds:
    if match["word"] in _VAGUE:
        return _days_back(now, RECENTLY_DAYS)[0], now
    back = 2 if "before" in match["word"] else 1
    return _days_back(now, back if "yesterday" in match["word"] else 0)


def _day_of_month(match: re.Match[str], now: datetime) -> _Bounds:
    day_number = _numbers(match["nthday"])[0]
    year, month = (now.year, now.month) if day_number <= now.day else _shifted_month(now, -1)
    day = _day_at(now, year, month, day_number)
    return day, day + timedelta(days=1)


_RESOLVERS: dict[str, Callable[[re.Match[str], datetime], _Bounds]] = {
    "iso": _iso, "dmy": _day_and_month, "mdy": _day_and_month, "partof": _part_of_stretch, "my": _month_and_year,
    "month": _month_and_year, "nthof": _week_of_month, "syear": _season, "quarter": _quarter, "year": _year, "half": _half_ago, "ago": _ago, "run": _last_stretch,
    "named": _calendar_unit, "night": _night, "weekday": _weekday, "nthday": _day_of_month, "word": _day_word,
}  # fmt: skip


def _with_open_end(
    low: str, offset: int, start: datetime | None, end: datetime | None
) -> tuple[datetime | None, datetime | None, int]:
    """Open one end where "since", "after", "before" or "until" stands in front."""
    words_before = low[:offset].split()
    if words_before[-1:] == ["the"]:
        words_before.pop()
    word, *_ = low[offset:].split(maxsplit=1)
    if word not in _LEADING:
        word = words_before.pop() if words_before and words_before[-1] in _LIMITS else ""
        offset = low.rindex(word, 0, offset) if word else offset
    if start and words_before[-2:] == ["week", "of"]:
        offset = low.rindex("week", 0, offset)
        start = start - timedelta(days=start.weekday())
        return start, start + timedelta(days=7), offset
    if word in ("since", "from"):
        return start, None, offset
    if word == "after":
        return end, None, offset
    if word == "before":
        return None, start, offset
    if word in ("until", "till"):
        return None, end, offset
    return start, end, offset


def _join_ranges(time_spans: list[TimeSpan], low: str) -> Iterator[TimeSpan]:
    """Make one span of "between X and Y" and "from X to Y"."""
    place = 0
    while place < len(time_spans):
        first = time_spans[place]
        second = time_spans[place + 1] if place + 1 < len(time_spans) else None
        gap = low[first.offset + len(first.words) : second.offset] if second else "?"
        before = low[: first.offset].rstrip()
        is_opened = first.words.startswith(_RANGE_STARTS) or before.endswith(_RANGE_STARTS)
        if second and is_opened and " ".join(gap.split()).removesuffix(" the") in _RANGE_JOINTS:
            start, end = first.start, second.end or second.start
            if start and end and end <= start:
                week = start - timedelta(days=7)
                # From Monday to Friday, said on a Tuesday; else from November to March.
                start = week if week < end else start - timedelta(days=365)
            yield TimeSpan(
                start, end, low[first.offset : second.offset + len(second.words)], first.offset
            )
            place += 2
            continue
        yield first
        place += 1


def _numbers(words: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", words)]


def _month_number(words: str) -> int:
    for number, name in enumerate(MONTHS, 1):
        if re.search(rf"\b{name[:3]}", words):
            return number
    raise ValueError(f"no month in {words!r}")


def _year_in(words: str, now: datetime, month: int) -> int:
    """Return the year that stands there, else the latest in which that month has begun."""
    match = re.search(_YEAR, words)
    return int(match[0]) if match else now.year - (month > now.month)


def _count_and_unit(words: str) -> tuple[int, int, str]:
    """Return the least and the greatest number that words of the form `COUNT UNIT` have, and the unit: 1, 2
    and "week" for "a week or two"; 1 where none stands there."""
    unit = re.search(r"minute|hour|day|week|fortnight|sprint|month|year", words)
    assert unit is not None
    head, _, other_count = words.partition(" or ")
    low = count_of(head) if head != unit[0] else 1
    high = low if not other_count or other_count.startswith("so ") else count_of(other_count)
    return low, max(low, high), unit[0]


def count_of(words: str) -> int:
    """Return the number that words of the form `COUNT` begin with: 2 for "a couple of"."""
    first = words.replace("a couple", "couple").replace("a few", "few").split()[0]
    return int(first) if first.isdigit() else _COUNTS[first]


def _shifted_month(now: datetime, months: int) -> tuple[int, int]:
    total = now.year * 12 + now.month - 1 + months
    return total // 12, total % 12 + 1


def _month_bounds(year: int, month: int, count: int, now: datetime) -> _Bounds:
    start = _day_at(now, year, month, 1)
    return start, _day_at(now, *_shifted_month(start, count), 1)


def _day_at(now: datetime, year: int, month: int, day: int) -> datetime:
    return datetime(year, month, day, tzinfo=now.tzinfo)


def _midnight(at: datetime) -> datetime:
    return _day_at(at, at.year, at.month, at.day)


def _days_back(now: datetime, days: int) -> _Bounds:
    # On the clock of its zone a day after midnight is midnight, however many hours it has.
    start = _midnight(now) - timedelta(days=days)
    return start, start + timedelta(days=1)


def _utc(at: datetime | None, now: datetime) -> datetime | None:
    """Return when the clock on the wall shows a time: what was counted with the offset of now may lie behind a change of
    clocks. A distance of hours or minutes is none of the wall's."""
    if at is None or at.tzinfo is timezone.utc or at == now:
        return at and at.astimezone(timezone.utc)
    return days.shown_at(at, now).astimezone(timezone.utc)
