"""Which day to come a sentence names by which something is to be done, or on which it happens."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone
from itertools import takewhile

from vector_memory.text import days, times, times_abroad
from vector_memory.text.patterns import PatternTable
from vector_memory.text.words import clauses_in

MOST_DAYS = 183
"""A day without its year that is farther ahead than this is rather the one that was."""
_DAYS_AHEAD = (0, 7, 31, MOST_DAYS)
"""Days after which a weekday, a day of a month, a date without its year has come again."""
_SOME_TIME = datetime(2000, 1, 1, tzinfo=timezone.utc)
_CLAUSE_STARTS = frozenset(
    ("and", "but", "forget", "und", "aber", "sondern", "et", "mais", "y", "pero")
)
"""Words behind which another clause begins."""
_REASON_STARTS = frozenset(("because", "since", "weil", "denn", "parce", "porque"))
_PAST_VERBS = frozenset(
    (
        "asked", "came", "did", "found", "gave", "got", "had", "lost", "made", "ran", "said", "sent", "told", "took", "was",
        "went", "were", "hat", "haben", "hatte", "hatten", "war", "waren", "wurde", "wurden", "avait", "était", "été", "fue",
    )
)  # fmt: skip
"""What tells of what was, beside verbs that end in "ed"."""
_NOT_BEFORE_PAST = frozenset(
    ("a", "an", "the", "to", "is", "are", "be", "been", "being", "get", "gets", "getting", "and")
)
"""Behind which a word in "ed" is a passive or an adjective."""
_ABROAD = re.compile(
    r"(?:(?P<year>20\d\d)[年년]\s?)?(?P<month>1[0-2]|0?[1-9])(?:月|월\s?)(?P<day>[12]\d|3[01]|0?[1-9])"
    r"(?:日までに?|일\s?까지|[日号號](?:之前|以前|前)(?!的))"
    r"|\baté (?:o dia |dia )?(?P<day_pt>[12]\d|3[01]|0?[1-9])/(?P<month_pt>1[0-2]|0?[1-9])(?:/(?P<year_pt>(?:20)?\d\d))?\b(?!/| d[ao]s?\b)",
    re.IGNORECASE,
)
"""A last day in Japanese, Korean, Chinese and Portuguese."""
_UNTIL_WORDS = frozenset(("until", "till", "bis", "hasta", "jusqu'au"))
_WORDS_BETWEEN = frozenset(
    (*times_abroad.WEEKDAYS, "and", "including", "einschließlich", "zum", "den", "the", "el")
)
"""What may stand between such a word and its day."""
_RANGE_STARTS = frozenset(
    ("between", "from", "zwischen", "von", "vom", "du", "entre", "del", "desde")
)
_RANGE_JOINTS = _UNTIL_WORDS | frozenset(("and", "to", "und", "au", "et", "al", "y"))
_WORDS_OF_A_DAY = frozenset((*times_abroad.WEEKDAYS, *times_abroad.MONTHS, "of", "de", "the", "dem", "den", "el"))  # fmt: skip
"""What, beside numbers, stands between the two."""
_MARKS = " ,:;.!()-–#>、，。！"
"""What may stand around a clause."""
_FindDay = Callable[[str, datetime], "times.TimeSpan | None"]
_TABLE = PatternTable("deadlines", os.path.dirname(__file__))


def deadline(text: str, said_at: datetime) -> datetime | None:
    """Return the end of the day to come by which a sentence says that something has to be done, or on which it happens;
    None where it names no such day.

    Args:
        text: one sentence.
        said_at: when it was said, in the zone of its days.
    """
    text = _in_english(text)
    ends = (
        _coming_end(_single_day, part, said_at) for part, day in _days(text) if _is_due(part, day)
    )
    return min((end for end in ends if end is not None), default=None)


def last_day(text: str, said_at: datetime) -> datetime | None:
    """Return the end of the day until which a text says that something holds, as it was meant when it was said; None
    where it names no such day. It does where all of it is one clause that such a day of the calendar opens or closes: of
    two clauses one may hold on, as "we keep v1 until 6 May, but never merge without Ines".

    Args:
        text: what somebody said.
        said_at: when it was said, in the zone of its days.
    """
    text = _ABROAD.sub(_with_until, text)
    text = times_abroad.without_next(text.replace("*", "").replace("`", "").replace("’", "'"))
    text = _until_its_end(text)
    day = _single_date(text, said_at)
    if day is None:
        return None
    words_before = [*text[: day.offset].split(), day.words.split()[0]]
    if _bare_word(words_before.pop()) not in _UNTIL_WORDS:
        while words_before and _bare_word(words_before[-1]) in _WORDS_BETWEEN:
            words_before.pop()
        if not words_before or _bare_word(words_before.pop()) not in _UNTIL_WORDS:
            return None
    text_after = text[day.offset + len(day.words) :].strip(_MARKS)
    text_before = " ".join(words_before).strip(_MARKS)
    clause = f"{text_before} until" if text_before else text_after
    if (text_after and text_before) or "\n" in text.strip() or "beside" in _TABLE.found(clause):
        return None
    return _coming_end(_single_date, text, said_at)


def _until_its_end(text: str) -> str:
    """Return a text that begins with "between 10 and 20 January" with "until 20 January" for that. Further on such words
    may tell which things are meant: "never delete the orders between …"."""
    words = text.lstrip(_MARKS).split(" ")
    first_day = list(takewhile(_is_of_a_day, map(_bare_word, words[1:])))
    joint, *rest = (*words[1 + len(first_day) :], "")
    is_range = _bare_word(words[0]) in _RANGE_STARTS and _bare_word(joint) in _RANGE_JOINTS
    has_number = any(map(str.isdigit, "".join(first_day)))
    # In German: "30. November" is read as a day behind German words alone, others behind any.
    return " ".join(["bis", *rest]) if is_range and has_number else text


def _is_of_a_day(name: str) -> bool:
    return name in _WORDS_OF_A_DAY or any(map(str.isdigit, name))


def has_deadline(text: str) -> bool:
    """Whether a sentence names a day by which something is to be done, or on which it happens, whether that is over or
    not: "… by May 9", "the audit is on May 9", or no more than "audit on May 9, 10:00"."""
    return any(_is_due(part, day) for part, day in _days(_in_english(text)))


def _in_english(text: str) -> str:
    """Return a sentence with the last day that it names in another language in English: "12月10日までに" as "by 10 december".
    One that is denied, asked for or over names none."""
    # Each of these forms has a sign outside of ASCII.
    if text.isascii() or not _ABROAD.search(text):
        return text
    parts = _TABLE.found(text)
    if "over abroad" in parts and "owed abroad" not in parts:
        return text
    return _ABROAD.sub(_with_by, text)


def _with_by(day: re.Match[str]) -> str:
    return _english_date(day, "until" if day[0].endswith("まで") else "by")


def _with_until(day: re.Match[str]) -> str:
    """Return a last day with "until" where a comma or a topic's particle parts it from the rest: else it may belong to the
    next noun, as in "12月10日まで有効なトークン". Who says までに says by when."""
    is_apart = not day[0].endswith("に") and day.string[day.end() : day.end() + 1] in "は、，,는"
    return _english_date(day, "until") if is_apart or day["day_pt"] else day[0]


def _english_date(day: re.Match[str], word: str) -> str:
    number, month, year = (day[name] or day[name + "_pt"] for name in ("day", "month", "year"))
    year = f"20{year[-2:]}" if year else ""
    return f" {word} {int(number)} {times_abroad.MONTHS[int(month) - 1]} {year}".rstrip() + " "


def _days(text: str) -> list[tuple[str, times.TimeSpan]]:
    """Return the parts of a sentence that name one day each, with that day: the whole sentence, or what stands between
    its commas where it names several days."""
    spans = _spans(text, _SOME_TIME)
    if not spans:
        return []
    if day := _single_span(spans):
        return [(text, day)]
    # Of several days only those that have a number: "until dec 2, black friday".
    parts = ((part, _single_day(part, _SOME_TIME)) for part in clauses_in(text, ",;"))
    return [(part, day) for part, day in parts if day and any(map(str.isdigit, day.words))]


def _is_due(text: str, day: times.TimeSpan) -> bool:
    """Whether a text says that something is to be done, or happens, on the one day that it names."""
    if not day.is_date or text.rstrip().endswith("?"):
        return False
    before, _, behind = times_abroad.without_next(text).partition(day.words)
    parts_before, parts_behind = _TABLE.found(before), _TABLE.found(behind)
    clause_parts = _TABLE.found(_last_clause(before))
    if "other" in clause_parts:
        # What can't be later has to be by then.
        return "late" in clause_parts
    day_parts = _TABLE.found(day.words)
    if "by" in day_parts:
        return True
    if "owed" in _TABLE.found(text):
        clause = f"{_reason_in(_last_clause(before))} {clauses_in(behind, ',;:')[0]}"
        # A duty may stand for a reason of another day: "never rename them, it went live on the 19th".
        return "owed" in _TABLE.found(clause) or not _tells_what_was(clause)
    if "before" in day_parts:
        return "told" not in parts_before
    is_called = "event" in parts_before and "event over" in parts_behind
    is_headed = "nothing" in parts_before and "event then" in parts_behind
    is_announced = "told" not in parts_before + parts_behind and (is_called or is_headed)
    # Until a day something lasts, on it something happens.
    happens = "happens" in parts_before or "happens then" in parts_behind or is_announced
    return happens and day.start is not None


def _reason_in(clause: str) -> str:
    """Return what of a clause stands behind a word that gives a reason, all of it where none does."""
    words = clause.split()
    places = [place for place, word in enumerate(words[:-1]) if word.lower() in _REASON_STARTS]
    return " ".join(words[places[-1] + 1 :]) if places else clause


def _tells_what_was(clause: str) -> bool:
    """Whether a clause has a verb of the past. What begins with one goes on with a passive ("signed and returned on …")."""
    words = [_bare_word(word) for word in clause.split()]
    pairs = zip(words, words[1:], strict=False)
    are_past = (len(word) > len("need") and before not in _NOT_BEFORE_PAST and word.endswith("ed") for before, word in pairs)  # fmt: skip
    return not _PAST_VERBS.isdisjoint(words) or any(are_past)


def _last_clause(text: str) -> str:
    """Return what of a text belongs to what follows it: "I can't come, but it is due" denies no day behind it."""
    words = clauses_in(text.rstrip(", ") + " ", ",;:")[-1].split()
    last = max(
        (place for place, word in enumerate(words) if word.lower() in _CLAUSE_STARTS), default=-1
    )
    return " ".join(words[last + 1 :])


def _bare_word(word: str) -> str:
    """Return a word without what stands around it, a weekday in English."""
    return times_abroad.in_english(word.lower().strip(_MARKS))[0]


def _coming_end(find: _FindDay, text: str, said_at: datetime) -> datetime | None:
    """Return the end of the one day that a text names, where it is to come."""
    # A time has an offset alone: each day on which it is asked has the one that its own clock shows.
    zone = days.zone_of(said_at)
    moments = (said_at + timedelta(days=ahead) for ahead in _DAYS_AHEAD)
    spans = (find(text, days.local_time(moment, zone)) for moment in moments)
    ends = (span.end for span in spans if span is not None)
    return next((end for end in ends if end is not None and end > said_at), None)


def _single_day(text: str, now: datetime) -> times.TimeSpan | None:
    """Return the only day that a sentence names, or the only one behind a "by"; None where there is no such."""
    return _single_span(_spans(text, now))


def _single_date(text: str, now: datetime) -> times.TimeSpan | None:
    """Return the only date that a text names, None where there is no such: a weekday comes again, and so does "the 15th"."""
    dates = [
        span for span in _spans(text, now) if span.is_date and any(map(str.isdigit, span.words))
    ]
    is_single = len(dates) == 1 and dates[0].words.split()[-2:-1] != ["the"]
    return dates[0] if is_single else None


def _single_span(spans: Sequence[times.TimeSpan]) -> times.TimeSpan | None:
    by_spans = [span for span in spans if "by" in _TABLE.found(span.words)]
    candidates = by_spans if len(by_spans) == 1 else spans
    return candidates[0] if len(candidates) == 1 else None


def _spans(text: str, now: datetime) -> tuple[times.TimeSpan, ...]:
    # Whoever asks looks for days to come, of which "next" tells nothing new.
    return times.spans(times_abroad.without_next(text), now)
