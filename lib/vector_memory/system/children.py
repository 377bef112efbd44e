"""Processes that work for the daemon: each ends with it, whatever ends it, and at the end of a budget.

A child speaks frames on stdin and stdout: four bytes of length, then so many bytes. Three things bound it:

- Its parent waits for an answer no longer than it says, then kills it.
- A thread of the child ends it as soon as the other end of stdin is closed, which the system does
  for a parent that was killed.
- The system ends it when one piece of work has taken too much processor time, also where the
  interpreter's lock is never let go of, as within a regular expression, and nobody is left to care.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from typing import IO

from vector_memory.system.paths import PACKAGE_ROOT

LENGTH = struct.Struct(">I")
NICENESS = 10
"""Of a child: prompts come first."""
END_WAIT_S = 0.5
PIPE_BYTES = 65_536
PARENT_S = 5.0
"""How often a child looks for its parent where the system does not tell it at once."""
START = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
importlib.import_module(sys.argv[2]).main()
"""


_lock = threading.Lock()
_running: set[Child] = set()


def kill_all() -> None:
    """End every child that runs now: who waits for one gets no answer."""
    with _lock:
        for child in _running:
            child.kill()


class Child:
    """A running child process. One thread asks it; any thread may `kill` it.

    Args:
        module: the module whose `main` it runs.
        pycache: where it keeps its bytecode; by default where this process does.
    """

    def __init__(self, module: str, pycache: str | None = None) -> None:
        pycache = pycache or sys.pycache_prefix
        options = ["-X", f"pycache_prefix={pycache}"] if pycache else []
        self._process = subprocess.Popen(
            [sys.executable, "-I", *options, "-c", START, os.path.dirname(PACKAGE_ROOT), module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        os.set_blocking(self._in.fileno(), False)
        self._read = bytearray()
        with _lock:
            _running.add(self)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Its exit code, negative for the signal that ended it; None while it runs."""
        return self._process.poll()

    def send(self, content: bytes, timeout_s: float) -> bool:
        """Send a frame; whether the child took it in time."""
        deadline = time.monotonic() + timeout_s
        remaining = memoryview(LENGTH.pack(len(content)) + content)
        while remaining:
            if not _wait_ready(self._in, select.POLLOUT, deadline):
                return False
            try:
                remaining = remaining[os.write(self._in.fileno(), remaining) :]
            except BlockingIOError:
                continue
            except OSError:
                return False
        return True

    def receive(self, timeout_s: float) -> bytes | None:
        """Return the next frame, or None when the child has gone or is late."""
        deadline = time.monotonic() + timeout_s
        header = self._read_exactly(LENGTH.size, deadline)
        return None if header is None else self._read_exactly(LENGTH.unpack(header)[0], deadline)

    def kill(self) -> None:
        """End it at once, without waiting: who waits for its answer gets none."""
        self._process.kill()

    def end(self) -> None:
        """End it and wait until it has gone. What it was doing is of no use any more."""
        with _lock:
            _running.discard(self)
        for pipe in (self._in, self._out):
            with contextlib.suppress(OSError):
                pipe.close()
        try:
            self._process.wait(END_WAIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _read_exactly(self, size: int, deadline: float) -> bytes | None:
        while len(self._read) < size:
            if not _wait_ready(self._out, select.POLLIN, deadline):
                return None
            piece = os.read(self._out.fileno(), PIPE_BYTES)
            if not piece:
                # The pipe closes a moment before the process, with all its threads, has an exit code.
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(END_WAIT_S)
                return None
            self._read += piece
        content = bytes(self._read[:size])
        del self._read[:size]
        return content


def _wait_ready(pipe: IO[bytes], event: int, deadline: float) -> bool:
    """Wait until a pipe can be read or written, or its other end has gone; False when it is late."""
    poll = select.poll()
    poll.register(pipe.fileno(), event)
    return bool(poll.poll(max(0.0, deadline - time.monotonic()) * 1000))


# -- in the child ---------------------------------------------------------------------------------


def begin(patient: bool = False) -> tuple[IO[bytes], IO[bytes]]:
    """Make this process a child that gives way to others; return where requests come from and answers
    go to.

    Args:
        patient: whether it takes only what nobody else of the whole machine wants, and gives it back at once:
            the nicest of ordinary processes still keeps a prompt waiting for a moment. On a machine that is
            busy for long it hardly moves. Linux alone has that.
    """
    os.nice(NICENESS)
    if patient:
        with contextlib.suppress(AttributeError, OSError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    # The parent asks it to end by closing stdin; ^C in a terminal is meant for others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    watch = threading.Thread(
        target=_end_with_parent, args=(os.getppid(),), name="parent", daemon=True
    )
    watch.start()
    # What a library prints goes to stderr.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return sys.stdin.buffer, answers


def allow(cpu_s: float) -> None:
    """Begin a piece of work that may take so much processor time, of all threads together, until
    `allow` is called again; 0 for as much as it likes."""
    signal.setitimer(signal.ITIMER_PROF, cpu_s)


def _end_with_parent(parent: int) -> None:
    poll = select.poll()
    # Nothing but the end of the other side is waited for, whatever lies in the pipe.
    poll.register(sys.stdin.fileno(), 0)
    while not poll.poll(PARENT_S * 1000) and os.getppid() == parent:
        pass
    os._exit(0)


def read_frame(stream: IO[bytes]) -> bytes | None:
    """Return the next frame's content, or None when the other side has gone."""
    header = stream.read(LENGTH.size)
    if len(header) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(header)
    content = stream.read(length)
    return content if len(content) == length else None


def write_frame(stream: IO[bytes], content: bytes) -> None:
    """Write a frame."""
    stream.write(LENGTH.pack(len(content)))
    stream.write(content)
    stream.flush()
