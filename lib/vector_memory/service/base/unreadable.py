"""Transcripts that could not be read within their budget: they are not tried again at each turn's end."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable

AGAIN_S = 3_600.0
GROWN = 1.5
"""How long such a file is left alone, unless it has grown to so many times its size or was cut: then it is tried again."""
MOST = 256


class Hopeless:
    """Files whose reading took too long, as long as they stay what they were. In memory: the next daemon
    tries them once more."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._files: dict[str, tuple[int, float]] = {}

    def add(self, path: str) -> None:
        """Leave a file alone for a while."""
        with contextlib.suppress(OSError):
            while len(self._files) >= MOST:
                self._files.pop(next(iter(self._files)))
            self._files[path] = (os.path.getsize(path), self._clock())

    def clear(self) -> None:
        """Leave no file alone any more."""
        self._files.clear()

    def holds(self, path: str) -> bool:
        """Whether a file is left alone now."""
        entry = self._files.get(path)
        if entry is None:
            return False
        size, at = entry
        with contextlib.suppress(OSError):
            current_size = os.path.getsize(path)
            if size <= current_size < GROWN * size and self._clock() - at < AGAIN_S:
                return True
        self._files.pop(path, None)
        return False
