"""How long answers took is kept over restarts, the last thousand of a kind, and told beside what they may take."""

from __future__ import annotations

from pathlib import Path

import pytest
from service_house import ServiceHouse, door

from vector_memory.cli.answers import Row
from vector_memory.cli.checks import WARN, trouble
from vector_memory.journal.state import State
from vector_memory.service.base.timings import KEPT, WRITE_EVERY_S, Timings


@pytest.fixture
def state(tmp_path: Path) -> State:
    """A state of its own."""
    return State.open(str(tmp_path / "state.db"))


def test_the_last_thousand_over_restarts(state: State) -> None:
    """Of what has a target; the oldest go."""
    first = Timings()
    for number in range(KEPT):
        first.add("recall", 0.001 * number)
    first.add("no_such_verb", 1.0)
    first.write(state, now=True)
    second = Timings()
    for _ in range(KEPT // 2):
        second.add("recall", 2.0)
    report = second.report(state)
    assert list(report) == ["recall"]
    assert (report["recall"].count, report["recall"].p50_ms, report["recall"].p95_ms) == (
        KEPT, 999.0, 2_000.0,
    )  # fmt: skip
    assert (report["recall"].target_ms, report["recall"].met) == (500, False)


def test_it_is_written_once_in_a_while(state: State) -> None:
    """Not for every answer, and not where nothing is new."""
    now = [0.0]
    timings = Timings(lambda: now[0])
    timings.add("Stop", 0.01)
    timings.write(state)
    assert state.cursor("timings") is None
    now[0] = WRITE_EVERY_S
    timings.write(state)
    assert (state.cursor("timings") or {})["Stop"] == [100]
    assert timings.report(state)["Stop"].count == 1


def test_few_are_no_reason_to_say_anything(state: State) -> None:
    """Neither that it is met nor that it is missed; percentiles are times that were taken."""
    timings = Timings()
    for took_s in (0.1, 0.2, 9.0):
        timings.add("remember", took_s)
    slo = timings.report(state)["remember"]
    assert (slo.count, slo.p50_ms, slo.p95_ms, slo.met) == (3, 200.0, 9_000.0, None)


def test_stats_tell_all_and_doctor_what_is_missed(house: ServiceHouse) -> None:
    """In words that say what is too slow."""
    for _ in range(30):
        house.ctx.timings.add("recall", 0.02)
        house.ctx.timings.add("Stop", 0.5)
    slo = door(house.ctx, "stats", {})["slo"]
    assert slo["recall"] == {"count": 30, "p50_ms": 20.0, "p95_ms": 20.0, "target_ms": 500, "met": True}  # fmt: skip
    (finding,) = trouble._speed(Row(slo))
    assert (finding.state, finding.message) == (
        WARN, "Stop takes 500 ms (p95 of the last 30), and may take 250 ms.",
    )  # fmt: skip
    house.ctx.save()
    assert Timings().report(house.ctx.state)["Stop"].count == 30
