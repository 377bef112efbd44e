"""What a line of progress says."""

from __future__ import annotations

import pytest

from vector_memory.cli.progress import Pace, rate, share_done, time_left


@pytest.mark.parametrize(
    ("doing", "speed", "said"),
    [
        ("reading", 61.4, "61 files/s"),
        ("embedding", 1234.5, "1,234 texts/s"),
        ("reading", 0.25, "0.2 files/s"),
        ("checking", 12.0, "12/s"),
        ("reading", None, ""),
    ],
)
def test_rate(doing: str, speed: float | None, said: str) -> None:
    """How quickly, in what is being done; nothing while it is not known."""
    assert rate(doing, speed) == said


def test_the_bar_is_over_the_whole() -> None:
    """What comes last goes on where the first part ended, and reaches the end; what comes alone is the whole."""
    steps = [("reading", 1, 4), ("reading", 4, 4), ("embedding", 10, 100), ("embedding", 100, 100)]
    shares = [share_done(*step, is_first=step[0] == "reading") for step in steps]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0 and shares[1] < 0.5
    assert share_done("embedding", 1, 2, is_first=True) == 0.5
    assert share_done("checking", 1, 2, is_first=True) == 0.5


def test_time_left_is_rather_too_long() -> None:
    """It is told by the stage's own pace from its second step on, and grows while a step takes long."""
    pace = Pace()
    steps = [(100.0, 353), (101.0, 481), (101.5, 481), (109.0, 609)]
    assert [pace.speed(*step) for step in steps] == [None, None, None, 16.0]
    assert time_left(2190, 16.0) == ", about 2:17 left"
    slower = pace.speed(117.0, 609)
    assert slower == 8.0
    assert time_left(2190, slower) == ", about 4:34 left"
    assert time_left(0, 16.0) == time_left(10, None) == ""
