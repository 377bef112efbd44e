"""What hooks do when things go wrong: every event with every state of the daemon, what it finds on
stdin, and odd surroundings. Each must exit 0 with nothing on stderr and nothing or one JSON object on
stdout, within 250 ms (1.5 s at a session's start).

One row for each state of the daemon, over all events and inputs; then one for each input. An input
whose other end never closes takes a hook's whole time by design and is counted apart.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from common import ROOT, Bench, bench, options, percentile, show

sys.path.insert(0, str(ROOT / "tests"))

from e2e.harness import fake_daemon, hook
from e2e.harness.hook import Stdin

START_MS, OTHER_MS = 1500.0, 250.0
AT_ONCE = ("user_prompt_submit", "stop", "post_tool_use_failure", "session_end")
QUICK = ("is absent", "is stopped", "never answers", "has nothing to say")


class Cell:
    """What some hooks did: milliseconds, and what broke the contract."""

    def __init__(self) -> None:
        self.start: list[float] = []
        self.other: list[float] = []
        self.broken: list[str] = []

    def add(
        self, event: str, name: str, ms: float, done: subprocess.CompletedProcess[bytes]
    ) -> None:
        """Take in one hook."""
        (self.start if event == "session_start" else self.other).append(ms)
        spoke = done.stdout != b""
        if done.returncode != 0 or done.stderr or (spoke and not _is_object(done.stdout)):
            self.broken.append(
                f"{event}, {name}: {done.returncode} {done.stdout!r} {done.stderr!r}"
            )

    def row(self) -> dict[str, Any]:
        """Return its figures."""
        late = sum(ms > OTHER_MS for ms in self.other) + sum(ms > START_MS for ms in self.start)
        found: dict[str, Any] = {"runs": len(self.start) + len(self.other)}
        for name, values in (("start", self.start), ("others", self.other)):
            if values:
                found[f"{name} p50 ms"] = round(percentile(values, 0.5))
                found[f"{name} max ms"] = round(max(values))
        return {**found, "late": late, "broken": len(self.broken)}


def _is_object(text: bytes) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def run(event: str, stdin: Stdin, environment: dict[str, str], **more: Any) -> tuple[float, Any]:
    """Run a hook; return its milliseconds from before its start to after its end, and what it did."""
    command = ["/bin/sh", str(ROOT / "hooks" / "run"), event]
    with _fed(stdin) as source:
        return timed_run(command, source, environment, **more)


def timed_run(
    command: Sequence[str], source: int, environment: dict[str, str], **more: Any
) -> tuple[float, subprocess.CompletedProcess[bytes]]:
    """Run a command with a descriptor as its stdin."""
    started = time.perf_counter()
    done = subprocess.run(
        command, stdin=source, capture_output=True, env=environment, timeout=30, check=False, **more
    )
    return (time.perf_counter() - started) * 1000, done


@contextlib.contextmanager
def _fed(stdin: Stdin) -> Iterator[int]:
    """Give a descriptor to read from: a file, which nobody has to write while the time runs, or a pipe
    whose other end stays open."""
    if stdin.closed:
        with tempfile.TemporaryFile() as file:
            file.write(stdin.data)
            file.seek(0)
            yield file.fileno()
        return
    reader, writer = os.pipe()
    try:
        os.write(writer, stdin.data)
        yield reader
    finally:
        os.close(reader)
        os.close(writer)


def environment_of(home: Path, **more: str) -> dict[str, str]:
    """Return the variables that the client sets, as far as a hook reads them."""
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": str(home.parent),
        "VECTOR_MEMORY_HOME": str(home),
        "CLAUDE_PROJECT_DIR": "/nonexistent/project",
        **more,
    }


def matrix(
    folder: Path, runs: int, states: Sequence[str]
) -> tuple[list[Any], list[Any], list[str]]:
    """Return the rows of daemons that misbehave, those of inputs, and what broke the contract."""
    by_state: dict[str, Cell] = {}
    by_input: dict[str, Cell] = {}
    for number, state in enumerate(states):
        home = hook.bare_home(folder / f"home {number}")
        run("stop", Stdin(b"{}"), environment_of(home))  # Bytecode is made once.
        with fake_daemon.daemon_that(state, home):
            for event in hook.EVENTS:
                stdins = {**hook.inputs(event), **hook.held(event)}
                for name, stdin in stdins.items():
                    for _ in range(runs):
                        taken = run(event, stdin, environment_of(home))
                        by_input.setdefault(name, Cell()).add(event, name, *taken)
                        if stdin.closed:
                            by_state.setdefault(state, Cell()).add(event, name, *taken)
    broken = [f"{state}: {one}" for state, cell in by_state.items() for one in cell.broken]
    return (
        [{"daemon": name, **cell.row()} for name, cell in by_state.items()],
        [{"stdin": name, **cell.row()} for name, cell in by_input.items()],
        broken,
    )


def surroundings(folder: Path, runs: int) -> list[dict[str, Any]]:
    """Return the rows of a data home that is full, variables that break Python, and the like."""
    rows = []
    home = hook.bare_home(folder / "plain")
    cases: dict[str, dict[str, str]] = {
        "as it should be": {},
        "PYTHON* set": {"PYTHONHOME": "/nonexistent", "PYTHONPATH": "/", "PYTHONVERBOSE": "2"},
        "no HOME, no PATH": {"HOME": "", "PATH": ""},
        "no data home": {"HOME": "", "VECTOR_MEMORY_HOME": ""},
    }
    for name, variables in cases.items():
        rows.append(_row(name, environment_of(home, **variables), runs))
    for python in hook.pythons()[1:]:
        other = hook.bare_home(folder / os.path.basename(python), python)
        rows.append(_row(os.path.basename(python), environment_of(other), runs))
    with contextlib.ExitStack() as stack:
        full = stack.enter_context(full_disk(folder / "full"))
        rows.append(_row("disk full", environment_of(full), runs) if full else _none("disk full"))
    return rows


def _row(name: str, environment: dict[str, str], runs: int) -> dict[str, Any]:
    cell = Cell()
    for _ in range(runs):
        for event in hook.EVENTS:
            cell.add(event, name, *run(event, Stdin(hook.payload(event)), environment))
    return {"surroundings": name, **cell.row()}


def _none(name: str) -> dict[str, Any]:
    return {"surroundings": f"{name}: no small file system can be mounted here"}


@contextlib.contextmanager
def full_disk(folder: Path) -> Iterator[Path | None]:
    """Give a data home on a file system without any room; None where none can be mounted."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode != 0:
        yield None
        return
    try:
        home = hook.bare_home(folder / "home")
        with contextlib.suppress(OSError), open(folder / "filler", "wb", buffering=0) as file:
            while file.write(b"x" * 4096):
                pass
        yield home
    finally:
        subprocess.run(["umount", str(folder)], check=False)


def stopped(linked: str, runs: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows of the real daemon: answering, stopped by a signal, killed; and those of many
    hooks at once, beside as many bare interpreters at once."""
    rows, crowds = [], []
    with bench(linked) as made:
        made.daemon.start()
        environment = environment_of(Path(made.home.root))
        environment["HOME"] = made.root
        rows.append(_row("a real daemon", environment, runs))
        crowds += [_at_once(made, "answers", environment, count) for count in (4, 8)]
        pid = made.daemon.ask("status", {})["pid"]
        os.kill(pid, signal.SIGSTOP)
        rows.append(_row("… stopped by a signal", environment, runs))
        crowds += [_at_once(made, "is stopped", environment, count) for count in (1, 2, 4, 8, 16)]
        os.kill(pid, signal.SIGKILL)
        crowds.append(_at_once(made, "was killed", environment, 50, rounds=1))
        made.daemon.stop()
        rows.append(_row("… stopped in good order, another one starts", environment, runs))
    return rows, crowds


def _at_once(
    made: Bench, state: str, environment: dict[str, str], count: int, rounds: int = 4
) -> dict[str, Any]:
    """Return the row of so many hooks at once, and how many daemons they started."""
    log = Path(made.home.logs, "daemon.log")
    before = log.read_text("utf-8").count(" serves, pid ")
    cell, bare = Cell(), []
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        for _ in range(rounds):
            bare += list(pool.map(lambda _: made.bare(), range(count)))
            events = [AT_ONCE[number % len(AT_ONCE)] for number in range(count)]
            stdins = [
                Stdin(hook.payload(event, session_id=os.urandom(4).hex())) for event in events
            ]
            taken = pool.map(lambda *asked: run(*asked, environment), events, stdins)
            for event, done in zip(events, taken, strict=True):
                cell.add(event, state, *done)
    if state == "was killed":
        made.daemon.start()
    begun = log.read_text("utf-8").count(" serves, pid ") - before
    return {
        "daemon": state, "at once": count, **cell.row(),
        "bare p50 ms": round(percentile(bare, 0.5)), "bare max ms": round(max(bare)),
        "daemons begun": begun, "load": round(os.getloadavg()[0], 1),
    }  # fmt: skip


def main() -> None:
    """Measure everything once, or less of it."""
    parser = options(__doc__ or "")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a few states of the daemon only")
    parser.add_argument("--only-real", action="store_true", help="the real daemon only")
    asked = parser.parse_args()
    if asked.only_real:
        for title, rows in zip(
            ("A real daemon", "Hooks at once"), stopped(asked.home, asked.runs), strict=True
        ):
            show(title, rows, asked.json)
        return
    states = QUICK if asked.quick else fake_daemon.ALL_STATES
    with tempfile.TemporaryDirectory(prefix="vector-memory-bench-") as folder:
        by_state, by_input, broken = matrix(Path(folder), asked.runs, states)
        around = surroundings(Path(folder), asked.runs)
    real, crowds = stopped(asked.home, asked.runs)
    around += real
    show("Hooks by the daemon's state", by_state, asked.json)
    show("Hooks by what is on stdin", by_input, asked.json)
    show("Hooks by their surroundings", around, asked.json)
    show("Hooks at once", crowds, asked.json)
    for one in broken:
        sys.stderr.write(one[:400] + "\n")


if __name__ == "__main__":
    main()
