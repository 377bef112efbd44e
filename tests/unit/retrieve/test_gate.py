"""What a hit is worth unasked, in the midst of work and after weeks of rest."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from vector_memory.retrieve import gate

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
NOW = datetime(2026, 5, 3, 8, tzinfo=timezone.utc)


def known(
    age_s: float, rest_s: float, relevance: float, is_before: bool, newer: float = 0.0
) -> dict[str, float]:
    """Return the features of a passage at a session's first prompt."""
    now = NOW.timestamp() / DAY
    ended, days = now - rest_s / DAY, now - age_s / DAY
    moment = gate.Moment(NOW, True, (min(days, ended) if is_before else ended + 1.0, ended))
    parts = {"cosine": 0.1 + 0.5 * relevance, "words": 0.1 + 0.5 * relevance}
    return gate.feature_values(days, moment, parts, newer)


def worth(
    age_s: float, rest_s: float, relevance: float, is_before: bool = False, newer: float = 0.0
) -> float:
    """Return what a passage is worth to a session's first prompt."""
    return gate.worth(known(age_s, rest_s, relevance, is_before, newer))


@pytest.mark.parametrize("days", [0.02, 0.6, 4, 10, 21, 60, 700])
def test_what_is_surely_of_the_task_is_told_after_any_rest(days: float) -> None:
    """And what only may be is not, however long the project lay."""
    assert worth((days + 20) * DAY, days * DAY, 0.95) > 0.4
    assert worth((days + 20) * DAY, days * DAY, 0.1) < 0.3


def test_what_was_just_said_is_worth_more() -> None:
    """The same words of a minute ago, of the session before, and of weeks ago."""
    assert worth(MINUTE, MINUTE, 0.5) > worth(HOUR, MINUTE, 0.5, is_before=True)
    assert worth(HOUR, MINUTE, 0.5, is_before=True) > worth(HOUR, MINUTE, 0.5)


def test_what_was_said_anew_since_is_worth_less() -> None:
    """The more a later session's words are like it."""
    since = [0.0, 0.3, 0.5, 0.7, 0.9]
    worths = [worth(20 * DAY, 2 * DAY, 0.9, newer=newer) for newer in since]
    assert worths[0] == worths[1] > worths[2] > worths[3] > worths[4]
    assert worths[0] > 0.3 > worths[3]


def test_times_that_cannot_be_count_as_now() -> None:
    """A clock was put back: what is of the future is of now, and no value grows without bounds."""
    assert known(-5 * DAY, -DAY, 0.9, True)["fresh"] == 1.0
    assert worth(9e9, 9e9, 0.5) == worth(9e10, 9e10, 0.5)
