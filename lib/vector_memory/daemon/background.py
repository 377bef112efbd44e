"""Background threads: one piece of work after the other, errors logged and counted, and none that takes
long keeps the others waiting."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial

log = logging.getLogger(__name__)

Work = Callable[[], object]
MOST_LEFT = 4
"""How many threads at once are left to what they are at. Each is memory, and what hangs is ended with the
daemon (`App.hung`)."""


class Relay:
    """A thread that works in pieces. No thread can be ended from outside: one that is at a piece for too
    long is left to it, and another goes on with the rest.

    Args:
        name: the thread's name.
        patience_s: how long the rest waits for one piece.
    """

    def __init__(self, name: str, patience_s: float) -> None:
        self.name = name
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._since: float | None = None
        self._stuck_threads: dict[threading.Thread, float] = {}
        self._thread = self._new_thread()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    @property
    def took_s(self) -> float:
        """How long it has been at the oldest piece that is not done, in seconds; 0 when there is none."""
        with self._lock:
            begun = [*self._stuck_threads.values(), *([] if self._since is None else [self._since])]
        return time.monotonic() - min(begun) if begun else 0.0

    def relieve(self) -> bool:
        """Let another thread go on where this one has been at a piece for too long; whether it has."""
        with self._lock:
            since = self._since
            if since is None or time.monotonic() - since < self._patience_s:
                return False
            if len(self._stuck_threads) >= MOST_LEFT:
                return False
            self._stuck_threads[self._thread] = since
            self._since = None
            self._thread = self._new_thread()
            self._leave()
        log.warning("the %s takes long over one piece of work; another goes on", self.name)
        self._thread.start()
        return True

    def join(self, deadline: float) -> bool:
        """Wait for its end until a time of the monotonic clock; whether all of it has ended."""
        with self._lock:
            threads = [self._thread, *self._stuck_threads]
        for thread in threads:
            if thread.is_alive():
                thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in threads)

    @property
    def _in_charge(self) -> bool:
        return threading.current_thread() not in self._stuck_threads

    @contextmanager
    def _piece(self) -> Iterator[None]:
        """Count what is done in this block as one piece of work."""
        with self._lock:
            self._since = time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                if self._in_charge:
                    self._since = None

    def _leave(self) -> None:
        """Note the work that stays with a thread which another one replaces."""

    def _new_thread(self) -> threading.Thread:
        return threading.Thread(target=self._run_to_end, name=self.name, daemon=True)

    def _run_to_end(self) -> None:
        try:
            self._run()
        finally:
            with self._lock:
                self._stuck_threads.pop(threading.current_thread(), None)

    def _run(self) -> None:
        """Work until there is nothing more to do, or another thread is in charge."""
        raise NotImplementedError


class Worker(Relay):
    """A thread that does what it is given, in order.

    Args:
        name: the thread's name.
        failed: is told of an error by the name.
        pause_s: how long to wait before each piece of work, so that who asked for it has their
            answer first.
        patience_s: how long the rest waits for one piece.
    """

    def __init__(
        self,
        name: str,
        failed: Callable[[str, BaseException], None],
        pause_s: float = 0.0,
        patience_s: float = 30.0,
    ) -> None:
        super().__init__(name, patience_s)
        self._pause_s = pause_s
        self._queue: queue.Queue[Work | None] = queue.Queue()
        self._failed = failed
        self._stopping = False

    def put(self, work: Work) -> None:
        """Have something done when its turn comes."""
        # It runs under the privacy rules of whoever queued it.
        self._queue.put(partial(copy_context().run, work))

    @property
    def idle(self) -> bool:
        """Whether nothing is being done or waits to be done."""
        return self._queue.empty() and self._since is None and not self._stuck_threads

    def drop(self) -> None:
        """End after what is being done now; what is waiting is not begun any more."""
        self._stopping = True
        self._queue.put(None)

    def finish(self) -> None:
        """End after what is waiting now."""
        self._queue.put(None)

    def _run(self) -> None:
        while self._in_charge and (work := self._queue.get()) is not None and not self._stopping:
            with self._piece():
                time.sleep(self._pause_s)
                try:
                    work()
                except Exception as error:
                    self._failed(self.name, error)
