"""How long many new texts take: to be found by words, to have their vectors, and what prompts feel
meanwhile. Goals for 20,000 texts: words in 5 s, vectors in 5 minutes.
"""

from __future__ import annotations

import json
import os
import random
import threading
import time
from typing import Any

from common import Bench, bench, options, percentile, show, text

PAUSE_S = 1.0


def prompt_times(
    made: Bench, name: str, runs: int, stop: threading.Event | None = None
) -> list[float]:
    """Return the milliseconds of prompts, one a second."""
    chance = random.Random(3)
    taken = []
    for number in range(runs):
        if stop is not None and stop.is_set():
            break
        prompt = f"What is known of {text(number, chance)[:80]}?"
        taken.append(
            made.hook("user_prompt_submit", session_id=f"{name}{number}", prompt=prompt)[0]
        )
        time.sleep(PAUSE_S)
    return taken


def measure(made: Bench, count: int) -> dict[str, Any]:
    """Import `count` texts and return the figures."""
    chance = random.Random(5)
    path = os.path.join(made.root, "texts.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        for number in range(count):
            line = {"text": text(number, chance), "project": made.project, "id": str(number)}
            file.write(json.dumps(line) + "\n")
    made.settle()
    idle = prompt_times(made, "idle", 20)
    started = time.perf_counter()
    request = {"path": path, "verbatim": True, "wait": False}
    done = dict(made.daemon.stream("import", request, 600))["answer"]
    words_s = time.perf_counter() - started
    stop, busy = threading.Event(), []
    prompts = threading.Thread(
        target=lambda: busy.extend(prompt_times(made, "busy", 100_000, stop)), daemon=True
    )
    prompts.start()
    for _ in made.daemon.stream("wait", {"timeout_s": 3_600}, 3_600):
        pass
    vectors_s = time.perf_counter() - started
    stop.set()
    prompts.join(10)
    return {
        "texts": done["stored"],
        "words s": round(words_s, 1),
        "vectors s": round(vectors_s, 1),
        "prompt idle p50 / p95 ms": f"{percentile(idle, 0.5):.1f} / {percentile(idle, 0.95):.1f}",
        "meanwhile": f"{percentile(busy, 0.5):.1f} / {percentile(busy, 0.95):.1f}",
        "× p95": round(percentile(busy, 0.95) / percentile(idle, 0.95), 2),
    }


def main() -> None:
    """Measure once."""
    parser = options(__doc__ or "")
    parser.add_argument("--texts", type=int, default=20_000)
    asked = parser.parse_args()
    with bench(asked.home) as made:
        show("Many new texts", [measure(made, asked.texts)], asked.json)


if __name__ == "__main__":
    main()
