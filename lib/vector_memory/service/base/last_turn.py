"""What the daemon keeps in memory of running sessions, never on the disk: the last turn's words, for
prompts that point back to them, what was asked, and when a session was compacted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from vector_memory.service.base.session_memory import Running

KEPT_CHARS = 1_200
ASKED_CHARS = 4_000
FIRST_ASKED, MOST_ASKED = 4, 16


@dataclass
class SessionTail:
    """A session's last words."""

    prompt: str = ""
    answer: str = ""
    compacted_at: datetime | None = None
    asked: tuple[str, ...] = ()
    """Its first prompts and its last ones, each cut: what it is for."""

    def hear(self, prompt: str) -> None:
        """Take a prompt in."""
        self.prompt = prompt
        asked = (*self.asked, prompt[:ASKED_CHARS])
        self.asked = (
            asked if len(asked) <= MOST_ASKED else asked[:FIRST_ASKED] + asked[FIRST_ASKED + 1 :]
        )

    @property
    def words(self) -> str:
        """The last prompt and answer, the newest last."""
        return f"{self.prompt[-KEPT_CHARS // 2 :]}\n{self.answer[-KEPT_CHARS:]}".strip()


def last_turn(running: Running, session: str) -> SessionTail:
    """Return a session's last turn; it may be changed in place."""
    return running.of("turn", session, SessionTail)
