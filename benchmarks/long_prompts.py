"""Is a long prompt answered in time? Prompts of several lengths through the real hook, at 10,000 memories and with
other work on the processors, where every prompt has something to be told: how many are.

A hook waits 130 ms for the daemon and then answers by words alone, from the journal: that is what `late`
counts. `spoke` counts both.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from typing import Any

from common import Bench, bench, options, percentile, show

LENGTHS = (60, 400, 2_000, 8_000)
FILLER = "Beside that, look at what the other parts of the service do with it, one after another. "


def busy(until: float) -> None:
    """Keep one processor busy."""
    while time.monotonic() < until:
        sum(range(10_000))


def late(made: Bench) -> int:
    """Return how many answers the daemon finished after their hooks had gone."""
    return int(made.daemon.ask("doctor", {})["counters"].get("answers_too_late", 0))


def row(made: Bench, prompts: list[str], length: int, runs: int) -> dict[str, Any]:
    """Return how prompts of a length are answered."""
    taken, spoke = [], 0
    before = late(made)
    for number in range(runs):
        text = (prompts[number % len(prompts)] + " " + FILLER * (length // len(FILLER) + 1))[
            :length
        ]
        session = f"{length}-{number}"
        ms, printed = made.hook("user_prompt_submit", session_id=session, prompt=text)
        taken.append(ms)
        spoke += bool(printed)
    return {
        "characters": length,
        "spoke": f"{spoke}/{runs}",
        "late": f"{late(made) - before}/{runs}",
        "p50 ms": round(percentile(taken, 0.5), 1),
        "p95 ms": round(percentile(taken, 0.95), 1),
    }


def main() -> None:
    """Measure once."""
    parser = options(__doc__ or "")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--load", type=int, default=2, help="processes that do nothing but work")
    asked = parser.parse_args()
    with bench(asked.home) as made:
        with open(made.home.config, "w", encoding="utf-8") as file:
            json.dump({"threshold": 0.0}, file)
        prompts = made.fill(10_000)
        made.settle()
        until = time.monotonic() + asked.runs * len(LENGTHS) * 0.3
        workers = [multiprocessing.Process(target=busy, args=(until,)) for _ in range(asked.load)]
        for worker in workers:
            worker.start()
        rows = [row(made, prompts, length, asked.runs) for length in LENGTHS]
        for worker in workers:
            worker.terminate()
            worker.join()
    title = f"Prompts beside {asked.load} busy processes on {os.cpu_count()} processors"
    show(title, rows, asked.json)


if __name__ == "__main__":
    main()
