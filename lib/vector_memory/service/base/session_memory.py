"""What is kept in memory of running sessions, never on the disk. Nothing heavy is imported: whoever looks on
makes his own."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

MOST = 1_024
"""Objects, of which a session has three."""
T = TypeVar("T")


class Running:
    """One object of each kind for each of the sessions seen most recently."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], Any] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, kind: str, session: str, make: Callable[[], T]) -> T:
        """Return a session's object, made when it is asked for the first time."""
        with self._lock:
            existing = self._kept.get((kind, session))
            if existing is not None:
                self._kept.move_to_end((kind, session))
                return existing  # type: ignore[no-any-return]
        made = make()
        with self._lock:
            kept = self._kept.setdefault((kind, session), made)
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)
            return kept  # type: ignore[no-any-return]

    def clear(self) -> None:
        """Forget everything: words of it may have been purged."""
        with self._lock:
            self._kept.clear()
