"""What the daemon costs: its start, its memory, an acknowledgement, the disk, and idling.

Goals: first answer by words 100 ms after its start, by meaning 350 ms, full 1.5 s; at most 330 MB at
10,000 memories and 480 MB at 100,000; at most 5 MB of disk for 1,000 memories.
"""

from __future__ import annotations

import os
import random
import subprocess
import time
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

from common import TIDY_S, Bench, bench, options, percentile, show, text

from vector_memory import redact
from vector_memory.journal.journal import Journal
from vector_memory.model import Memory


def fdatasync_ms(folder: str, runs: int = 200) -> float:
    """Return the median milliseconds of appending a page to a file and syncing it."""
    fd = os.open(os.path.join(folder, "sync-probe"), os.O_RDWR | os.O_CREAT, 0o600)
    taken = []
    for _ in range(runs):
        os.write(fd, b"x" * 4096)
        started = time.perf_counter()
        os.fdatasync(fd) if hasattr(os, "fdatasync") else os.fsync(fd)
        taken.append((time.perf_counter() - started) * 1000)
    os.close(fd)
    return percentile(taken, 0.5)


def start_times(made: Bench, runs: int = 7) -> dict[str, Any]:
    """Start the daemon several times; return the medians from the spawn to each stage."""
    found: dict[str, list[float]] = {"lexical": [], "vectors": [], "full": []}
    for _ in range(runs):
        made.daemon.stop()
        started = time.perf_counter()
        made.daemon.ask("status", {})
        outside = time.perf_counter() - started
        while "full" not in (status := made.daemon.ask("status", {}))["stages_s"]:
            time.sleep(0.05)
        stages = status["stages_s"]
        # What passes before the daemon's own clock starts is the interpreter's start.
        before = max(0.0, outside - stages["lexical"])
        for name, values in found.items():
            values.append((stages[name] + before) * 1000)
    return {f"{name} ms": round(percentile(values, 0.5)) for name, values in found.items()}


def idle_share(pid: int, seconds: float = 10.0) -> float:
    """Return the share of one processor that an idle daemon takes, in percent (Linux)."""

    def ticks() -> int:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    before = ticks()
    time.sleep(seconds)
    return 100 * (ticks() - before) / os.sysconf("SC_CLK_TCK") / seconds


def disk_mb(folder: str) -> float:
    """Return what a folder takes on the disk, in MB."""
    done = subprocess.run(["du", "-sk", folder], capture_output=True, text=True, check=True)
    return int(done.stdout.split()[0]) * 1024 / 1e6


def acknowledgements(made: Bench, runs: int = 300) -> dict[str, Any]:
    """Return an acknowledgement's milliseconds, and that in multiples of one sync to the disk: of
    the journal alone, and of `remember` over the socket, which embeds and compares first."""
    chance = random.Random(11)
    sync = fdatasync_ms(made.root)
    journal = Journal.open(os.path.join(made.root, "alone"))
    draft = Memory("", redact.clean("x").text, datetime.now(timezone.utc))
    alone, asked = [], []
    for number in range(runs):
        body = redact.clean(text(number, chance)).text
        started = time.perf_counter()
        journal.add([replace(draft, id=f"{number:032x}", text=body)])
        alone.append((time.perf_counter() - started) * 1000)
    journal.close()
    for number in range(runs):
        request = {"text": text(10_000_000 + number, chance), "project": made.project}
        started = time.perf_counter()
        made.daemon.ask("remember", request)
        asked.append((time.perf_counter() - started) * 1000)
    return {
        "sync ms": round(sync, 2),
        "journal p50 ms": round(percentile(alone, 0.5), 2),
        "journal p99 ms": round(percentile(alone, 0.99), 2),
        "journal p50 × sync": round(percentile(alone, 0.5) / sync, 1),
        "journal p99 × sync": round(percentile(alone, 0.99) / sync, 1),
        "remember p50 ms": round(percentile(asked, 0.5), 1),
        "remember p99 ms": round(percentile(asked, 0.99), 1),
    }


def measure(made: Bench, size: int) -> dict[str, Any]:
    """Return the figures at one size."""
    prompts = made.fill(size)
    made.settle()
    store = made.home.global_store
    disk = {name: disk_mb(os.path.join(store, name)) for name in ("lance", "matrix")}
    row: dict[str, Any] = {"memories": size, **start_times(made)}
    pid = made.daemon.ask("status", {})["pid"]
    row["idle MB"] = made.daemon.ask("status", {})["rss_mb"]
    for number, prompt in enumerate((prompts * 2)[:200]):
        made.hook("user_prompt_submit", session_id=f"m{number}", prompt=prompt)
    row["MB after 200 prompts"] = made.daemon.ask("status", {})["rss_mb"]
    # What the prompts left to do, counting uses for one, is done in the first seconds.
    time.sleep(TIDY_S)
    row["idle %"] = round(idle_share(pid), 2) if os.path.exists("/proc") else ""
    made.daemon.stop()
    row["disk MB / 1,000"] = round(disk_mb(store) * 1000 / size, 2)
    row["of it lance, matrix"] = ", ".join(f"{mb * 1000 / size:.2f}" for mb in disk.values())
    made.daemon.start()
    return row


def main() -> None:
    """Measure at every size."""
    parser = options(__doc__ or "")
    parser.add_argument("--sizes", default="1000,10000,100000")
    asked = parser.parse_args()
    rows, writes = [], []
    for size in (int(one) for one in asked.sizes.split(",")):
        with bench(asked.home) as made:
            rows.append(measure(made, size))
            if size <= 10_000:
                writes.append({"memories": size, **acknowledgements(made)})
    show("The daemon", rows, asked.json)
    show("Acknowledgements", writes, asked.json)


if __name__ == "__main__":
    main()
