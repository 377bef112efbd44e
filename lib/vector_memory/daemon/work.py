"""Background threads: work in order, one after the other, errors logged and counted."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable

log = logging.getLogger(__name__)

Work = Callable[[], object]


class Worker:
    """A thread that does what it is given, in order.

    Args:
        name: the thread's name.
        failed: is told of an error by the name.
        pause_s: how long to wait before each piece of work, so that who asked for it has their
            answer first.
    """

    def __init__(
        self, name: str, failed: Callable[[str, BaseException], None], pause_s: float = 0.0
    ) -> None:
        self._pause_s = pause_s
        self._queue: queue.Queue[Work | None] = queue.Queue()
        self._failed = failed
        self._name = name
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._since: float | None = None
        self._stopping = False

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def put(self, work: Work) -> None:
        """Have something done when its turn comes."""
        self._queue.put(work)

    @property
    def idle(self) -> bool:
        """Whether nothing is being done or waits to be done."""
        return self._queue.empty() and self._since is None

    @property
    def took_s(self) -> float:
        """How long it has been at what it does now, in seconds; 0 when it does nothing."""
        since = self._since
        return 0.0 if since is None else time.monotonic() - since

    def drop(self) -> None:
        """End after what is being done now; what is waiting is not begun any more."""
        self._stopping = True
        self._queue.put(None)

    def finish(self) -> None:
        """End after what is waiting now."""
        self._queue.put(None)

    def join(self, until: float) -> bool:
        """Wait for its end until a time of the monotonic clock; whether it has ended."""
        if self._thread.is_alive():
            self._thread.join(max(0.0, until - time.monotonic()))
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (work := self._queue.get()) is not None and not self._stopping:
            self._since = time.monotonic()
            time.sleep(self._pause_s)
            try:
                work()
            except Exception as error:
                self._failed(self._name, error)
            finally:
                self._since = None
