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
        self._busy = threading.Event()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def put(self, work: Work) -> None:
        """Have something done when its turn comes."""
        self._queue.put(work)

    @property
    def idle(self) -> bool:
        """Whether nothing is being done or waits to be done."""
        return self._queue.empty() and not self._busy.is_set()

    def stop(self, wait_s: float) -> None:
        """End after what is waiting now, or after `wait_s`."""
        self._queue.put(None)
        if self._thread.is_alive():
            self._thread.join(wait_s)

    def _run(self) -> None:
        while (work := self._queue.get()) is not None:
            self._busy.set()
            time.sleep(self._pause_s)
            try:
                work()
            except Exception as error:
                self._failed(self._name, error)
            finally:
                self._busy.clear()
