"""Uses are counted in memory and written in batches: a prompt must not wait for a disk to sync, and
nothing depends on the last half minute of them."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from vector_memory.errors import VectorMemoryError

if TYPE_CHECKING:
    from vector_memory.service.base.shelf import Shelf

log = logging.getLogger(__name__)

EVERY_S = 30.0
"""How long uses may wait. A daemon that is killed loses so much of them."""
MOST = 256


class Uses:
    """Uses that are not written yet.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: dict[int, tuple[Shelf, Counter[str | int]]] = {}
        self._since: float | None = None
        self._last_at: datetime | None = None

    def count(self, shelf: Shelf, ids: Sequence[str], at: datetime) -> None:
        """Count one use of each memory of a store."""
        with self._lock:
            self._counts.setdefault(id(shelf), (shelf, Counter()))[1].update(ids)
            self._since = self._clock() if self._since is None else self._since
            self._last_at = at

    @property
    def is_due(self) -> bool:
        """Whether it is time to write."""
        with self._lock:
            waiting = sum(len(counts) for _, counts in self._counts.values())
            waited = self._since is not None and self._clock() - self._since >= EVERY_S
            return waiting >= MOST or waited

    def write(self) -> int:
        """Write all of them, one transaction a store; return how many memories they were of."""
        with self._lock:
            counts, at = self._counts, self._last_at
            self._counts, self._since = {}, None
        written = 0
        for shelf, uses in counts.values():
            if at is not None and shelf.journal.writable:
                try:
                    shelf.journal.touch(uses, at)
                    written += len(uses)
                except VectorMemoryError as error:
                    log.warning("uses in %s are not counted: %s", shelf.folder, error)
        return written
