"""Does anything get lost? Kills, power cuts, damaged files, and many clients at once.

Bars: nothing acknowledged lost or doubled in 500 kills, answering again within 2 s; nothing lost in 200
power cuts; damage noticed, set aside and mended, 20 of each kind; 8 clients with 1,000 memories each at
once, none lost, acknowledged within 60 ms at p99. Default: a few of each; --full: all of them.

Power cuts are simulated: what was not synced is emptied, cut, zeroed or gone (see tests/fault_rigs.py).
"""

from __future__ import annotations

import contextlib
import json
import logging
import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from common import ROOT, Bench, bench, options, percentile, sentence, show

sys.path.insert(0, str(ROOT / "tests"))

import fault_rigs as faults

from vector_memory.client.link import DaemonClient
from vector_memory.errors import VectorMemoryError
from vector_memory.journal.journal import Journal
from vector_memory.model import Scope, Status
from vector_memory.store import durable
from vector_memory.system.paths import Home

WRITERS = 3
DOING = ("storing", "optimising", "migrating")


# -- kills ------------------------------------------------------------------------------------------


class Writers:
    """Threads that store one memory after the other, each again until it is acknowledged."""

    def __init__(self, daemon: DaemonClient) -> None:
        self.daemon = daemon
        self.acknowledged: dict[str, str] = {}
        self.asked = 0
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._run, args=(n,)) for n in range(WRITERS)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self, number: int) -> None:
        chance = random.Random(number)
        texts: dict[int, str] = {}
        n = 0
        while not self._stop.is_set():
            token = f"token{number}x{n}"
            text = texts.setdefault(n, f"{token}: {sentence(chance)}")
            request = {"text": text, "global": True, "wait": n % 8 == 0}
            try:
                done = self.daemon.ask("remember", request, timeout_s=20, start=False)
            except (VectorMemoryError, RuntimeError):
                # No answer: it may or may not be stored. The same again must not double it.
                time.sleep(0.02)
                continue
            with self._lock:
                self.acknowledged[token] = done["id"]
            n += 1


def kills(made: Bench, count: int) -> dict[str, Any]:
    """Kill the daemon at random moments while it stores, and meanwhile rebuilds or embeds anew."""
    chance = random.Random(3)
    writers = Writers(made.daemon)
    back: list[float] = []
    made.daemon.start()
    writers.start()
    for number in range(count):
        doing = DOING[number % len(DOING)]
        pid = made.daemon.start()["pid"]
        work = threading.Thread(target=_quietly, args=(made.daemon, doing))
        if doing != "storing":
            work.start()
        time.sleep(chance.uniform(0.0, 1.2))
        os.kill(pid, signal.SIGKILL)
        started = time.perf_counter()
        if doing == "storing" and number % 9 == 0:
            _forget_vectors(made.home)
        _ask_until_answered(made.daemon)
        back.append(time.perf_counter() - started)
        if work.ident:
            work.join()
        if number % 50 == 49:
            sys.stderr.write(f"{number + 1} kills, {len(writers.acknowledged)} acknowledged\n")
    writers.stop()
    made.daemon.start()
    for _, _ in made.daemon.stream("wait", {"timeout_s": 1_800}, 1_800):
        pass
    checked = dict(list(made.daemon.stream("check", {"read_data": True}, 600))[-1][1])
    made.daemon.stop()
    lost, twice = _compare(made.home, writers.acknowledged)
    return {
        "kills": count,
        "acknowledged": len(writers.acknowledged),
        "lost": lost,
        "doubled": twice,
        "check": "ok" if checked["ok"] else json.dumps(checked["problems"])[:200],
        "again p50 ms": round(1000 * percentile(back, 0.5)),
        "again p99 ms": round(1000 * percentile(back, 0.99)),
        "again max ms": round(1000 * max(back)),
    }


def _quietly(daemon: DaemonClient, doing: str) -> None:
    verb = "rebuild" if doing == "optimising" else "migrate"
    try:
        for _, _ in daemon.stream(verb, {}, 60, start=False):
            pass
    except (VectorMemoryError, RuntimeError):
        return


def _ask_until_answered(daemon: DaemonClient) -> None:
    while True:
        try:
            daemon.ask("recall", {"query": "token0x0 ledger", "global": True, "k": 1})
            return
        except VectorMemoryError:
            time.sleep(0.01)


def _forget_vectors(home: Home) -> None:
    """Make some memories look like those of another model, so that there is something to migrate."""
    raw = sqlite3.connect(os.path.join(home.global_store, "journal.db"), timeout=10)
    with raw:
        raw.execute("DELETE FROM vectors WHERE rowid IN (SELECT rowid FROM vectors LIMIT 200)")
        raw.execute(
            "UPDATE memories SET model = 0 WHERE hash NOT IN (SELECT hash FROM vectors) AND model != 0"
        )
    raw.close()


def _compare(home: Home, acknowledged: dict[str, str]) -> tuple[int, int]:
    """Return how many acknowledged memories are not there, and how many texts are there twice."""
    journal = Journal.open(home.global_store)
    ids: set[str] = set()
    tokens: dict[str, int] = {}
    for one in journal.iter_memories(Scope(), statuses=tuple(Status)):
        ids.add(one.id)
        token = one.text.partition(":")[0]
        tokens[token] = tokens.get(token, 0) + 1
    journal.close()
    lost = sum(id not in ids for id in acknowledged.values())
    return lost, sum(count > 1 for count in tokens.values())


# -- power cuts -------------------------------------------------------------------------------------


def power(count: int) -> dict[str, Any]:
    """Open what the disk may hold after the power went, at many moments of a store's life."""
    chance = random.Random(4)
    states = wrong = lost = 0
    said: list[str] = []
    set_aside = 0
    while states < count:
        root = Path(tempfile.mkdtemp(prefix="vector-memory-power-"))
        store = root / "store"
        rig = faults.Rig(store)
        most = min(20, count - states)
        acknowledged = rig.acknowledged
        cuts = faults.Cuts(store, root, chance, 0.05, most, lambda known=acknowledged: known)
        with cuts.watching():
            rig.open_index()
            for _ in range(12):
                rig.store(chance.randrange(1, 12))
                rig.follow()
                if chance.random() < 0.3 and rig.shelf.index is not None:
                    rig.shelf.index.optimize()
        rig.close()
        for state, known in cuts.states:
            found = faults.missing(state, known, other=True)
            lost += sum(one.endswith("is lost") for one in found)
            wrong += bool(found)
            said += found[:1]
            set_aside += bool(list(state.glob("*.damaged-*")))
            states += 1
        shutil.rmtree(root)
    row = {"states": states, "lost": lost, "wrong": wrong, "index set aside": set_aside}
    return {**row, **({"first": said[0]} if said else {})}


# -- damage -----------------------------------------------------------------------------------------


def damage(times: int) -> list[dict[str, Any]]:
    """Damage each part of a store in each way, open and check it, and compare what is there then."""
    root = Path(tempfile.mkdtemp(prefix="vector-memory-damage-"))
    rig = faults.Rig(root / "whole")
    rig.open_index()
    rig.store(400)
    rig.follow()
    assert rig.shelf.index is not None
    rig.shelf.index.purge(rig.shelf.journal.living_seqs())
    rig.store(40)
    rig.follow()
    rig.close()
    rows = []
    for part in (*faults.PARTS, "journal page"):
        damages = faults.PAGE_DAMAGES if part == "journal page" else faults.DAMAGES
        for kind, do in damages.items():
            row: dict[str, Any] = {"part": part, "damage": kind, "times": times, "noticed": 0}
            row |= {"set aside": 0, "wrong after": 0, "lost": 0, "told": 0, "harmless": 0}
            for n in range(times):
                copy = Path(shutil.copytree(root / "whole", root / "copy"))
                chance = random.Random(f"{part} {kind} {n}")
                paths = faults.PARTS[part](copy) if part in faults.PARTS else [copy / "journal.db"]
                do(chance.choice(sorted(paths)), chance)
                found = faults.outcome(copy, rig.acknowledged)
                row["noticed"] += bool(found.noticed)
                row["set aside"] += found.aside
                row["wrong after"] += bool(found.wrong)
                row["lost"] += found.lost
                row["told"] += found.told
                row["harmless"] += not found.noticed and not found.wrong and not found.lost
                shutil.rmtree(copy)
            rows.append(row)
    shutil.rmtree(root)
    return rows


# -- many clients -----------------------------------------------------------------------------------


def _client(root: str, number: int, count: int, wait: bool, results: Any) -> None:
    daemon = DaemonClient(Home(root))
    chance = random.Random(100 + number)
    taken, ids = [], []
    for n in range(count):
        request = {"text": f"client{number}x{n}: {sentence(chance)}", "global": True, "wait": wait}
        started = time.perf_counter()
        done = daemon.ask("remember", request)
        taken.append((time.perf_counter() - started) * 1000)
        ids.append(done["id"])
    results.put((taken, ids))


def clients(made: Bench, processes: int, count: int, wait: bool) -> dict[str, Any]:
    """Store from many processes at once."""
    made.settle(60)
    results: Any = multiprocessing.Queue()
    started = time.perf_counter()
    running = [
        multiprocessing.Process(target=_client, args=(made.home.root, n, count, wait, results))
        for n in range(processes)
    ]
    for one in running:
        one.start()
    answers = [results.get() for _ in running]
    for one in running:
        one.join()
    seconds = time.perf_counter() - started
    taken = [ms for times, _ in answers for ms in times]
    ids = [id for _, known in answers for id in known]
    made.daemon.stop()
    lost, twice = _compare(made.home, {str(n): id for n, id in enumerate(ids)})
    return {
        "clients": processes,
        "memories": len(ids),
        "waits for its place": wait,
        "lost": lost,
        "doubled": twice,
        "ack p50 ms": round(percentile(taken, 0.5), 1),
        "ack p99 ms": round(percentile(taken, 0.99), 1),
        "ack max ms": round(max(taken), 1),
        "a second": round(len(ids) / seconds),
    }


# -- what it costs ----------------------------------------------------------------------------------


def costs(batches: int) -> list[dict[str, Any]]:
    """Return what a batch of 512 rows takes in the index, synced and listed, and without."""
    root = Path(tempfile.mkdtemp(prefix="vector-memory-costs-"))
    true = durable.WriteGuard.writing
    rows = []
    for name, writing in (("synced", true), ("not synced", lambda guard: contextlib.nullcontext())):
        rig = faults.Rig(root / name)
        rig.open_index()
        durable.WriteGuard.writing = writing  # type: ignore[method-assign,assignment]
        taken = []
        for _ in range(batches):
            rig.store(512)
            started = time.perf_counter()
            rig.follow()
            taken.append((time.perf_counter() - started) * 1000)
        durable.WriteGuard.writing = true  # type: ignore[method-assign]
        rows.append({"batch of 512": name, "p50 ms": round(percentile(taken, 0.5), 1)})
        rig.close()
    shutil.rmtree(root)
    return rows


def main() -> None:
    """Run all of it, or what is named."""
    parser = options(__doc__ or "")
    parser.add_argument("--full", action="store_true", help="the whole numbers: about 40 minutes")
    parser.add_argument("--only", choices=("kills", "power", "damage", "costs", "clients"))
    asked = parser.parse_args()
    # What is set aside is counted here.
    logging.disable(logging.CRITICAL)

    def wanted(name: str) -> bool:
        return asked.only in (None, name)

    if wanted("kills"):
        with bench(asked.home) as made:
            show("Kills", [kills(made, 500 if asked.full else 9)], asked.json)
    if wanted("power"):
        show("Power cuts", [power(200 if asked.full else 10)], asked.json)
    if wanted("damage"):
        show("Damage", damage(20 if asked.full else 1), asked.json)
    if wanted("costs"):
        show("What syncing costs", costs(20 if asked.full else 4), asked.json)
    if wanted("clients"):
        rows = []
        for wait, count in ((False, 1_000 if asked.full else 50), (True, 50 if asked.full else 10)):
            with bench(asked.home) as made:
                rows.append(clients(made, 8, count, wait))
        show("Clients at once", rows, asked.json)


if __name__ == "__main__":
    main()
