"""An event loop in a thread, so that LanceDB's asynchronous interface can be called from any
thread. Its synchronous interface crosses threads six times for each query; this one once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """A running event loop of its own. `close()` ends it."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` in the loop, wait for it, and return its result or raise its error."""
        return self.start(work).result()

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin `work` in the loop without waiting for it.

        Returns:
            The future of its result.
        """
        if self._loop.is_closed():
            # Else Python warns of a coroutine that nobody waited for.
            work.close()
            raise RuntimeError("the event loop is closed")
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self) -> None:
        """Stop the loop and wait for its thread."""
        if self._loop.is_closed():
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
