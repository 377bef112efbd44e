"""Background work gives way to hooks: they share one interpreter, and somebody waits for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

AFTER_S = 0.03
"""A hook's answer is followed by another's, more often than not."""
LONGEST_S = 0.3
STEP_S = 0.004


class GoingOn:
    """Whether something is going on, by however many threads at once, and when it ended last.

    Attributes:
        told: how far a backfill is, {} where none runs: what it is `doing`, how much of it is `done`, of how much.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self.told: dict[str, object] = {}
        self._ended_s = float("-inf")

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """It goes on within this block.

        Returns:
            A block for `with`.
        """
        with self._lock:
            self._count += 1
        try:
            yield
        finally:
            with self._lock:
                self._count -= 1
                self._ended_s = time.monotonic()

    def __bool__(self) -> bool:
        return self._count > 0


class Hooks(GoingOn):
    """Whether hooks are being answered."""

    def give_way(self) -> None:
        """Wait while hooks are answered, though not for ever."""
        deadline = time.monotonic() + LONGEST_S
        while time.monotonic() < deadline and (self or time.monotonic() - self._ended_s < AFTER_S):
            time.sleep(STEP_S)
