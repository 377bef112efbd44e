"""What jobs cost: waiting for them, each one's code, and a vault that is read for the first time.

Idle: what the runner adds to a process that has the service's code, and the processor's time of a look while
nothing is due, once a minute. Then every job once on an empty store, with the memory that its code takes.
`--notes N`: a vault of so many notes, read in steps, with a model that costs nothing.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from common import ROOT, options, show

sys.path.insert(0, str(ROOT / "tests"))

from service_house import ServiceHouse

from vector_memory import redact
from vector_memory.daemon import app, verbs
from vector_memory.service.capture import deferred, link_ideas

LOOKS = 100_000
LOADED = (app, verbs, deferred, link_ideas)
"""What a daemon has loaded anyway."""


def own_kb() -> int:
    """Return this process's share of memory, in KB."""
    with open("/proc/self/smaps_rollup", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pss:"))


def idle(house: ServiceHouse) -> dict[str, Any]:
    """Return what waiting costs."""
    before, threads = own_kb(), threading.active_count()
    from vector_memory.service.jobs import runner

    runner.advance(house.ctx)
    added, new = own_kb() - before, threading.active_count() - threads
    started = time.process_time()
    for _ in range(LOOKS):
        runner.advance(house.ctx)
    look_us = (time.process_time() - started) / LOOKS * 1e6
    return {"what": "waiting", "KB": added, "threads": new, "µs a look": round(look_us, 2)}


def each(house: ServiceHouse) -> list[dict[str, Any]]:
    """Return what every job takes once."""
    from vector_memory.service.jobs import registry, runner

    rows = []
    for name in registry.JOBS:
        before, started = own_kb(), time.process_time()
        outcome = runner.run(house.ctx, name, dry_run=False).outcome
        cpu_ms = round((time.process_time() - started) * 1_000, 1)
        rows.append({"what": name, "KB": own_kb() - before, "CPU ms": cpu_ms, "outcome": outcome})
    total = sum(row["KB"] for row in rows)
    return [
        *rows,
        {"what": "all jobs", "KB": total, "CPU ms": round(sum(r["CPU ms"] for r in rows), 1)},
    ]


def vault(house: ServiceHouse, folder: Path, notes: int) -> dict[str, Any]:
    """Return what following a vault takes from the first note to the last, and what a look at it takes then."""
    from vector_memory.model import ignore_progress
    from vector_memory.service.jobs import runner
    from vector_memory.service.transfer import vault as vaults

    for n in range(notes):
        (folder / f"f{n % 100}").mkdir(parents=True, exist_ok=True)
        words = f"# Note {n}\n\nWhat came of heron {n}.\n\n- Heron {n} is fed at {n % 24}:00.\n"
        (folder / f"f{n % 100}" / f"note{n}.md").write_text(words, encoding="utf-8")
    house.ctx.settings = replace(house.ctx.settings, vault=str(folder))
    runner.due_jobs(house.ctx)
    house.ctx.state.hasten_job(vaults.JOB, house.ctx.now())
    runner.forget_due_times(house.ctx)
    started, steps = time.process_time(), 0
    while runner.advance(house.ctx):
        steps += 1
    took_s = time.process_time() - started
    started = time.process_time()
    vaults.follow(house.ctx, ignore_progress)
    again_ms = (time.process_time() - started) * 1_000
    return {
        "what": f"vault of {notes:,}", "steps": steps, "CPU s": round(took_s, 1),
        "CPU ms when unchanged": round(again_ms, 1),
    }  # fmt: skip


def main() -> None:
    """Measure, and print the figures."""
    parser = options(__doc__ or "")
    parser.add_argument("--notes", type=int, default=0, help="notes of a vault")
    chosen = parser.parse_args()
    redact.warm()
    with tempfile.TemporaryDirectory() as scratch:
        house = ServiceHouse(Path(scratch))
        house.ctx.global_shelf()
        house.ctx.state.jobs()
        rows = [idle(house), *each(house)]
        if chosen.notes:
            rows.append(vault(house, Path(scratch) / "vault", chosen.notes))
        house.close()
    show("jobs", rows, chosen.json)


if __name__ == "__main__":
    main()
