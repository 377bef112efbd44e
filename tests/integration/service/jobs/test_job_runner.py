"""The runner: jobs in their time, one step after the other, whatever fails or is cut off."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, door

from vector_memory.errors import BadInputError, NotFoundError, StoreFullError
from vector_memory.journal.job_rows import JobRow
from vector_memory.journal.state import State
from vector_memory.service.base.context import Context, JobClock
from vector_memory.service.jobs import registry, runner
from vector_memory.service.jobs.registry import Job
from vector_memory.service.jobs.schedule import cadence
from vector_memory.service.jobs.step import Entry, JobRun, Step, with_step

STEPS: list[str] = []
FAIL: list[BaseException] = []


def three_steps(ctx: Context, run: JobRun) -> Step:
    """A job of three steps that notes where it is."""
    n = run.cursor.number("n")
    if FAIL and n == 1:
        raise FAIL[0]
    STEPS.append(f"{n}{'?' if run.dry_run else ''}")
    entry = Entry("stepped", (f"id{n}",), {})
    return Step(
        {"steps": 1, "previous": run.before.number("steps")},
        {"n": n + 1} if n < 2 else {},
        entry,
        "done",
    )


def one_step(ctx: Context, run: JobRun) -> Step:
    """A job of one step."""
    STEPS.append("one")
    return Step({"ones": 1})


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServiceHouse]:
    """A service whose registry holds two jobs of the test's own."""
    jobs = {
        "three": Job(cadence("daily 03:00"), f"{__name__}:three_steps", "three"),
        "one": Job(cadence("daily 03:30"), f"{__name__}:one_step", "one"),
    }
    works = {"three": three_steps, "one": one_step}
    monkeypatch.setattr(registry, "JOBS", jobs)
    monkeypatch.setattr(registry, "CADENCES", {name: job.cadence for name, job in jobs.items()})
    monkeypatch.setattr(registry, "work_of", works.__getitem__)
    STEPS.clear()
    FAIL.clear()
    made = ServiceHouse(tmp_path)
    yield made
    made.close()


def pass_until(house: ServiceHouse, hour: int, minute: int = 0) -> None:
    """Let the time come to an hour of the next day."""
    at = (house.time + timedelta(days=1)).replace(hour=hour, minute=minute)
    house.time = at


def work_off(house: ServiceHouse, most: int = 50) -> int:
    """Do all that is due now, and return how many steps that were."""
    steps = 0
    while steps < most and runner.advance(house.ctx):
        steps += 1
    return steps


def row(house: ServiceHouse, name: str) -> Any:
    return house.ctx.state.jobs()[name]


def test_nothing_runs_at_the_first_start(house: ServiceHouse) -> None:
    """Each job waits for its next time."""
    assert work_off(house) == 0
    assert set(house.ctx.state.jobs()) == {"three", "one"}


def test_each_runs_once_in_its_time(house: ServiceHouse) -> None:
    work_off(house)
    pass_until(house, 4)
    assert work_off(house) == 4
    assert STEPS == ["0", "1", "2", "one"]
    assert work_off(house) == 0
    done = row(house, "three")
    assert (done.outcome, done.message, done.failures) == ("ok", "done", 0)
    assert done.report == {"steps": 3, "previous": 0}
    assert done.due_at > house.time
    pass_until(house, 4)
    work_off(house)
    # Each run is told what the one before it did, and begins to count anew.
    assert row(house, "three").report == {"steps": 3, "previous": 9}


def test_a_month_of_sleep_is_one_run(house: ServiceHouse) -> None:
    work_off(house)
    house.pass_time(days=31)
    assert work_off(house) == 4


def test_waiting_costs_no_look_at_the_state(
    house: ServiceHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While nothing is due, times are compared and nothing is read."""
    work_off(house)
    monkeypatch.setattr(State, "jobs", lambda self: pytest.fail("the state was read"))
    house.pass_time(minutes=30)
    assert runner.advance(house.ctx) == 0


def test_it_does_nothing_where_jobs_are_switched_off(house: ServiceHouse) -> None:
    work_off(house)
    house.ctx.settings = replace(house.ctx.settings, jobs=False)
    pass_until(house, 4)
    assert work_off(house) == 0


def test_a_job_fails_alone_and_goes_on_where_it_stopped(house: ServiceHouse) -> None:
    work_off(house)
    FAIL.append(ValueError("broke"))
    pass_until(house, 4)
    work_off(house)
    assert STEPS == ["0", "one"]
    failed = row(house, "three")
    assert (failed.outcome, failed.failures) == ("failed", 1)
    assert failed.message == "ValueError: broke"
    assert failed.due_at == house.time + timedelta(minutes=5)
    assert house.ctx.state.totals()["jobs_failed"] == 1
    house.pass_time(minutes=6)
    work_off(house)
    assert row(house, "three").failures == 2
    FAIL.clear()
    house.pass_time(minutes=11)
    work_off(house)
    assert STEPS == ["0", "one", "1", "2"]
    assert (row(house, "three").outcome, row(house, "three").report["steps"]) == ("ok", 3)


def test_a_full_disk_is_told_to_the_daemon(house: ServiceHouse) -> None:
    """It gives up its reserve then."""
    work_off(house)
    FAIL.append(StoreFullError("full", "Free space."))
    pass_until(house, 4)
    runner.advance(house.ctx)
    with pytest.raises(StoreFullError):
        runner.advance(house.ctx)


def test_the_audit_log_has_each_step_and_each_run_once(house: ServiceHouse) -> None:
    work_off(house)
    pass_until(house, 4)
    work_off(house)
    entries = house.ctx.state.audit_entries(100)
    assert sorted(id for entry in entries if entry.action == "stepped" for id in entry.ids) == [
        "id0",
        "id1",
        "id2",
    ]
    runs = {entry.detail["name"]: entry for entry in entries if entry.action == "job"}
    assert set(runs) == {"three", "one"}
    assert all(entry.actor == "job" for entry in entries)
    assert runs["three"].detail["steps"] == 3
    assert not house.ctx.state.audit_break()


def test_a_run_that_was_cut_off_goes_on(house: ServiceHouse) -> None:
    """Another daemon takes it up at its cursor: no step is done twice that was noted."""
    work_off(house)
    pass_until(house, 4)
    runner.advance(house.ctx)
    assert row(house, "three").outcome == "running"
    house.ctx.job_clock = JobClock()
    work_off(house)
    assert STEPS == ["0", "1", "2", "one"]
    assert row(house, "three").report["steps"] == 3


def test_a_step_that_ends_each_daemon_waits_at_last(house: ServiceHouse) -> None:
    """It counts as a failure, and others are done."""
    work_off(house)
    # As a signal does, it goes through everything that catches errors.
    FAIL.append(KeyboardInterrupt())
    pass_until(house, 4)
    runner.advance(house.ctx)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            runner.advance(house.ctx)
        house.ctx.job_clock = JobClock()
    runner.advance(house.ctx)
    stopped = row(house, "three")
    assert (stopped.outcome, STEPS) == ("failed", ["0"])
    assert stopped.due_at > house.time
    work_off(house)
    assert STEPS == ["0", "one"]


def test_a_run_by_hand_and_a_dry_run(house: ServiceHouse) -> None:
    """A dry run goes through all steps and notes nothing; a run by hand counts like any other."""
    work_off(house)
    before = row(house, "three")
    dry = door(house.ctx, "run_job", {"name": "three", "dry_run": True})
    assert (dry["report"]["steps"], STEPS) == (3, ["0?", "1?", "2?"])
    assert row(house, "three") == before
    done = door(house.ctx, "run_job", {"name": "three"})
    assert (done["name"], done["outcome"], done["report"]["steps"]) == ("three", "ok", 3)


def test_only_one_runs_at_a_time(house: ServiceHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks meanwhile is told so; the keeper does something else."""
    pass_until(house, 4)

    class Held:
        def acquire(self, **_: object) -> bool:
            return False

    house.ctx.job_clock.lock = Held()  # type: ignore[assignment]
    house.ctx.job_clock.looked_at = None
    assert runner.advance(house.ctx) == 0
    with pytest.raises(BadInputError, match="Another job"):
        runner.run(house.ctx, "three", dry_run=False)


def test_listing_enabling_disabling(house: ServiceHouse) -> None:
    """The row has the fields of the contract; a disabled job is due never."""
    (first, _) = door(house.ctx, "jobs", {})["jobs"]
    assert set(first) == {
        "name", "cadence", "enabled", "last_started", "last_ended", "outcome", "next_due", "message",
        "failures",
    }  # fmt: skip
    assert (first["cadence"], first["enabled"]) == ("daily 03:00", True)
    assert datetime.fromisoformat(first["next_due"]) > house.time
    off = door(house.ctx, "jobs", {"action": "disable", "name": "three"})
    assert (off["enabled"], off["next_due"], off["about"]) == (False, None, "three")
    pass_until(house, 4)
    work_off(house)
    assert STEPS == ["one"]
    on = door(house.ctx, "jobs", {"action": "enable", "name": "three"})
    assert datetime.fromisoformat(on["next_due"]) > house.time
    with pytest.raises(BadInputError, match="Only the user"):
        door(house.ctx, "jobs", {"action": "disable", "name": "three", "actor": "agent"})
    with pytest.raises(NotFoundError):
        door(house.ctx, "jobs", {"action": "show", "name": "nothing"})


def test_figures_and_list_count_the_same_jobs(house: ServiceHouse) -> None:
    """Also before any of them was noted, one is disabled, or all are."""
    house.ctx.state.put_jobs([JobRow("of_an_older_version", True)])

    def counted() -> tuple[int, int]:
        told = door(house.ctx, "stats", {})["jobs"]["enabled"]
        return told, sum(each["enabled"] for each in door(house.ctx, "jobs", {})["jobs"])

    assert counted() == (2, 2)
    door(house.ctx, "jobs", {"action": "disable", "name": "one"})
    assert counted() == (1, 1)
    house.ctx.settings = replace(house.ctx.settings, jobs=False)
    assert counted() == (0, 0)


def test_all_that_is_due_can_be_run_by_hand(house: ServiceHouse) -> None:
    work_off(house)
    pass_until(house, 4)
    done = door(house.ctx, "run_job", {"due": True})
    assert [each["name"] for each in done["jobs"]] == ["three", "one"]
    assert work_off(house) == 0


def test_where_jobs_are_off_none_is_run_for_being_due(house: ServiceHouse) -> None:
    """The timer of `jobs install` asks so every day. One that is named is run all the same."""
    work_off(house)
    pass_until(house, 4)
    house.ctx.settings = replace(house.ctx.settings, jobs=False)
    done = door(house.ctx, "run_job", {"due": True})
    assert done["jobs"] == [] and "config set jobs on" in done["message"]
    assert door(house.ctx, "run_job", {"name": "one"})["outcome"] == "ok"
    house.ctx.settings = replace(house.ctx.settings, jobs=True)
    done = door(house.ctx, "run_job", {"due": True})
    assert [each["name"] for each in done["jobs"]] == ["three"]


def test_reports_add_up() -> None:
    """Counts are added, lists joined, anything else stands for itself."""
    found = with_step(
        {"n": 1, "ids": ["a"], "at": "x", "yes": True},
        {"n": 2, "ids": ["b"], "at": "y", "yes": True},
    )
    assert found == {"n": 3, "ids": ["a", "b"], "at": "y", "yes": True}


@pytest.mark.parametrize("moment", ["claimed", "done", "noted"])
def test_killed_at_any_moment_nothing_is_doubled(
    house: ServiceHouse, tmp_path: Path, moment: str
) -> None:
    """A process is killed while it writes a row: before the step, after it, after its row. Another one brings
    the run to its end, with each entry of the audit log once."""
    work_off(house)
    pass_until(house, 4)
    child = os.fork()
    if child == 0:
        try:
            state = State.open(house.ctx.home.state_db)
            house.ctx.state = state
            put = state.put_jobs
            calls = {"n": 0}

            def dying(rows: Any, entries: Any = ()) -> None:
                calls["n"] += 1
                if moment == "done" and calls["n"] == 2:
                    os.kill(os.getpid(), signal.SIGKILL)
                put(rows, entries)
                if calls["n"] == {"claimed": 1, "noted": 2}.get(moment):
                    os.kill(os.getpid(), signal.SIGKILL)

            state.put_jobs = dying  # type: ignore[method-assign]
            runner.forget_due_times(house.ctx)
            for _ in range(3):
                runner.advance(house.ctx)
        finally:
            sys.stderr.flush()
            os._exit(9)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)
    runner.forget_due_times(house.ctx)
    work_off(house)
    assert row(house, "three").outcome == "ok"
    assert row(house, "three").report["steps"] == 3
    stepped = [e.ids[0] for e in house.ctx.state.audit_entries(50) if e.action == "stepped"]
    assert sorted(stepped) == ["id0", "id1", "id2"]
