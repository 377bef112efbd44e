"""The keeper sleeps until there is something to do, and does it when nobody waits."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from processes import holds
from service_house import ServiceHouse, door

from vector_memory.daemon import keeper as module
from vector_memory.daemon.app import open_index
from vector_memory.daemon.background import MOST_LEFT, Worker
from vector_memory.daemon.keeper import Keeper
from vector_memory.errors import EmbeddingError, StoreFullError
from vector_memory.journal import schema
from vector_memory.journal.readonly import JOURNAL
from vector_memory.model import Scope, ignore_progress
from vector_memory.service.jobs import registry
from vector_memory.service.upkeep import check_rebuild
from vector_memory.text import analysis


class Rig:
    """A keeper over a service, with a clock for how long nobody has asked anything."""

    def __init__(self, folder: Path) -> None:
        self.house = ServiceHouse(folder)
        self.quiet_s = 100.0
        self.failures: list[str] = []
        self.rounds = 0
        self.keeper = Keeper(
            self.house.ctx,
            open_index,
            lambda: self.quiet_s,
            lambda where, _: self.failures.append(where),
        )
        self.house.ctx.notify = self.keeper.notify

    def close(self) -> None:
        """End the thread and close the stores."""
        self.keeper.drop()
        assert self.keeper.join(time.monotonic() + 30)
        self.house.close()


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    """A running keeper that counts how often it looked."""
    made = Rig(tmp_path)
    followed = module.follow_once

    def counted(*given: object) -> int:
        made.rounds += 1
        return followed(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "follow_once", counted)
    monkeypatch.setattr(module, "TICK_S", 0.01)
    made.house.ctx.global_shelf()
    made.keeper.start()
    yield made
    made.close()


def test_it_sleeps_once_all_is_done(rig: Rig) -> None:
    """Nothing is looked at again until somebody asks something."""
    assert holds(lambda: rig.keeper._is_settled)

    def sleeps() -> bool:
        before = rig.rounds
        # Awake it looks thirty times meanwhile.
        time.sleep(0.3)
        return rig.rounds == before

    assert holds(sleeps)
    seen = rig.rounds
    rig.keeper.stir()
    assert holds(lambda: rig.rounds > seen)


def test_a_request_keeps_it_awake_until_all_is_tidied_up(rig: Rig) -> None:
    """While somebody asks nothing is tidied up, and it does not fall asleep over it."""
    assert holds(lambda: rig.keeper._is_settled)
    rig.quiet_s = 0.0
    rig.keeper.stir()
    assert holds(lambda: not rig.keeper._is_settled)
    seen = rig.rounds
    assert holds(lambda: rig.rounds > seen + 3)
    rig.quiet_s = 100.0
    assert holds(lambda: rig.keeper._is_settled)


def test_the_index_is_opened_for_who_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is opened when nobody asks anything, but who waits for it is asking all the while."""
    monkeypatch.setattr(module, "IMPATIENT_S", 600.0)
    made = Rig(tmp_path)
    made.quiet_s = 0.0
    door(made.house.ctx, "remember", {"text": "The ledger uses WAL mode", "global": True})
    made.keeper.start()
    try:
        assert check_rebuild.wait_until_indexed(made.house.ctx, 60.0, ignore_progress)
    finally:
        made.close()


def test_in_a_long_silence_it_lets_memory_go_once(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And in the next one again."""
    assert holds(lambda: rig.keeper._is_settled)
    released: list[int] = []
    monkeypatch.setattr(module.heap, "let_go", lambda: released.append(1))
    monkeypatch.setattr(module, "IDLE_TICK_S", 0.01)
    for times in (1, 2):
        rig.quiet_s = module.SLEEP_AFTER_S + 1
        rig.keeper.stir()
        assert holds(lambda times=times: len(released) == times)
        seen = rig.rounds
        assert holds(lambda seen=seen: rig.rounds > seen + 3)
        rig.quiet_s = 0.0
        rig.keeper.stir()
        assert holds(lambda: not rig.keeper._is_sleeping)
    assert len(released) == 2


def test_what_is_written_wakes_it(rig: Rig) -> None:
    """A memory is embedded at once, also out of the deepest sleep."""
    assert holds(lambda: rig.keeper._is_settled)
    rig.house.ctx.notify = rig.keeper.notify
    shelf = rig.house.ctx.global_shelf()

    door(rig.house.ctx, "remember", {"text": "The ledger uses WAL mode", "global": True})
    rig.keeper.notify()
    assert holds(
        lambda: shelf.index is not None and shelf.index.reached() == shelf.journal.last_seq()
    )


def test_a_failing_optimise_is_not_tried_every_second(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk each try fails, and each failure would be a line in the log."""
    assert holds(lambda: rig.keeper._is_settled)
    index = rig.house.ctx.global_shelf().index
    assert index is not None

    def full(purge: bool = False) -> None:
        raise StoreFullError("no room", "make some")

    monkeypatch.setattr(index, "needs_optimize", lambda: True)
    monkeypatch.setattr(index, "optimize", full)
    rig.keeper.stir()
    assert holds(lambda: rig.failures)
    seen = rig.rounds
    assert holds(lambda: rig.rounds > seen + 5)
    assert rig.failures == ["optimize"]


def test_tidying_up_is_work(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """A daemon that tidies up is not taken for an idle one."""
    assert holds(lambda: rig.keeper._is_settled)
    index = rig.house.ctx.global_shelf().index
    seen: list[bool] = []
    monkeypatch.setattr(index, "needs_optimize", lambda: not seen)
    monkeypatch.setattr(index, "optimize", lambda purge=False: seen.append(rig.keeper.busy))
    rig.keeper.stir()
    assert holds(lambda: seen)
    assert seen == [True]
    assert holds(lambda: not rig.keeper.busy)


def test_how_long_a_job_takes_can_be_seen(rig: Rig) -> None:
    """The daemon tells by it which thread hangs."""
    assert holds(lambda: rig.keeper._is_settled)
    assert rig.keeper.took_s == 0.0
    go_on = threading.Event()
    worker = Worker("worker", lambda *_: None)
    worker.start()
    worker.put(lambda: go_on.wait(30))
    worker.put(lambda: rig.failures.append("begun after all"))
    assert holds(lambda: worker.took_s > 0.05)
    worker.drop()
    assert not worker.join(time.monotonic() + 0.05)
    go_on.set()
    assert worker.join(time.monotonic() + 30)
    assert (worker.took_s, rig.failures) == (0.0, [])


def test_a_piece_that_hangs_is_left_and_the_rest_goes_on() -> None:
    """However many hang, up to some: each thread is left to what it is at, and what waits is done. What
    was left and ends after all does nothing more."""
    failures: list[str] = []
    worker = Worker("worker", lambda name, error: failures.append(repr(error)), patience_s=0.02)
    worker.start()
    go_on, done = threading.Event(), list[int]()
    for number in range(MOST_LEFT):
        worker.put(lambda: go_on.wait(60))
        worker.put(partial(done.append, number))
        assert holds(worker.relieve)
        assert holds(partial(done.__contains__, number))
    assert worker.took_s > 0.02
    assert not worker.idle
    worker.put(lambda: go_on.wait(60))
    worker.put(lambda: 1 / 0)
    worker.put(lambda: done.append(99))
    assert holds(lambda: worker.took_s > 0.1)
    # No more threads than that are left: the next waits until one ends.
    assert not worker.relieve()
    assert not worker.join(time.monotonic() + 0.01)
    go_on.set()
    assert holds(lambda: done[-1] == 99)
    assert holds(lambda: worker.idle)
    assert (done, failures) == (
        [*range(MOST_LEFT), 99],
        ["ZeroDivisionError('division by zero')"],
    )
    worker.finish()
    assert worker.join(time.monotonic() + 30)


@pytest.mark.parametrize("trouble", ["fails", "hangs"])
def test_a_store_in_trouble_keeps_none_of_the_others(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    """A project's store whose index cannot be opened, or never opens: the others are followed."""
    ctx, go_on = rig.house.ctx, threading.Event()
    monkeypatch.setattr(rig.keeper, "_patience_s", 0.05)
    true = rig.keeper._open_index

    def opened(folder: str, model: str, dim: int) -> Any:
        if "broken" in folder:
            if trouble == "fails":
                raise ValueError("an index nobody can open")
            go_on.wait(60)
        return true(folder, model, dim)

    monkeypatch.setattr(rig.keeper, "_open_index", opened)
    shelves = {}
    for name in ("a", "broken", "c"):
        (tmp_path / name).mkdir()
        door(ctx, "init", {"dir": str(tmp_path / name)})
        shelves[name] = ctx.shelf_of(ctx.place(str(tmp_path / name)))
        door(ctx, "remember", {"text": f"The ledger of {name}", "project": str(tmp_path / name)})

    def level(name: str) -> bool:
        rig.keeper.notify()
        rig.keeper.relieve()
        index = shelves[name].index
        return index is not None and index.reached() == shelves[name].journal.last_seq()

    assert holds(lambda: level("a") and level("c"))
    assert shelves["broken"].index is None
    go_on.set()
    if trouble == "hangs":
        assert holds(lambda: level("broken"))
    else:
        assert "index" in rig.failures


class Missing:
    """A model that cannot be loaded."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> Any:
        self.times += 1
        raise EmbeddingError("There is no model.")


def test_a_model_that_cannot_be_loaded_is_loaded_once_at_a_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words are served without it, and indexing waits for each try."""
    monkeypatch.setattr(module, "TICK_S", 0.01)
    model = Missing()
    house = ServiceHouse(tmp_path, model)
    model.times = 0
    keeper = Keeper(house.ctx, open_index, lambda: 100.0, lambda where, error: None)
    keeper.start()
    assert holds(lambda: keeper._is_settled)
    keeper.drop()
    assert keeper.join(time.monotonic() + 30)
    assert model.times == 1
    house.close()


@pytest.mark.parametrize(
    ("backend", "pauses"),
    [("sentence-transformers", [60, 120, 240, 480, 960, 1920, 3600, 3600]), ("ollama", [60] * 8)],
)
def test_a_model_that_is_on_no_server_is_tried_less_and_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: str, pauses: list[int]
) -> None:
    """Each try may import a lot and ask the network; a server may be back at any time."""
    model = Missing()
    house = ServiceHouse(tmp_path, model)
    house.ctx.settings = replace(house.ctx.settings, embedding_backend=backend)
    now = [0.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    keeper = Keeper(house.ctx, open_index, lambda: 9.0, lambda where, error: None)
    keeper._try_model()
    tried = []
    while len(tried) < len(pauses):
        now[0] += 10
        before = model.times
        keeper._retry_model()
        tried += [now[0]] if model.times > before else []
    assert [after - before for before, after in pairwise([0.0, *tried])] == pauses
    house.close()


def test_an_older_store_is_analysed_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words in other languages of a store that an earlier version wrote, and short words, are found in all
    their forms, by the index too; the rest is left as it is."""
    with monkeypatch.context() as earlier:
        earlier.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:2])
        house = ServiceHouse(tmp_path)
        for text in (
            "Müşteri faturaları PDF olarak gönderilir",
            "We – the team – indent with tabs",
            "The vault holds the keys of deploys",
        ):
            door(house.ctx, "remember", {"text": text, "global": True})
        with sqlite3.connect(Path(house.ctx.home.global_store, JOURNAL)) as raw:
            raw.execute("UPDATE memories SET lexical = 'müşteri faturaları' WHERE seq = 1")
            raw.execute("UPDATE memories SET lexical = 'vault hold kei deploi' WHERE seq = 3")
            before = raw.execute("SELECT lexical FROM memories WHERE seq = 2").fetchone()
        raw.close()
        house.follow()
        house.close()
    house = ServiceHouse(tmp_path)
    shelf = house.ctx.global_shelf()
    asked = analysis.query_terms("müşteriye faturayı ne zaman yolluyoruz?")
    assert [one.seq for one in shelf.journal.matching(asked, Scope(), 5)] == [1]
    keeper = Keeper(house.ctx, open_index, lambda: 9.0, lambda where, error: None)
    keeper._attach_all()
    keeper._load_lance_all()
    assert shelf.index is not None
    # What is found by meaning needs no other words: it is found all the while.
    vectors = dict(
        zip(*shelf.journal.vectors_of([1, 2, 3], shelf.index.model) or ([], []), strict=True)
    )
    for seq, vector in vectors.items():
        assert shelf.index.nearest(vector, Scope(), 1)[0].seq == seq
    assert len(vectors) == 3 and not shelf.index.reached()
    house.follow()
    assert [one.seq for one in shelf.index.begin_matching(asked, Scope(), 5)()] == [1]
    assert [one.seq for one in shelf.index.begin_matching(["key"], Scope(), 5)()] == [3]
    assert not shelf.journal.is_reanalysed
    with sqlite3.connect(Path(house.ctx.home.global_store, JOURNAL)) as raw:
        assert raw.execute("SELECT lexical FROM memories WHERE seq = 2").fetchone() == before
    raw.close()
    house.close()


def test_jobs_that_are_due_run_when_nobody_waits(rig: Rig) -> None:
    """In the keeper's own thread, not while somebody asks, and none before its time."""
    threads = {thread.name for thread in threading.enumerate()}
    ctx = rig.house.ctx
    assert holds(lambda: "ttl-sweep" in ctx.state.jobs())
    assert all(not row.outcome for row in ctx.state.jobs().values())
    rig.quiet_s = 0.0
    rig.house.pass_time(days=8)
    rig.keeper.stir()
    seen = rig.rounds
    assert holds(lambda: rig.rounds > seen + 2)
    assert all(not row.outcome for row in ctx.state.jobs().values())
    rig.quiet_s = 100.0
    rig.keeper.stir()
    due = [name for name, job in registry.JOBS.items() if job.is_on and job.cadence.cron]
    weekly = [name for name in due if name != "monthly-review"]
    assert holds(lambda: all(ctx.state.jobs()[name].ended_at for name in weekly), 60)
    assert {ctx.state.jobs()[name].outcome for name in weekly} <= {"ok", "waits"}
    new = {thread.name for thread in threading.enumerate()} - threads
    # LanceDB brings its own when it is loaded.
    assert not [name for name in new if "lancedb" not in name.lower()]
    assert rig.failures == []
