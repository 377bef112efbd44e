"""Hours of use in minutes: does the daemon grow?

Rounds of everything that a day brings: prompts, failures, turns that end with growing transcripts,
compactions, sessions that end, memories that are made, found and forgotten, imports, backfills. After
each round the daemon is measured once it is quiet. The first third of the rounds is left out, since caches
fill and modules are imported then; through the others a line is fitted.

Flat means: the line rises by less than twice its own standard error, or by less than `BOUNDS` allows for a
thousand memories that are stored, which everything that is kept in memory for each of them takes. With
`--keep` as many are forgotten as are stored, so that what grows is no memory.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from common import Bench, bench, options, percentile, show, text

QUIET_S = 4.5
REST_S = 33.0
"""After so long without a question a daemon gives back what it does not need."""
STEADY = 3
"""One part in so many of the rounds is left out at the start."""
BOUNDS = {
    "rss MB": 8.0, "anonymous MB": 8.0, "files": 0.5, "threads": 0.5, "children": 0.2, "disk files": 40.0,
    "lance versions": 2.0, "wal MB": 0.5, "log MB": 0.5, "journal MB": 12.0, "prompt p50 ms": 2.0,
}  # fmt: skip
"""What may be added for a thousand memories. A memory's vector is 1.5 KB, mapped, its columns 0.1 KB;
the journal keeps text, words and vector. SQLite's caches take up to 48 MB until they are full, and
LanceDB's code is read as it is used: both end, so start with `--fill 10000` to see what does not."""


class Day:
    """One after the other, all that happens to a daemon."""

    def __init__(self, made: Bench, seed: int) -> None:
        self.made = made
        self.chance = random.Random(seed)
        self.number = 0
        self.ids: list[str] = []
        self.prompts_ms: list[float] = []
        self.folder = os.path.join(made.root, "transcripts")
        os.makedirs(self.folder)

    def round(self, number: int) -> None:
        """Do everything once or a few times."""
        session = f"soak-{number}"
        path = os.path.join(self.folder, f"{session}.jsonl")
        fields = {"session_id": session, "transcript_path": path}
        open(path, "w").close()
        self.made.hook("session_start", **fields, source="startup")
        for turn in range(4):
            words = text(self._next(), self.chance)
            taken, _ = self.made.hook("user_prompt_submit", **fields, prompt=words[:200])
            self.prompts_ms.append(taken)
            self._fail(fields)
            self._say(path, session, turn, words)
            self.made.hook("stop", **fields, last_assistant_message="Done.", n=turn)
        self.made.hook("pre_compact", **fields, trigger="auto")
        self.made.hook("session_start", **fields, source="compact")
        self.made.hook("session_end", **fields, reason="other")
        self._commands(number)

    def settle(self) -> None:
        """Wait until everything is done."""
        for _ in self.made.daemon.stream("wait", {"timeout_s": 300}, 310):
            pass

    def measure(self) -> dict[str, float]:
        """Wait until it is quiet, and return what the daemon takes."""
        self.settle()
        time.sleep(QUIET_S)
        pid = self.made.daemon.ask("status", {})["pid"]
        taken, self.prompts_ms = self.prompts_ms, []
        store = self.made.home.global_store
        return {
            "memories": float(self.made.daemon.ask("stats", {})["memories"]),
            "stored": float(self._journal("SELECT max(seq) FROM memories")[0]),
            "rss MB": _rss_mb(pid),
            "anonymous MB": _anonymous_mb(pid),
            "files": float(len(os.listdir(f"/proc/{pid}/fd"))),
            "threads": float(len(os.listdir(f"/proc/{pid}/task"))),
            "children": float(len(_children(pid))),
            "disk files": float(sum(len(files) for _, _, files in os.walk(self.made.home.root))),
            "lance versions": float(_count(store, "_versions")),
            "journal MB": _size_mb(os.path.join(store, "journal.db")),
            "wal MB": _size_mb(os.path.join(store, "journal.db-wal")),
            "log MB": _size_mb(os.path.join(self.made.home.logs, "daemon.log")),
            "prompt p50 ms": percentile(taken, 0.5) if taken else 0.0,
        }

    def forget_beyond(self, most: int) -> None:
        """Forget the oldest memories, so that `most` are left."""
        ids = self._journal("SELECT id FROM memories WHERE status = 'active' ORDER BY seq")
        for start in range(0, len(ids) - most, 100):
            some = ids[start : min(start + 100, len(ids) - most)]
            self.made.daemon.ask("forget", {"ids": some, "confirm": True})

    def _journal(self, question: str) -> list[Any]:
        path = os.path.join(self.made.home.global_store, "journal.db")
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as store:
            return [one for (one,) in store.execute(question)]

    def _next(self) -> int:
        self.number += 1
        return self.number

    def _fail(self, fields: dict[str, Any]) -> None:
        number = self._next()
        self.made.hook(
            "post_tool_use_failure",
            **fields,
            tool_name="Bash",
            tool_input={"command": f"make test-{number}"},
            error=f"Exit code 2\nValueError: no answer from worker {number}",
            is_interrupt=False,
        )

    def _say(self, path: str, session: str, turn: int, words: str) -> None:
        with open(path, "a", encoding="utf-8") as file:
            for step, role in enumerate(("user", "assistant")):
                said = (
                    words
                    if step == 0
                    else " ".join(text(self._next(), self.chance) for _ in range(3))
                )
                line = {
                    "type": role,
                    "uuid": f"{session}-{turn}-{step}",
                    "sessionId": session,
                    "cwd": self.made.project,
                    "timestamp": f"2026-05-03T10:{turn:02}:{step:02}.000Z",
                    "message": {"role": role, "content": [{"type": "text", "text": said}]},
                }
                file.write(json.dumps(line) + "\n")

    def _commands(self, number: int) -> None:
        ask = self.made.daemon.ask
        for _ in range(6):
            request = {"text": text(self._next(), self.chance), "project": self.made.project}
            self.ids.append(ask("remember", request)["id"])
            ask("recall", {"query": text(self._next(), self.chance)[:80], "all_projects": True})
        ask("forget", {"ids": [self.ids.pop(0) for _ in range(2)], "confirm": True})
        for verb in ("stats", "list", "topics", "doctor"):
            ask(verb, {"project": self.made.project})
        path = os.path.join(self.made.root, "import.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            for _ in range(40):
                file.write(json.dumps({"text": text(self._next(), self.chance)}) + "\n")
        dict(self.made.daemon.stream("import", {"path": path, "global": True, "wait": False}, 60))
        if number % 4 == 3:
            dict(self.made.daemon.stream("backfill", {"paths": [self.folder], "wait": False}, 120))


def _rss_mb(pid: int) -> float:
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _anonymous_mb(pid: int) -> float:
    """Return what is in no file; pages of programs and of the mapped matrix are resident, too."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("Anonymous:")) / 1e3


def _children(pid: int) -> list[str]:
    done = subprocess.run(
        ["ps", "--ppid", str(pid), "-o", "pid="], capture_output=True, check=False
    )
    return done.stdout.decode().split()


def _count(folder: str, name: str) -> int:
    return sum(len(files) for path, _, files in os.walk(folder) if os.path.basename(path) == name)


def _size_mb(path: str) -> float:
    return os.path.getsize(path) / 1e6 if os.path.exists(path) else 0.0


def slope(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """Return the slope of the line of least squares, and its standard error."""
    count, mean_x, mean_y = len(xs), sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    if count < 3 or not spread:
        return 0.0, math.inf
    rise = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / spread
    left = sum((y - mean_y - rise * (x - mean_x)) ** 2 for x, y in zip(xs, ys, strict=True))
    return rise, math.sqrt(left / (count - 2) / spread)


def fitted(samples: Sequence[dict[str, float]]) -> list[dict[str, Any]]:
    """Return a row for each figure: where it began and ended, and how it grew."""
    steady = samples[len(samples) // STEADY :]
    stored = [one["stored"] / 1000 for one in steady]
    rows = []
    for name, bound in BOUNDS.items():
        values = [one[name] for one in steady]
        rise, error = slope(stored, values)
        rows.append(
            {
                "figure": name,
                "first": round(samples[0][name], 1),
                "last": round(samples[-1][name], 1),
                "for 1,000 stored": f"{rise:+.2f} ± {error:.2f}",
                "allowed": bound,
                "flat": "yes"
                if rise <= max(bound, 2 * error if math.isfinite(error) else 0)
                else "NO",
            }
        )
    return rows


def soak(
    made: Bench, minutes: float, seed: int, keep: int = 0
) -> tuple[list[dict[str, float]], list[dict[str, float]], list[float]]:
    """Use the daemon for so long; return what it took after each round, what it took at rest after a third
    of the time, at the end and after a restart, and how long it took to stop in the middle of work, in seconds."""
    day = Day(made, seed)
    made.daemon.start()
    samples: list[dict[str, float]] = []
    rested: list[dict[str, float]] = []
    started, until = time.monotonic(), time.monotonic() + 60 * minutes
    while time.monotonic() < until:
        if not rested and time.monotonic() - started > 60 * minutes / STEADY:
            rested.append(_at_rest(day))
        for _ in range(4):
            day.round(day.number)
        if keep:
            day.settle()
            day.forget_beyond(keep)
        samples.append(day.measure())
        sys.stderr.write(json.dumps(samples[-1]) + "\n")
    rested.append(_at_rest(day))
    stops = []
    for _ in range(3):
        day.round(day.number)
        started = time.monotonic()
        made.daemon.stop()
        stops.append(time.monotonic() - started)
        made.daemon.start()
    # What the same memories take in a process that has done nothing else.
    day.round(day.number)
    rested.append(_at_rest(day))
    return samples, rested, stops


def _at_rest(day: Day) -> dict[str, float]:
    time.sleep(REST_S)
    return day.measure()


def main() -> None:
    """Use it, and show how it grew."""
    parser = options(__doc__ or "")
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--fill", type=int, default=0, help="memories that are there at the start")
    parser.add_argument(
        "--keep",
        type=int,
        default=0,
        help="forget the oldest beyond so many: what grows then is no memory",
    )
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    if not os.path.isdir("/proc/self/fd"):
        sys.exit("It reads /proc, which this system has not.")
    with bench(asked.home) as made:
        if asked.fill:
            made.fill(asked.fill)
        samples, rested, stops = soak(made, asked.minutes, asked.seed, asked.keep)
    rounds, memories = len(samples) * 4, samples[-1]["memories"]
    title = f"{rounds} sessions in {asked.minutes:g} minutes, {memories:.0f} memories"
    show(title, fitted(samples), asked.json)
    names = ("memories", "stored", "rss MB", "anonymous MB", "files", "threads")
    show("At rest", [{name: round(one[name], 1) for name in names} for one in rested], asked.json)
    took = [{"daemon stop in the middle of work, s": f"{one:.1f}"} for one in stops]
    show("Restarts", took, asked.json)


if __name__ == "__main__":
    main()
