"""Moments to come, as they are typed for a token or an agent."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone

import pytest

from vector_memory.service.base.request_fields import time_to_come


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize("is_put_forward", [True, False])
@pytest.mark.parametrize("typed", ["3h", "in 3 hours"])
def test_three_hours_are_three_whatever_is_done_to_clocks_within_them(
    typed: str, is_put_forward: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A zone is made in which the clocks, an hour ahead in summer, are changed an hour from now."""
    change = datetime.now(timezone.utc) + timedelta(hours=1 if is_put_forward else 2)
    day = change.timetuple().tm_yday - 1
    rules = [f"{day}/{change:%H:%M:%S}", str((day + 180) % 360)]
    spring, autumn = rules if is_put_forward else reversed(rules)
    monkeypatch.setenv("TZ", f"AAA0BBB,{spring},{autumn}")
    time.tzset()
    before = datetime.now(timezone.utc)
    offsets = {(before + timedelta(hours=n)).astimezone().utcoffset() for n in range(4)}
    until = time_to_come({"until": typed}, "until")
    after = datetime.now(timezone.utc)
    assert len(offsets) == 2
    assert until is not None
    assert before <= until - timedelta(hours=3) <= after
