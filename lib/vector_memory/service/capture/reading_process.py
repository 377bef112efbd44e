"""Transcripts read in a process of low priority, so that a backfill does not slow prompts down."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain

from vector_memory.index.memories import Draft
from vector_memory.index.reader import TurnRead
from vector_memory.service.capture.read_session import ReadRequest
from vector_memory.service.capture.reading_worker import reading_s, request_frame, take_frame
from vector_memory.system.children import Child

SEND_S = 60.0
PATIENCE = 8
"""How many times the processor time of a reading it may take by the clock, on a busy machine."""


class ReadingProcess:
    """A process that reads transcripts, for one thread, until `close`.

    Args:
        pycache: where it keeps its bytecode; by default where this process does.
    """

    def __init__(self, pycache: str | None = None) -> None:
        self._pycache = pycache
        self._child: Child | None = None

    def __enter__(self) -> ReadingProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The process's id, None while there is none."""
        return self._child.pid if self._child is not None else None

    def read_all(
        self, requests: Iterable[ReadRequest]
    ) -> Iterator[tuple[ReadRequest, TurnRead | OSError]]:
        """Yield each reading in order, or why there is none. While the caller stores one, the next is read."""
        waiting: deque[ReadRequest] = deque()
        for request in chain(requests, (None,)):
            if request is not None:
                waiting.append(request)
                self._send(request)
            while len(waiting) > (request is not None):
                oldest = waiting.popleft()
                yield oldest, self._receive(oldest)
                if self._child is None:
                    for later in waiting:
                        self._send(later)

    def close(self) -> None:
        """End the process; the next reading starts another."""
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def _send(self, request: ReadRequest) -> None:
        if self._child is None:
            self._child = Child("vector_memory.service.capture.reading_worker", self._pycache)
        # Where the child has gone or hangs, the answer that does not come tells so.
        self._child.send(request_frame(request), SEND_S)

    def _receive(self, request: ReadRequest) -> TurnRead | OSError:
        assert self._child is not None
        drafts: list[Draft] = []
        patience_s = PATIENCE * reading_s(request)
        while (frame := self._child.receive(patience_s)) is not None:
            if (result := take_frame(frame, drafts)) is not None:
                return result
        is_late = self._child.exit_code is None
        self.close()
        return OSError(
            "reading it takes too long" if is_late else "the process that read it has ended"
        )
