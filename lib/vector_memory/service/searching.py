"""What running sessions changed in their present turn, in memory alone: whoever edits needs the files as
they are, not what was remembered of them."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterable

MOST_SESSIONS = 256
MOST_FILES = 200


class Edits:
    """The files that sessions edited, and in which turn each of them did so last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: OrderedDict[str, str] = OrderedDict()
        self._files: dict[str, OrderedDict[str, None]] = {}

    def add(self, session: str, turn: str, files: Iterable[str]) -> None:
        """Note that a session edits files, by their absolute paths; they may be unknown."""
        with self._lock:
            self._turns[session] = turn
            self._turns.move_to_end(session)
            known = self._files.setdefault(session, OrderedDict())
            known.update((os.path.normpath(one), None) for one in files)
            while len(known) > MOST_FILES:
                known.popitem(last=False)
            while len(self._turns) > MOST_SESSIONS:
                self._files.pop(self._turns.popitem(last=False)[0], None)

    def in_turn(self, session: str, turn: str) -> bool:
        """Whether a session has edited anything in this turn."""
        with self._lock:
            return self._turns.get(session) == turn

    def touch(self, session: str, path: str) -> bool:
        """Whether a session edited a file, or one below a folder."""
        path = os.path.normpath(path)
        with self._lock:
            return any(
                one == path or one.startswith(path + os.sep) for one in self._files.get(session, ())
            )
