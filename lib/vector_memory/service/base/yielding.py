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


class Filling:
    """Whether many texts are being stored at once: what can be done later then waits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._going_on = 0

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Many texts are stored within this block.

        Returns:
            A block for `with`.
        """
        with self._lock:
            self._going_on += 1
        try:
            yield
        finally:
            with self._lock:
                self._going_on -= 1

    def __bool__(self) -> bool:
        return self._going_on > 0


class Hooks:
    """Which hooks are being answered."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._active = 0
        self._last = float("-inf")

    @contextmanager
    def answering(self) -> Iterator[None]:
        """A hook is answered within this block.

        Returns:
            A block for `with`.
        """
        with self._lock:
            self._active += 1
        try:
            yield
        finally:
            with self._lock:
                self._active -= 1
                self._last = time.monotonic()

    def give_way(self) -> None:
        """Wait while hooks are answered, though not for ever."""
        until = time.monotonic() + LONGEST_S
        while time.monotonic() < until and self._busy():
            time.sleep(STEP_S)

    def _busy(self) -> bool:
        return self._active > 0 or time.monotonic() - self._last < AFTER_S
