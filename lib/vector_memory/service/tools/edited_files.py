"""What running sessions changed in their present turn, in memory alone: whoever edits needs the files as
they are, not what was remembered of them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable

from vector_memory.service.base.session_memory import Running

MOST_FILES = 200


class Edits:
    """The files that a session edited, and in which turn it did so last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turn: str | None = None
        self._files: dict[str, None] = {}

    def add(self, turn: str, files: Iterable[str]) -> None:
        """Note that the session edits files, by their absolute paths; they may be unknown."""
        with self._lock:
            self._turn = turn
            self._files.update((os.path.normpath(file), None) for file in files)
            while len(self._files) > MOST_FILES:
                del self._files[next(iter(self._files))]

    def in_turn(self, turn: str) -> bool:
        """Whether the session has edited anything in this turn."""
        with self._lock:
            return self._turn == turn

    def touch(self, path: str) -> bool:
        """Whether the session edited a file, or one below a folder."""
        path = os.path.normpath(path)
        with self._lock:
            return any(file == path or file.startswith(path + os.sep) for file in self._files)


def edits_of(running: Running, session: str) -> Edits:
    """Return what a session edited."""
    return running.of("edits", session, Edits)
