"""ttl-sweep: what has expired goes physically, what is past its validity gives way, and nothing else moves."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from journal_samples import memory
from service_house import ServiceHouse, door, exported

from vector_memory.journal.journal import Journal
from vector_memory.journal.state import State
from vector_memory.model import ASSESSMENTS, Memory, Origin, Scope, Status
from vector_memory.service.base.asker import asker_in
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.jobs import paging, runner
from vector_memory.service.learning import counted_records

WORDS = "zanzibar quokka"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[ServiceHouse]:
    made = ServiceHouse(tmp_path)
    made.ctx.global_shelf()
    yield made
    made.close()


def stored(house: ServiceHouse, n: int, **more: Any) -> Memory:
    """Store a memory of the user's own, and return it."""
    made = replace(memory(n), origin=Origin.USER, **more)
    return house.ctx.global_shelf().journal.add([made])[0]


def once(house: ServiceHouse, dry_run: bool = False) -> dict[str, Any]:
    return door(house.ctx, "run_job", {"name": "ttl-sweep", "dry_run": dry_run})


def sweep(house: ServiceHouse, dry_run: bool = False) -> dict[str, Any]:
    """Run it until it may know that a time is over: twice."""
    once(house)
    return once(house, dry_run)


def every(house: ServiceHouse) -> dict[str, Memory]:
    journal = house.ctx.global_shelf().journal
    return {one.id: one for one in journal.iter_memories(Scope(), statuses=tuple(Status))}


def test_what_has_expired_is_not_listed_before_it_goes(house: ServiceHouse) -> None:
    """Nor counted: the next sweep may be a day away."""
    stored(house, 1, expires_at=house.time - timedelta(hours=1))
    kept = stored(house, 2, expires_at=house.time + timedelta(hours=1))
    for how in ({}, {"sort": "oldest"}, {"k": 100_000}):
        listed = door(house.ctx, "list", {"all_projects": True, **how})
        assert ([one["id"] for one in listed["memories"]], listed["total"]) == ([kept.id], 1)
    counted = door(house.ctx, "stats", {})
    assert (counted["memories"], *counted["by_collection"].values()) == (1, 1)
    assert counted["by_kind"] == {kept.kind: 1}
    assert door(house.ctx, "growth", {"all_projects": True})["memories"] == 1


def test_what_has_expired_can_be_kept_until_it_goes(house: ServiceHouse) -> None:
    """By its id, which an export tells too."""
    one = stored(house, 1, expires_at=house.time + timedelta(hours=1))
    house.pass_time(hours=2)
    assert [line["id"] for line in exported(house.ctx, {"all_projects": True})] == [one.id]
    door(house.ctx, "edit", {"id": one.id, "expires": "never"})
    sweep(house)
    assert set(every(house)) == {one.id}


def test_a_deadline_that_is_over_is_told_where_it_is_asked_for(house: ServiceHouse) -> None:
    """By its id, in an export, and as of a day on which it held; before the sweep and after it."""
    id = house.remember("renew the certificate of the gate", due="2026-05-04")["id"]
    house.pass_time(days=4)
    for is_swept in (False, True):
        if is_swept:
            assert sweep(house)["report"]["gave_way"] == 1
        assert door(house.ctx, "get", {"id": id})["memory"]["due_on"] == "2026-05-04"
        assert [line["id"] for line in exported(house.ctx, {"all_projects": True})] == [id]
        asked = {"action": "memory", "at": "2026-05-04", "all_projects": True}
        told = door(house.ctx, "time_travel", asked)
        assert [one["id"] for one in told["memories"]] == [id]


def test_what_has_expired_is_nowhere_any_more(house: ServiceHouse) -> None:
    """Not in the journal, its full text or the index; what has not expired stays."""
    past, future = house.time - timedelta(hours=1), house.time + timedelta(hours=1)
    gone = stored(house, 1, text=memory(1, f"{WORDS} is gone soon").text, expires_at=past)
    kept = stored(house, 2, expires_at=future)
    plain = stored(house, 3)
    house.follow()
    done = sweep(house)
    assert (done["outcome"], done["report"]["expired"]) == ("ok", 1)
    assert set(every(house)) == {kept.id, plain.id}
    shelf = house.ctx.global_shelf()
    assert shelf.journal.holding([WORDS.split()[0]]) == []
    assert shelf.index is not None
    assert gone.seq not in shelf.index.seqs().tolist()
    house.follow()
    assert sorted(shelf.journal.living_seqs()) == sorted(shelf.index.seqs().tolist())
    (entry,) = house.ctx.state.audit_entries(9, action="expire")
    assert (entry.actor, entry.ids) == ("job", [gone.id])


def test_a_dry_run_changes_nothing(house: ServiceHouse) -> None:
    gone = stored(house, 1, expires_at=house.time)
    done = sweep(house, dry_run=True)
    assert done["report"] == {"expired": 1, "assessments": 0, "gave_way": 0, "ids": [gone.id]}
    assert gone.id in every(house)
    assert house.ctx.state.audit_entries(9, action="expire") == []


def test_scratch_notes_go_and_their_key_is_free(house: ServiceHouse, tmp_path: Path) -> None:
    """Also those of a session that never asks again."""
    asked = {"project": str(tmp_path), "session": "s", "key": "k"}
    door(house.ctx, "scratch", {**asked, "action": "set", "text": "a note"})
    house.pass_time(hours=2)
    assert sweep(house)["report"]["expired"] == 1
    assert every(house) == {}
    again = door(house.ctx, "scratch", {**asked, "action": "set", "text": "another"})
    assert again["notes"][0]["text"] == "another"


def test_learnings_and_procedures_are_protected(house: ServiceHouse) -> None:
    ids = {
        stored(house, n, collection=name, expires_at=house.time).id
        for n, name in enumerate(("learnings", "procedures"))
    }
    assert sweep(house)["report"]["expired"] == 0
    assert set(every(house)) == ids


def test_what_is_past_its_validity_gives_way_and_can_come_back(house: ServiceHouse) -> None:
    """It is not deleted: its history has it, and who confirms it has it back."""
    old = stored(house, 1, valid_until=house.time - timedelta(days=1))
    assert sweep(house)["report"]["gave_way"] == 1
    now = every(house)[old.id]
    assert (now.status, now.gave_way) == (Status.SUPERSEDED, "its time has passed")
    (entry,) = house.ctx.state.audit_entries(9, action="outdate")
    assert entry.ids == [old.id]
    assert sweep(house)["report"]["gave_way"] == 0


def test_an_outdated_memory_that_is_confirmed_holds_again(house: ServiceHouse) -> None:
    one = stored(house, 1, collection="claude_memories", kind="note")
    door(house.ctx, "verify", {"id": one.id, "verdict": "outdated"})
    house.pass_time(seconds=1)
    assert sweep(house)["report"]["gave_way"] == 1
    door(house.ctx, "verify", {"id": one.id, "verdict": "confirmed"})
    back = every(house)[one.id]
    assert (back.status, back.valid_until, back.gave_way) == (Status.ACTIVE, None, "")


def test_what_gave_way_to_something_that_expires_holds_again(house: ServiceHouse) -> None:
    old, new = stored(house, 1), stored(house, 2, expires_at=house.time + timedelta(hours=1))
    house.ctx.global_shelf().journal.supersede(old.id, new.id, house.time)
    house.pass_time(hours=2)
    sweep(house)
    assert {id: one.status for id, one in every(house).items()} == {old.id: Status.ACTIVE}


def test_assessments_age_out(house: ServiceHouse, tmp_path: Path) -> None:
    """What was flagged in a session is kept for ninety days."""
    asker = asker_in(house.ctx, house.ctx.place(str(tmp_path)))
    for session in ("old", "new"):
        record = counted_records.CountedRecord(
            ASSESSMENTS, session, f"flagged in {session}", kind="assessment"
        )
        counted_records.keep(house.ctx, asker, record)
        house.pass_time(days=60)
    assert sweep(house)["report"]["assessments"] == 1
    assert [one.text for one in every(house).values()] == ["flagged in new"]


def test_many_go_in_several_steps(house: ServiceHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each names its own in the log before it deletes them."""
    monkeypatch.setattr(paging, "AT_ONCE", 3)
    ids = {stored(house, n, expires_at=house.time).id for n in range(8)}
    assert sweep(house)["report"]["expired"] == 8
    named = [id for entry in house.ctx.state.audit_entries(9, action="expire") for id in entry.ids]
    assert (len(named), set(named)) == (8, ids)


@pytest.mark.parametrize("moment", range(1, 9))
def test_killed_at_any_write_nothing_is_lost_or_doubled(
    house: ServiceHouse, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    """A process dies at its n-th write to state or journal. The next one brings the sweep to its end: what has
    expired is gone, and stands in the audit log once; all else is there."""
    monkeypatch.setattr(paging, "AT_ONCE", 2)
    gone = {stored(house, n, expires_at=house.time).id for n in range(5)}
    kept = {stored(house, n).id for n in range(5, 8)}
    runner.due_jobs(house.ctx)
    once(house)
    child = os.fork()
    if child == 0:
        try:
            _die_at(house, moment)
            runner.run(house.ctx, "ttl-sweep", dry_run=False)
        finally:
            os._exit(9)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)
    runner.forget_due_times(house.ctx)
    assert once(house)["outcome"] == "ok"
    assert set(every(house)) == kept
    named = [id for entry in house.ctx.state.audit_entries(50, action="expire") for id in entry.ids]
    assert (len(named), set(named)) == (5, gone)
    assert house.ctx.state.jobs()["ttl-sweep"].report["expired"] == 5
    assert house.ctx.global_shelf().journal.check(read_data=True) == []


def _die_at(house: ServiceHouse, moment: int) -> None:
    """Let this process be killed at its n-th write: before it where n is odd, else after it."""
    state = State.open(house.ctx.home.state_db)
    shelf = Shelf(house.ctx.home.global_store, Journal.open(house.ctx.home.global_store))
    house.ctx.state = state
    house.ctx._shelves[shelf.folder] = shelf
    writes = {"n": 0}

    def around(act: Any) -> Any:
        def counted(*given: Any, **more: Any) -> Any:
            writes["n"] += 1
            if writes["n"] == (moment + 1) // 2 and moment % 2:
                os.kill(os.getpid(), signal.SIGKILL)
            done = act(*given, **more)
            if writes["n"] == moment // 2 and not moment % 2:
                os.kill(os.getpid(), signal.SIGKILL)
            return done

        return counted

    state.put_jobs = around(state.put_jobs)  # type: ignore[method-assign]
    shelf.journal.purge = around(shelf.journal.purge)  # type: ignore[method-assign]


def test_a_run_that_fails_at_once_takes_nothing_from_the_next(
    house: ServiceHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It knows of the one before: failing once each day, it removed nothing for ever."""
    one = stored(house, 1, expires_at=house.time)

    def fails(*_: Any) -> None:
        raise OSError("busy")

    once(house)
    house.pass_time(days=1)
    with monkeypatch.context() as patch:
        patch.setattr(paging, "swept", fails)
        for _ in range(2):
            assert once(house)["outcome"] == "failed"
            house.pass_time(minutes=6)
    assert once(house, dry_run=True)["report"]["expired"] == 1
    assert once(house)["report"]["expired"] == 1
    assert one.id not in every(house)


def test_the_very_first_run_removes_nothing(house: ServiceHouse) -> None:
    """No other agrees with it yet: what is over goes with the next one."""
    one = stored(house, 1, expires_at=house.time)
    two = stored(house, 2, valid_until=house.time)
    house.pass_time(seconds=5)
    for dry_run in (True, False):
        report = once(house, dry_run)["report"]
        assert (report["expired"], report["gave_way"]) == (0, 0)
    assert {id: one.status for id, one in every(house).items()} == dict.fromkeys(
        (one.id, two.id), Status.ACTIVE
    )
    house.pass_time(days=1)
    done = once(house)["report"]
    assert (done["expired"], done["gave_way"]) == (1, 1)


def test_a_clock_that_runs_ahead_for_a_while_costs_nothing(house: ServiceHouse) -> None:
    """What is over by the clock of one run alone goes with the next one, if it is over then."""
    once(house)
    week = stored(house, 1, expires_at=house.time + timedelta(days=7))
    deadline = stored(house, 2, valid_until=house.time + timedelta(days=3))
    now = house.time
    house.time = now + timedelta(days=365)
    assert once(house)["report"]["expired"] == 0
    house.time = now + timedelta(days=1)
    once(house)
    assert {id: one.status for id, one in every(house).items()} == {
        week.id: Status.ACTIVE, deadline.id: Status.ACTIVE,
    }  # fmt: skip
    house.time = now + timedelta(days=8)
    once(house)
    house.time = now + timedelta(days=9)
    once(house)
    assert {id: one.status for id, one in every(house).items()} == {deadline.id: Status.SUPERSEDED}
