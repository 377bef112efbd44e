"""Looking at processes, for tests."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable


def state_of(pid: int) -> str:
    """Return a process's state as `ps` has it, "" where there is none or only its zombie."""
    if os.path.isdir("/proc/self"):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                state = file.read().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return ""
    else:
        command = ["ps", "-o", "state=", "-p", str(pid)]
        state = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return "" if state.startswith(("Z", "X")) else state


def children_of(pid: int) -> list[int]:
    """Return the running children of a process."""
    return [one for one, parent in _parents() if parent == pid and state_of(one)]


def command_of(pid: int) -> str:
    """Return a process's command line, "" where there is none. A child that was made a moment ago still has its
    parent's: to stop it then is to stop it before it is what it is to be."""
    if os.path.isdir("/proc/self"):
        try:
            with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
                return file.read()
        except (FileNotFoundError, ProcessLookupError):
            return ""
    command = ["ps", "-o", "args=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def zombies_of(pid: int) -> list[int]:
    """Return the children of a process that ended and that it has not looked after."""
    return [one for one, parent in _parents() if parent == pid and not state_of(one)]


def _parents() -> list[tuple[int, int]]:
    if not os.path.isdir("/proc/self"):
        command = ["ps", "-A", "-o", "pid=,ppid="]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return [(int(line.split()[0]), int(line.split()[1])) for line in told.splitlines()]
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                found.append((int(name), int(file.read().rpartition(")")[2].split()[1])))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def gone(pid: int, within_s: float = 60.0) -> bool:
    """Whether a process ends in time; a zombie counts as gone."""
    return holds(lambda: not state_of(pid), within_s)


def holds(true: Callable[[], object], within_s: float = 60.0) -> bool:
    """Whether something comes true in time."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.02)
    return bool(true())
