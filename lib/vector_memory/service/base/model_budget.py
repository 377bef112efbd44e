"""What a language model may take in a day, in calls and in tokens, and what became of it.

Everything is counted in `state.db`, under the day's name, before the call is made: no restart and no
second thread makes more of a day than it has.
"""

from __future__ import annotations

import threading
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from vector_memory.config import Settings
    from vector_memory.journal.state import State

COUNTED = ("calls", "tokens", "refused", "failures", "garbage")
TOTALS = frozenset({"refused", "failures", "garbage"})
"""What is counted over all days too."""
ANSWERS = "generation_answers"
RESTS_FOR = timedelta(minutes=10)
LATE_FOR = timedelta(minutes=1)
"""So long a recall does without a model that was late, or without what there was no time left for. A model that was
only being loaded is there by then."""


class Reserved(NamedTuple):
    """A call that may be made: its day, and the tokens that are set aside for it."""

    day: date
    tokens: int


class Allowance:
    """The day's calls and tokens. Any thread may call any method."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._lock = threading.Lock()
        self.error = ""
        """The last failure's words, until a call goes well."""
        self._failed_at: datetime | None = None
        self._late_at: datetime | None = None
        self._cut_short_at: datetime | None = None

    def reserve(self, settings: Settings, day: date, tokens: int) -> Reserved | None:
        """Count a call and set tokens aside, on the disk; None where the day has not enough left.

        Returns:
            What was set aside, to be settled by what the call took.
        """
        with self._lock:
            used = self.used_on(day)
            if (
                used["calls"] >= settings.generation_daily_calls
                or used["tokens"] + tokens > settings.generation_daily_tokens
            ):
                self.count("refused", day)
                return None
            self.count("calls", day)
            self.count("tokens", day, tokens)
            self._state.flush()
            return Reserved(day, tokens)

    def went_well(self, reserved: Reserved, tokens: int) -> None:
        """Put what a call took in the place of what was set aside."""
        self._state.count(ANSWERS)
        self._correct_tokens(reserved, tokens)
        self.error, self._failed_at, self._late_at = "", None, None

    def answers(self) -> int:
        """Return how many calls went well so far, on all days."""
        return self._state.counters().get(ANSWERS, 0)

    def went_wrong(self, reserved: Reserved, tokens: int) -> None:
        """Keep what was set aside, unless the call is known to have taken more: few failures say."""
        self._correct_tokens(reserved, max(tokens, reserved.tokens))

    def cut_short(self, now: datetime) -> None:
        """Note that too little time was left for a call. What was set aside for it counts: nobody knows what it took."""
        self._cut_short_at = now

    def failed(self, day: date, now: datetime, error: str) -> None:
        """Count a failure and keep its words."""
        self.count("failures", day)
        self.error, self._failed_at = error, now

    def rests(self, now: datetime) -> bool:
        """Whether a failure is so recent that work nobody waits for should not be tried."""
        return _is_recent(self._failed_at, now, RESTS_FOR)

    def note_timeout(self, now: datetime) -> None:
        """Note that somebody waited in vain."""
        self._late_at = now

    def was_late(self, now: datetime) -> bool:
        """Whether somebody has just waited in vain."""
        return _is_recent(self._late_at, now, LATE_FOR)

    def was_cut_short(self, now: datetime) -> bool:
        """Whether a call has just got too little of a time that it shares."""
        return _is_recent(self._cut_short_at, now, LATE_FOR)

    def count(self, what: str, day: date, by: int = 1) -> None:
        """Add to one of `COUNTED`."""
        self._state.count(f"generation_{what}_{day:%Y-%m-%d}", by)
        if what in TOTALS:
            self._state.count(f"generation_{what}", by)

    def _correct_tokens(self, reserved: Reserved, tokens: int) -> None:
        with self._lock:
            if tokens != reserved.tokens:
                self.count("tokens", reserved.day, tokens - reserved.tokens)
            self._state.flush()

    def used_on(self, day: date) -> dict[str, int]:
        """Return what was counted on a day."""
        counters = self._state.counters()
        return {what: counters.get(f"generation_{what}_{day:%Y-%m-%d}", 0) for what in COUNTED}


def _is_recent(at: datetime | None, now: datetime, span: timedelta) -> bool:
    return at is not None and now - at < span
