"""Every write fails once: the first, the second, and so on. Each time there is a clean error, what was
acknowledged is there, nothing half written shows, and doing it again completes it."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import fault_rigs as faults
import numpy as np
import pytest
from fault_rigs import Failing, Rig
from journal_samples import START, memory
from service_house import ServiceHouse, door, hook_question

from vector_memory import redact
from vector_memory.client import spool
from vector_memory.errors import StoreFullError, VectorMemoryError
from vector_memory.journal import connection as connections
from vector_memory.journal.journal import Journal
from vector_memory.journal.state import State
from vector_memory.model import Link, Relation, Scope, Status, Tier
from vector_memory.service.capture import archives
from vector_memory.service.inject import session_start
from vector_memory.service.jobs import paging, runner
from vector_memory.store.lance_table import LanceTable
from vector_memory.system.paths import Home

MOST = 200
READING = ("SELECT", "PRAGMA", "BEGIN", "ROLLBACK")


def full() -> Exception:
    return OSError(errno.ENOSPC, "No space left on device")


@contextmanager
def statements_failing(n: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Failing]:
    """Let the n-th statement that writes fail, commits among them."""
    failing = Failing(n, lambda: sqlite3.OperationalError("database or disk is full"))

    class Connection(sqlite3.Connection):
        def execute(self, sql: str, *values: Any) -> Any:  # type: ignore[override]
            if not sql.lstrip().upper().startswith(READING):
                failing.step()
            return super().execute(sql, *values)

        def executemany(self, sql: str, rows: Any) -> Any:  # type: ignore[override]
            failing.step()
            return super().executemany(sql, rows)

    true = sqlite3.connect

    def connect(*names: Any, **more: Any) -> Any:
        return true(*names, **{**more, "factory": Connection})

    with monkeypatch.context() as patch:
        patch.setattr(connections.sqlite3, "connect", connect)
        yield failing
        failing.left = MOST * 100


@contextmanager
def calls_failing(n: int, monkeypatch: pytest.MonkeyPatch, *names: str) -> Iterator[Failing]:
    """Let the n-th of the system's calls of these names fail."""
    failing = Failing(n, full)
    with monkeypatch.context() as patch:
        for name in names:
            patch.setattr(os, name, failing.around(getattr(os, name)))
        yield failing


# -- the journal ------------------------------------------------------------------------------------


def contents(folder: Path) -> dict[str, Any]:
    """Return what a journal holds, without its sequence numbers, which a retry may skip."""
    journal = Journal.open(str(folder))
    try:
        assert journal.check(read_data=True) == []
        every = journal.iter_memories(Scope(), statuses=tuple(Status))
        found: dict[str, Any] = {
            one.id: (
                str(one.text),
                one.kind,
                one.status,
                one.uses,
                one.superseded_by,
                one.tier,
                one.applied,
            )
            for one in every
        }
        links = journal.links_of(list(found))
        return {**found, "links": sorted((one.from_id, one.to_id) for one in links)}
    finally:
        journal.close()


def vectors(journal: Journal) -> None:
    hashes = [key for _, _, key in journal.changes(0, 9)]
    journal.put_vectors("m@1", hashes, np.eye(len(hashes), dtype=np.float32))


ACTS: dict[str, Callable[[Journal], object]] = {
    "add": lambda j: j.add([memory(n) for n in range(10, 13)]),
    "update": lambda j: j.update(replace(j.get("m0001"), text=redact.clean("quite new").text)),
    "forget": lambda j: j.forget(["m0001", "m0002"]),
    "purge": lambda j: j.purge(["m0001", "m0002"]),
    "supersede": lambda j: j.supersede("m0001", "m0002", START),
    "write": lambda j: j.write([memory(10)], [replace(j.get("m0003"), kind="todo")], ["m0001"]),
    "link": lambda j: j.link_all([Link("m0001", "m0002", Relation.ANSWERS)]),
    "touch": lambda j: j.touch({"m0001": 1, "m0002": 2}, START),
    "apply": lambda j: j.apply(["m0001", "m0002"], "s", START),
    "tiers": lambda j: j.move_to_tiers({"m0001": Tier.COLD, "m0002": Tier.WARM}),
    "rebuild": lambda j: j.rebuild_lexical(),
    "vectors": vectors,
    "mend": lambda j: j.mend("for a test"),
}


@pytest.mark.parametrize("name", list(ACTS))
def test_a_journals_transactions_are_whole_or_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Whichever statement fails: StoreFullError, and the journal holds what it held before, or, where
    only tidying up failed, all of what was to be."""
    base = tmp_path / "base"
    journal = Journal.open(str(base))
    journal.add([memory(n) for n in range(5)])
    journal.link_all([Link("m0003", "m0004", Relation.ANSWERS)])
    journal.close()
    before = contents(base)
    done = Path(shutil.copytree(base, tmp_path / "done"))
    journal = Journal.open(str(done))
    ACTS[name](journal)
    journal.close()
    after = contents(done)
    for n in range(1, MOST):
        folder = Path(shutil.copytree(base, tmp_path / str(n)))
        with statements_failing(n, monkeypatch) as failing:
            journal = Journal.open(str(folder))
            raised = None
            try:
                ACTS[name](journal)
            except VectorMemoryError as error:
                raised = error
            fired = failing.fired
            failing.left = MOST * 100
            with suppress(VectorMemoryError):
                journal.close()
        if not fired:
            assert raised is None
            assert contents(folder) == after
            assert n > 1
            break
        assert isinstance(raised, StoreFullError)
        assert raised.hint
        found = contents(folder)
        assert found in (before, after)
        again = Journal.open(str(folder))
        with suppress(VectorMemoryError):
            ACTS[name](again)
        again.close()
        assert contents(folder) == after or name in ("touch", "purge", "write")
        shutil.rmtree(folder)
    else:
        pytest.fail("it never ended")


STATE_ACTS: dict[str, Callable[[State], object]] = {
    "cursors": lambda s: s.set_cursors({"/a": {"at": 1}, "/b": {"at": 2}}, [("topics", "s1")]),
    "trust": lambda s: s.trust("/store"),
    "audit": lambda s: s.audit("remember", "user", ["m1"], {}),
    "flush": lambda s: (s.count("a"), s.flush()),
}


@pytest.mark.parametrize("name", list(STATE_ACTS))
def test_the_states_transactions_are_whole_or_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Both cursors and what is due with them, or none of it; the chain of the audit log holds."""

    def told(path: str) -> tuple[Any, ...]:
        state = State.open(path)
        try:
            assert state.check(read_data=True) == []
            assert not state.audit_break()
            counted = state.counters()
            return state.cursors(), state.trusted_folders(), state.due_keys("topics"), counted
        finally:
            state.close()

    fired = True
    for n in range(1, MOST):
        path = str(tmp_path / f"{n}.db")
        State.open(path).close()
        before = told(path)
        with statements_failing(MOST * 100, monkeypatch) as failing:
            state = State.open(path)
            failing.left = n
            try:
                STATE_ACTS[name](state)
                assert not failing.fired
            except StoreFullError:
                assert failing.fired
            fired = failing.fired
            failing.left = MOST * 100
            if fired and name != "flush":
                assert told(path) == before
            if fired:
                STATE_ACTS[name](state)
            state.close()
        if not fired:
            assert n > 1
            break
    assert not fired


def test_an_answer_does_not_wait_for_what_was_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be noted on a full disk is known as long as the daemon lives."""
    with statements_failing(MOST * 100, monkeypatch) as failing:
        state = State.open(str(tmp_path / "state.db"))
        failing.left = 1
        state.add_shown("s1", ["m1", "m2"], START)
        assert failing.fired
        assert state.shown_ids("s1") == {"m1", "m2"}
        failing.left = 1
        state.remember_session("s1", "p", "/p", START)
        failing.left = MOST * 100
        state.add_shown("s1", ["m3"], START)
        assert state.shown_ids("s1") == {"m1", "m2", "m3"}
        state.clear_shown("s1")
        assert state.shown_ids("s1") == set()
        state.close()


# -- the index --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a level index."""
    folder = tmp_path_factory.mktemp("indexed")
    rig = Rig(folder)
    rig.open_index()
    rig.store(5)
    rig.follow()
    rig.close()
    return folder


def test_a_batch_that_fails_is_applied_again(
    indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever of LanceDB's steps fails: what was reached stands, and the next round completes it, in
    the same process as well as in the next one."""
    fired = 0
    for n in range(1, MOST):
        folder = Path(shutil.copytree(indexed, tmp_path / str(n)))
        rig = Rig(folder)
        rig.open_index()
        rig.acknowledged = [f"m{one:04}" for one in range(5)]
        rig.store(3)
        failing = Failing(n, full)
        true = LanceTable.run

        def run(self: LanceTable, work: Any, failing: Failing = failing, true: Any = true) -> Any:
            try:
                failing.step()
            except BaseException:
                work.close()
                raise
            return true(self, work)

        with monkeypatch.context() as patch:
            patch.setattr(LanceTable, "run", run)
            reached = rig.shelf.index.reached() if rig.shelf.index else 0
            try:
                rig.follow()
            except StoreFullError as error:
                assert error.hint
                assert rig.shelf.index is not None
                assert rig.shelf.index.reached() == reached
        if not failing.fired:
            rig.close()
            break
        fired += 1
        if n % 2:
            rig.follow()
            assert faults.problems(rig.shelf, rig.acknowledged) == []
            rig.close()
        else:
            rig.close()
            assert faults.missing(folder, rig.acknowledged) == []
        shutil.rmtree(folder)
    assert fired >= 2


@pytest.mark.parametrize("act", ["apply", "optimize", "save"])
def test_files_of_an_index_that_cannot_be_written(
    indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    """Marks, lists and matrix files: whichever call fails, nothing is lost, and it is made up for."""
    fired = 0
    for n in range(1, MOST, 2 if act == "save" else 5):
        folder = Path(shutil.copytree(indexed, tmp_path / str(n)))
        rig = Rig(folder)
        rig.open_index()
        rig.acknowledged = [f"m{one:04}" for one in range(5)]
        rig.store(2)
        if act != "apply":
            rig.follow()
        index = rig.shelf.index
        assert index is not None
        with calls_failing(n, monkeypatch, "open", "fsync", "replace") as failing:
            try:
                if act == "apply":
                    rig.follow()
                elif act == "optimize":
                    index.optimize()
                else:
                    index._save_matrix()
            except VectorMemoryError as error:
                assert isinstance(error, StoreFullError)
        if not failing.fired:
            rig.close()
            break
        fired += 1
        rig.follow()
        assert faults.problems(rig.shelf, rig.acknowledged) == []
        rig.close()
        assert faults.missing(folder, rig.acknowledged) == []
        shutil.rmtree(folder)
    assert fired >= 2


# -- small files ------------------------------------------------------------------------------------


@pytest.fixture
def house(tmp_path: Path) -> Iterator[ServiceHouse]:
    made = ServiceHouse(tmp_path)
    door(made.ctx, "remember", {"text": "Deploys go through staging", "global": True})
    yield made
    made.close()


def write_archive(house: ServiceHouse, n: int) -> str:
    class Told:
        text = f"said {n} " * 50

        class first:
            at = START

    return archives.archive(house.ctx.home, "ledger", "s1", "A session", [Told()])  # type: ignore[list-item]


def write_snapshot(house: ServiceHouse, n: int) -> str:
    folder = os.path.join(house.ctx.home.root, "ledger")
    os.makedirs(folder, exist_ok=True)
    door(house.ctx, "remember", {"text": f"Fact {n} stands on its own", "project": folder})
    session_start.save_snapshot(house.ctx, hook_question(house.ctx, "s", folder), folder)
    return house.ctx.home.snapshot(folder)


SMALL: dict[str, Callable[[ServiceHouse, int], str]] = {
    "archive": write_archive,
    "snapshot": write_snapshot,
}


@pytest.mark.parametrize("name", list(SMALL))
def test_small_files_are_whole_or_as_they_were(
    house: ServiceHouse, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """An archive or a snapshot that cannot be written leaves the one before, and no rest."""
    path = Path(SMALL[name](house, 0))
    for n in range(1, MOST):
        before = path.read_text()
        with calls_failing(n, monkeypatch, "open", "fsync", "replace") as failing:
            try:
                SMALL[name](house, n)
            except (OSError, VectorMemoryError):
                assert failing.fired
        now = path.read_text()
        assert [one.name for one in path.parent.iterdir()] == [path.name]
        if not failing.fired:
            assert now != before
            assert n > 1
            break
        assert now == before or "said" in now or json.loads(now)
    else:
        pytest.fail("it never ended")


@pytest.mark.parametrize("event", ["Stop", "SessionEnd"])
def test_a_spool_file_is_whole_or_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, event: str
) -> None:
    """No half event, whichever call fails; also where a write takes a part only."""
    home = Home(str(tmp_path / "data")).make()
    data = {"session_id": "s1", "transcript_path": "/t/s1.jsonl"}
    for n in range(1, MOST):
        names = ("open", "write", "fsync", "replace")
        with calls_failing(n, monkeypatch, *names) as failing, suppress(OSError):
            spool.write_spool(home, event, data, "/p")
        if not failing.fired:
            break
        assert os.listdir(home.spool) == []
    assert n > 4
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, content: write(fd, content[:7]))
    spool.write_spool(home, event, data, "/p")
    monkeypatch.undo()
    entries = [entry for _, entry in spool.read_spool(home)]
    assert [entry["session"] for entry in entries] == ["s1", "s1"]


# -- jobs -------------------------------------------------------------------------------------------


def test_a_job_whose_any_write_fails_is_done_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has expired is gone then and stands in the audit log once; nothing else is."""
    first = ServiceHouse(tmp_path / "first")
    journal = first.ctx.global_shelf().journal
    ends = first.time
    journal.add([replace(memory(n), expires_at=ends if n < 3 else None) for n in range(5)])
    # What is over goes when two runs agree on it: this is the one before.
    assert runner.run(first.ctx, "ttl-sweep", dry_run=False).outcome == "ok"
    first.close()
    monkeypatch.setattr(paging, "AT_ONCE", 2)
    fired = 0
    for n in range(1, MOST):
        folder = tmp_path / str(n)
        shutil.copytree(tmp_path / "first", folder)
        with statements_failing(n, monkeypatch) as failing:
            with suppress(VectorMemoryError):
                house = ServiceHouse(folder)
                with suppress(VectorMemoryError):
                    runner.run(house.ctx, "ttl-sweep", dry_run=False)
                house.close()
            came = failing.fired
        house = ServiceHouse(folder)
        assert runner.run(house.ctx, "ttl-sweep", dry_run=False).outcome == "ok"
        there = house.ctx.global_shelf().journal.iter_memories(Scope(), statuses=tuple(Status))
        assert sorted(one.id for one in there) == ["m0003", "m0004"]
        entries = house.ctx.state.audit_entries(99, action="expire")
        assert sorted(id for entry in entries for id in entry.ids) == ["m0000", "m0001", "m0002"]
        assert not house.ctx.state.audit_break()
        house.close()
        shutil.rmtree(folder)
        if not came:
            break
        fired += 1
    else:
        pytest.fail("it never ended")
    assert fired >= 10
