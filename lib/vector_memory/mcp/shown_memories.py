"""Which memories this server has shown: only what was shown can be deleted. A text that somebody planted
may name an id; it cannot show one."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

from vector_memory.errors import BadInputError

SHORT = 12
"""Digits of an id as it is shown."""
LEAST = 8
MOST_AT_ONCE = 20


class Shown:
    """The ids of the memories whose words were in an earlier answer of this process."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}
        self._is_told = False
        self._lock = threading.Lock()

    def add(self, ids: Iterable[str]) -> None:
        """Note memories as shown."""
        with self._lock:
            for id in ids:
                self._ids[id[:SHORT]] = id

    def owes_notice(self) -> bool:
        """Whether something was shown and the notice about it is still due; only the first such call says yes."""
        with self._lock:
            owed = bool(self._ids) and not self._is_told
            self._is_told = self._is_told or owed
        return owed

    def chosen(self, prefixes: Sequence[str]) -> list[str]:
        """Return the whole ids of memories that are to be deleted or settled.

        Raises:
            BadInputError: there are none or too many, or one was not shown.
        """
        if not 0 < len(prefixes) <= MOST_AT_ONCE:
            raise BadInputError(
                f"Between 1 and {MOST_AT_ONCE} ids can be given at once.", "Give fewer ids."
            )
        return list(dict.fromkeys(self._whole_id(prefix.strip().lower()) for prefix in prefixes))

    def _whole_id(self, prefix: str) -> str:
        with self._lock:
            ids = [id for id in self._ids.values() if id.startswith(prefix)]
        if len(ids) == 1 and len(prefix) >= LEAST:
            return ids[0]
        raise BadInputError(
            f"Memory {prefix[:SHORT]!r} was not shown in this session, so nothing was changed.",
            "Search first (memory_forget with query, memory_recall or list_memories), "
            "then give the ids that it shows.",
        )
