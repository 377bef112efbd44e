"""How long many new texts take: to be found by words, to have their vectors, and what prompts feel
meanwhile. Goals for 20,000 texts: words in 5 s, vectors in 5 minutes. With `--sessions`, transcripts
instead; goals for 1,000: words in 30 s, prompts at p95 within twice the idle figure.
"""

from __future__ import annotations

import json
import os
import random
import threading
import time
from typing import Any

from common import Bench, bench, options, percentile, show, text
from sessions import write_sessions

PAUSE_S = 1.0
READING_PAUSE_S = 0.1
"""Between prompts while sessions are read: that is over in seconds."""
IDLE_PROMPTS = 60


class Prompts:
    """Prompts one after the other in a thread, until it is stopped."""

    def __init__(self, made: Bench, name: str, pause_s: float = PAUSE_S) -> None:
        self.taken: list[float] = []
        self._made, self._name, self._pause_s = made, name, pause_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Prompts:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(10)

    def _run(self) -> None:
        while not self._stop.is_set():
            self.taken += prompt_times(
                self._made, f"{self._name}{len(self.taken)}", 1, self._pause_s
            )


class Memory:
    """The daemon's resident memory, looked at twice a second."""

    def __init__(self, made: Bench) -> None:
        self.before = self.peak = self.last = float(made.daemon.ask("status", {})["rss_mb"])
        self._made = made
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(10)

    def _run(self) -> None:
        while not self._stop.wait(0.5):
            self.look()

    def look(self) -> None:
        """Look now."""
        self.last = float(self._made.daemon.ask("status", {})["rss_mb"])
        self.peak = max(self.peak, self.last)


def prompt_times(made: Bench, name: str, runs: int, pause_s: float = PAUSE_S) -> list[float]:
    """Return the milliseconds of prompts, with a pause after each."""
    taken = []
    for number in range(runs):
        prompt = f"What is known of {text(number, random.Random(f'{name}{number}'))[:80]}?"
        taken.append(
            made.hook("user_prompt_submit", session_id=f"{name}{number}", prompt=prompt)[0]
        )
        time.sleep(pause_s)
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
    with Memory(made) as memory:
        started = time.perf_counter()
        request = {"path": path, "verbatim": True, "wait": False}
        done = dict(made.daemon.stream("import", request, 600))["answer"]
        words_s = time.perf_counter() - started
        with Prompts(made, "busy") as busy:
            _wait(made)
        vectors_s = time.perf_counter() - started
    return {
        "texts": done["stored"],
        "words s": round(words_s, 1),
        "vectors s": round(vectors_s, 1),
        "prompt idle": _both(idle),
        "meanwhile": _both(busy.taken),
        "× p95": _times(busy.taken, idle),
        "MB before": memory.before,
        "peak": memory.peak,
        "after": memory.last,
    }


def measure_sessions(
    made: Bench, count: int, source: str, old: int, vectors: bool = True
) -> dict[str, Any]:
    """Backfill `count` sessions, with `old` memories there already, and return the figures.

    Args:
        source: a folder of transcripts to copy from; made up without one.
        vectors: wait for the vectors, too.
    """
    folder = os.path.join(made.root, "projects")
    size = write_sessions(folder, count, made.project, source)
    if old:
        made.fill(old)
    made.settle()
    idle = prompt_times(made, "idle", IDLE_PROMPTS, READING_PAUSE_S)
    with Memory(made) as memory:
        started = time.perf_counter()
        with Prompts(made, "reading", READING_PAUSE_S) as reading:
            done = _backfill(made, folder)
        words_s = time.perf_counter() - started
        with Prompts(made, "embedding") as embedding:
            if vectors:
                _wait(made)
        vectors_s = time.perf_counter() - started
    started = time.perf_counter()
    again = _backfill(made, folder)
    again_s = time.perf_counter() - started
    if vectors:
        made.settle()
    memory.look()
    return {
        "sessions": done["sessions"],
        "MB": round(size / 1e6, 1),
        "memories": done["stored"],
        "words s": round(words_s, 1),
        "vectors s": round(vectors_s, 1) if vectors else "",
        "again s": round(again_s, 1),
        "again stored": again["stored"],
        "prompt idle": _both(idle),
        "reading": _both(reading.taken),
        "× p95": _times(reading.taken, idle),
        "embedding": _both(embedding.taken),
        "× p95 ": _times(embedding.taken, idle),
        "MB before": memory.before,
        "peak": memory.peak,
        "after": memory.last,
    }


def _backfill(made: Bench, folder: str) -> dict[str, Any]:
    request = {"paths": [folder], "cwd": made.project, "wait": False}
    return dict(made.daemon.stream("backfill", request, 3_600))["answer"]


def _wait(made: Bench) -> None:
    for _ in made.daemon.stream("wait", {"timeout_s": 3_600}, 3_600):
        pass


def _both(values: list[float]) -> str:
    return f"{percentile(values, 0.5):.1f} / {percentile(values, 0.95):.1f}" if values else ""


def _times(busy: list[float], idle: list[float]) -> float:
    return round(percentile(busy, 0.95) / percentile(idle, 0.95), 2) if busy else 0.0


def main() -> None:
    """Measure once."""
    parser = options(__doc__ or "")
    parser.add_argument("--texts", type=int, default=20_000)
    parser.add_argument("--sessions", type=int, default=0, help="read so many transcripts instead")
    parser.add_argument("--transcripts", default="", help="a folder of real ones to copy from")
    parser.add_argument("--words", action="store_true", help="do not wait for vectors")
    parser.add_argument("--old", type=int, default=0, help="memories that are there already")
    asked = parser.parse_args()
    with bench(asked.home) as made:
        if asked.sessions:
            row = measure_sessions(
                made, asked.sessions, asked.transcripts, asked.old, not asked.words
            )
            show("Many sessions, prompts in ms as p50 / p95", [row], asked.json)
        else:
            row = measure(made, asked.texts)
            show("Many new texts, prompts in ms as p50 / p95", [row], asked.json)


if __name__ == "__main__":
    main()
