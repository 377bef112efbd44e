"""Transcripts read in a process of low priority, so that a backfill does not slow prompts down."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from vector_memory.frames import read_frame, write_frame
from vector_memory.index.memories import Draft
from vector_memory.paths import PACKAGE_ROOT
from vector_memory.service.reading import Ask, Read
from vector_memory.service.reading_worker import draft_of, read_of, request_of

STOP_TIMEOUT_S = 5.0
START = """
import sys
sys.path.insert(0, sys.argv[1])
from vector_memory.service.reading_worker import main
main()
"""


class ReadingProcess:
    """A process that reads transcripts, for one thread, until `close`.

    Args:
        pycache: where it keeps its bytecode; by default where this process does.
    """

    def __init__(self, pycache: str | None = None) -> None:
        self._pycache = pycache or sys.pycache_prefix
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> ReadingProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The process's id, None while there is none."""
        return self._process.pid if self._process is not None else None

    def read_all(self, asks: Iterable[Ask]) -> Iterator[tuple[Ask, Read | OSError]]:
        """Yield each reading in order, or why there is none. While one is stored the next is read."""
        waiting: deque[Ask] = deque()
        for ask in chain(asks, (None,)):
            if ask is not None:
                waiting.append(ask)
                self._send(ask)
            while len(waiting) > (ask is not None):
                made = self._receive()
                yield waiting.popleft(), made
                if self._process is None:
                    for one in waiting:
                        self._send(one)

    def close(self) -> None:
        """End the process; the next reading starts another."""
        process, self._process = self._process, None
        if process is not None:
            _end(process)

    def _send(self, ask: Ask) -> None:
        if self._process is None:
            self._process = self._start()
        assert self._process.stdin is not None
        # Where the process has gone, the answer that does not come tells so.
        with contextlib.suppress(OSError):
            write_frame(self._process.stdin, json.dumps(request_of(ask)).encode())

    def _receive(self) -> Read | OSError:
        assert self._process is not None and self._process.stdout is not None
        drafts: list[Draft] = []
        while (frame := read_frame(self._process.stdout)) is not None:
            message: dict[str, Any] = json.loads(frame)
            if "error" in message:
                return OSError(message["error"])
            if "read" in message:
                return read_of(message["read"], drafts)
            drafts += [draft_of(values) for values in message["drafts"]]
        self.close()
        return OSError("the process that read it has ended")

    def _start(self) -> subprocess.Popen[bytes]:
        options = ["-X", f"pycache_prefix={self._pycache}"] if self._pycache else []
        return subprocess.Popen(
            [sys.executable, "-I", *options, "-c", START, os.path.dirname(PACKAGE_ROOT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close the pipes, which ends it; kill it if it does not."""
    assert process.stdin is not None and process.stdout is not None
    for pipe in (process.stdin, process.stdout):
        # What could not be flushed: the process has gone already.
        with contextlib.suppress(OSError):
            pipe.close()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
