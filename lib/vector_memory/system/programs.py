"""Another program, asked once: it and all that it started end in time, and with the daemon.

A small process of its own minds it, since a daemon that is killed can do nothing any more: it holds
one end of a pipe, and when the other end closes, by a call or by death, it kills the program's whole
process group. Standard library only, so that it starts in milliseconds.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence

LATE = 124
"""The exit code that tells that the time was over, as `timeout` has it."""
GRACE_S = 5.0
"""How much later than the minder itself its parent gives up."""
PARENT_S = 5.0
"""How often it looks for its parent where the system does not tell it at once."""

_lock = threading.Lock()
_running: "set[int]" = set()


def run(
    words: Sequence[str],
    stdin: bytes,
    timeout_s: float,
    folder: str,
    environment: Mapping[str, str],
) -> "subprocess.CompletedProcess[bytes]":
    """Run a program to its end and return what it printed.

    Args:
        words: the program and its arguments.
        stdin: what it finds on stdin.
        timeout_s: how long it may take.
        folder: where it runs.
        environment: all of its environment.

    Raises:
        OSError: it cannot be started.
        subprocess.TimeoutExpired: it took too long, or `end_all` ended it.
    """
    watched, held_end = os.pipe()
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, str(watched), str(timeout_s), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[watched],
            cwd=folder,
            env=environment,
        )
    except BaseException:
        os.close(held_end)
        raise
    finally:
        os.close(watched)
    with process, _registered(held_end):
        try:
            stdout, stderr = process.communicate(stdin, timeout_s + GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    if process.returncode == LATE:
        raise subprocess.TimeoutExpired(words[0], timeout_s)
    return subprocess.CompletedProcess(list(words), process.returncode, stdout, stderr)


def end_all() -> None:
    """End every program that runs now."""
    with _lock:
        while _running:
            os.close(_running.pop())


@contextlib.contextmanager
def _registered(held_end: int):  # type: ignore[no-untyped-def]
    with _lock:
        _running.add(held_end)
    try:
        yield
    finally:
        with _lock:
            if held_end in _running:
                _running.remove(held_end)
                os.close(held_end)


# -- the minder -----------------------------------------------------------------------------------


def mind(watched: int, timeout_s: float, words: Sequence[str]) -> int:
    """Run a program in a process group of its own and return its exit code, or `LATE`."""
    deadline, parent = time.monotonic() + timeout_s, os.getppid()
    ended, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    child = subprocess.Popen(words, start_new_session=True)
    poll = select.poll()
    poll.register(watched, 0)
    poll.register(ended, select.POLLIN)
    try:
        while child.poll() is None:
            left_s = deadline - time.monotonic()
            events = dict(poll.poll(max(0.0, min(left_s, PARENT_S)) * 1000))
            if left_s <= 0 or watched in events or os.getppid() != parent:
                return LATE
            if ended in events:
                os.read(ended, 64)
        return child.returncode if child.returncode >= 0 else 128 - child.returncode
    finally:
        # What it started goes, too; its group is there as long as one of them is.
        with contextlib.suppress(OSError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


if __name__ == "__main__":
    sys.exit(mind(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]))
