"""What a hit is worth unasked, in the midst of work and after weeks of rest."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from vector_memory.retrieve import gate

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
NOW = datetime(2026, 5, 3, 8, tzinfo=timezone.utc)


def known(
    age_s: float, rest_s: float, relevance: float, is_before: bool, terms: int = 40
) -> dict[str, float]:
    """Return the features of a passage at a session's first prompt."""
    now = NOW.timestamp() / DAY
    ended, days = now - rest_s / DAY, now - age_s / DAY
    moment = gate.Moment(NOW, True, (min(days, ended) if is_before else ended + 1.0, ended))
    parts = {"cosine": 0.1 + 0.5 * relevance, "words": 0.1 + 0.5 * relevance}
    return gate.feature_values(days, moment, parts, relevance, terms)


def worth(age_s: float, rest_s: float, relevance: float, is_before: bool = False) -> float:
    """Return what a passage is worth to a session's first prompt."""
    return gate.worth(known(age_s, rest_s, relevance, is_before))


@pytest.mark.parametrize("days", [4, 10, 21, 60, 700])
def test_after_a_rest_what_is_surely_of_the_task_is_told(days: float) -> None:
    """And what only may be is not, however long the project lay."""
    assert worth(days * DAY, days * DAY, 0.95) > 0.4
    assert worth((days + 20) * DAY, days * DAY, 0.95) > 0.4
    assert worth(days * DAY, days * DAY, 0.1) < 0.3


def test_in_the_midst_of_work_what_is_fresh_is_worth_more() -> None:
    """The same words weeks ago are worth less than those of a minute, an hour and of the session before."""
    ages = [MINUTE, HOUR, 30 * DAY]
    worths = [worth(age, MINUTE, 0.7) for age in ages]
    assert worths == sorted(worths, reverse=True)
    assert worth(HOUR, MINUTE, 0.7, is_before=True) > worth(HOUR, MINUTE, 0.7)
    # And less than they are worth to who comes back.
    assert worth(30 * DAY, MINUTE, 0.95) < worth(30 * DAY, 30 * DAY, 0.95)


def test_the_longer_the_rest_the_more_relevance_counts() -> None:
    """From a day on, up to a few days: who comes back after a weekend has nothing fresh."""
    shares = [
        known(30 * DAY, rest, 0.8, False)["sure_rested"]
        for rest in (HOUR, 2 * DAY, 3 * DAY, 5 * DAY, 50 * DAY)
    ]
    assert shares[0] == 0.0 < shares[1] < shares[2] < shares[3] == shares[4] == 0.8


def test_times_that_cannot_be_count_as_now() -> None:
    """A clock was put back: what is of the future is of now, and no value grows without bounds."""
    back = known(-5 * DAY, -DAY, 0.9, True, terms=3)
    assert back["fresh"] == 1.0
    assert back["sure_rested"] == 0.0
    assert worth(9e9, 9e9, 0.5) == worth(9e10, 9e10, 0.5)
