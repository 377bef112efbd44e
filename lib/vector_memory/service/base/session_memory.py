"""What is kept in memory of running sessions, never on the disk: objects of several kinds, each made by the module
that needs it, so that nothing heavy is imported here; among them the last turn's words, for the next question."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

MOST = 1_024
"""Objects, of which a session has three."""
T = TypeVar("T")


class Running:
    """One object of each kind for each of the sessions seen most recently."""

    def __init__(self) -> None:
        self._objects: OrderedDict[tuple[str, str], Any] = OrderedDict()
        self._lock = threading.Lock()

    def session(self, kind: str, session: str, make: Callable[[], T]) -> T:
        """Return a session's object, made when it is asked for the first time."""
        with self._lock:
            existing = self._objects.get((kind, session))
            if existing is not None:
                self._objects.move_to_end((kind, session))
                return existing  # type: ignore[no-any-return]
        new_object = make()
        with self._lock:
            stored_object = self._objects.setdefault((kind, session), new_object)
            while len(self._objects) > MOST:
                self._objects.popitem(last=False)
            return stored_object  # type: ignore[no-any-return]

    def knows(self, session: str) -> bool:
        """Whether something is kept of a session, which a hook has told of then."""
        with self._lock:
            return any(owner == session for _, owner in self._objects)

    def clear(self) -> None:
        """Forget everything: words of it may have been purged."""
        with self._lock:
            self._objects.clear()


KEPT_CHARS = 1_200
ASKED_CHARS = 4_000
FIRST_ASKED, MOST_ASKED = 4, 16


@dataclass
class SessionTail:
    """A session's last words, and who speaks.

    Attributes:
        client: the process that the session runs in, by its number and start; None where that is not known.
        is_over: whether it was ended in order, or read to its end since.
    """

    client: tuple[int, int] | None = None
    is_over: bool = False
    prompt: str = ""
    answer: str = ""
    compacted_at: datetime | None = None
    asked: tuple[str, ...] = ()
    """Its first prompts and its last ones, each cut: what it is for."""

    def hear(self, prompt: str) -> None:
        """Take a prompt in."""
        self.prompt = prompt
        prompts = (*self.asked, prompt[:ASKED_CHARS])
        self.asked = (
            prompts
            if len(prompts) <= MOST_ASKED
            else prompts[:FIRST_ASKED] + prompts[FIRST_ASKED + 1 :]
        )

    @property
    def words(self) -> str:
        """The last prompt and answer, the newest last."""
        return f"{self.prompt[-KEPT_CHARS // 2 :]}\n{self.answer[-KEPT_CHARS:]}".strip()


def last_turn(running: Running, session: str) -> SessionTail:
    """Return a session's last turn; it may be changed in place."""
    return running.session("turn", session, SessionTail)
