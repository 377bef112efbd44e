"""What comes in where it should not: one endless line through every door, a crowd of idle clients, another
user. Goals: no crash, what stands around the line is found, at most 64 MB more; the crowd's prompt is
answered; the other user reaches nothing.

    DATA_HOME/runtime/venv/bin/python benchmarks/doors.py --home DATA_HOME [--quick]

The line is a gigabyte, 64 MB with --quick. Another user is tried where root runs this, on Linux.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from common import ROOT, Bench, bench, options, percentile, show

CHILD = ROOT / "tests" / "long_lines.py"
CROWD = 200
NOBODY = 65_534
MOST_MB = 64.0


def in_child(door: str, megabytes: int) -> dict[str, Any]:
    """Measure a door in a process of its own."""
    folder = tempfile.mkdtemp(prefix="vector-memory-line-")
    try:
        command = [sys.executable, str(CHILD), door, str(megabytes), folder]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        told = json.loads(done.stdout)
    finally:
        shutil.rmtree(folder)
    return row(door, megabytes, told["growth_mb"], told["found"])


def row(door: str, megabytes: int, growth: float, found: object) -> dict[str, Any]:
    """Return one line of the table."""
    fits = "yes" if growth <= MOST_MB else "NO"
    return {"door": door, "line MB": megabytes, "growth MB": growth, "found": found, "fits": fits}


def through_import(made: Bench, megabytes: int) -> dict[str, Any]:
    """Import it into the running daemon."""
    path = Path(made.root, "long.jsonl")
    with open(path, "wb") as file:
        file.write(b'{"text": "the line before"}\n{"text": "')
        for _ in range(megabytes):
            file.write(b"x" * (1 << 20))
        file.write(b'"}\n{"text": "the line after"}\n')
    pid = made.daemon.start()["pid"]
    before = memory_mb(pid, "VmRSS")
    Path(f"/proc/{pid}/clear_refs").write_text("5")
    asked = {"path": str(path), "global": True, "wait": False}
    answer = [body for kind, body in made.daemon.stream("import", asked) if kind == "answer"][0]
    growth = round(memory_mb(pid, "VmHWM") - before, 1)
    path.unlink()
    found = f"{answer['stored'] + answer['merged']} stored, {answer['skipped']} skipped"
    return row("import (daemon)", megabytes, growth, found)


def through_hook(made: Bench, megabytes: int) -> dict[str, Any]:
    """Pipe it into a hook, through its shell."""
    script = os.path.join(made.home.app_current, "hooks", "run")
    reading, writing = os.pipe()
    process = subprocess.Popen(
        ["sh", script, "user_prompt_submit"],
        stdin=reading, stdout=subprocess.PIPE, env=made.environment,
    )  # fmt: skip
    os.close(reading)

    def feed() -> None:
        with open(writing, "wb", buffering=0) as pipe:
            for _ in range(megabytes):
                try:
                    pipe.write(b"x" * (1 << 20))
                except BrokenPipeError:
                    return

    feeder = threading.Thread(target=feed)
    feeder.start()
    assert process.stdout is not None
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    feeder.join()
    found = f"exit {process.returncode}, {len(printed)} bytes printed"
    return row("hook (whole process)", megabytes, round(usage.ru_maxrss / 1024, 1), found)


def memory_mb(pid: int, field: str) -> float:
    """Return a figure of a process's memory (Linux)."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int([line for line in file if line.startswith(field)][0].split()[1]) / 1024


def crowd(made: Bench, size: int) -> list[dict[str, Any]]:
    """Time prompts alone, and among clients that connected and say nothing."""
    prompt = {"session_id": "s", "prompt": "why does the ledger use a journal mode?"}
    rows = []
    back = os.open(".", os.O_RDONLY)
    os.chdir(made.home.run)
    idle: list[socket.socket] = []
    for count in (0, size):
        while len(idle) < count:
            idle.append(socket.socket(socket.AF_UNIX))
            idle[-1].connect("daemon.sock")
        asked = [{**prompt, "session_id": f"{count}-{n}"} for n in range(30)]
        times = [made.hook("user_prompt_submit", **one)[0] for one in asked]
        answered = made.daemon.running() is not None
        rows.append(
            {"idle clients": count, "hook p50 ms": round(percentile(times, 0.5), 1),
             "hook p95 ms": round(percentile(times, 0.95), 1), "answers": answered}
        )  # fmt: skip
    for one in idle:
        one.close()
    os.fchdir(back)
    os.close(back)
    return rows


def other_user(made: Bench) -> list[dict[str, Any]]:
    """Try everything in a data home as another user, with all folders above it open."""
    os.chmod(made.root, 0o755)
    home = made.home
    files = [Path(f, n) for f, _, names in os.walk(home.root) for n in names]
    rows = [{"as another user": "connect to the socket", "tried": 1, "done": connects(home.run)}]
    named = ("", "spool", "snapshots", "logs", "run", "global", "app")
    folders = [Path(home.path(name)) for name in named]
    for what, paths in (("read a file", files), ("list a folder", folders)):
        done = sum(as_nobody(path) for path in paths if not path.is_symlink())
        rows.append({"as another user": what, "tried": len(paths), "done": done})
    return rows


def connects(folder: str) -> int:
    """Whether another user gets to the socket."""
    return child(lambda: (os.chdir(folder), socket.socket(socket.AF_UNIX).connect("daemon.sock")))


def as_nobody(path: Path) -> int:
    """Whether another user opens a path."""
    return child(lambda: os.open(path, os.O_RDONLY))


def child(work: Any) -> int:
    """Return 1 if something goes well for another user."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            work()
        except OSError:
            os._exit(1)
        os._exit(0)
    return int(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0)


def main() -> None:
    """Print the tables."""
    parser = options(__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a line of 64 MB")
    given = parser.parse_args()
    megabytes = 64 if given.quick else 1024
    with bench(given.home) as made:
        made.settle()
        rows = [in_child(door, megabytes) for door in ("transcript", "socket")]
        rows += [through_import(made, megabytes), through_hook(made, megabytes)]
        show("An endless line", rows, given.json)
        show("Clients that say nothing", crowd(made, CROWD), given.json)
        if sys.platform == "linux" and os.geteuid() == 0:
            show("Another user of this machine", other_user(made), given.json)


if __name__ == "__main__":
    main()
