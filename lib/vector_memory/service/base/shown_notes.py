"""What hooks showed in running sessions and nobody has judged yet, in memory alone: when a turn has ended, what
followed tells whether it was used."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from vector_memory.model import digest_of
from vector_memory.service.base.session_memory import Running
from vector_memory.text import fence

PROMPT, START, FAILURE, PROCEDURES = "prompt", "start", "failure", "procedure"
"""Channels: with what a note came."""
MOST_WAITING = 64


@dataclass(frozen=True)
class Worth:
    """What a note was worth where it was chosen, 0 … 1, and the features that the gate saw; none where no
    gate was asked."""

    value: float
    features: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ShownNote:
    """A note as it was shown.

    Attributes:
        memory: its memory's id.
        prompt: a hash of the session's name and the prompt: tells prompts apart, and nothing of their words.
        worth: None where it was not chosen by worth.
    """

    memory: str
    text: str
    at: datetime
    channel: str
    prompt: str = ""
    worth: Worth | None = None


class Waiting:
    """The notes of one session that are not judged yet."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._notes: list[ShownNote] = []

    def add(self, notes: Iterable[ShownNote]) -> None:
        """Add notes; of too many the oldest go."""
        with self._lock:
            self._notes = [*self._notes, *notes][-MOST_WAITING:]

    def notes(self) -> list[ShownNote]:
        """Return them, the oldest first."""
        with self._lock:
            return list(self._notes)

    def drop(self, notes: Sequence[ShownNote]) -> None:
        """Let go of notes that are judged for good."""
        dropped = set(map(id, notes))
        with self._lock:
            self._notes = [note for note in self._notes if id(note) not in dropped]


def waiting(running: Running, session: str) -> Waiting:
    """Return a session's notes that are not judged yet."""
    return running.session("shown", session, Waiting)


@dataclass(frozen=True)
class Showing:
    """With what notes are shown, for those that are to be judged: the channel, the prompt, and what each was
    worth by its memory's id."""

    channel: str
    prompt: str = ""
    worths: Mapping[str, Worth] = field(default_factory=dict)

    def waiting_notes(
        self, session: str, notes: Sequence[fence.Note], at: datetime
    ) -> list[ShownNote]:
        """Return notes as they wait for their judgement."""
        prompt = digest_of(session, self.prompt, size=8) if self.prompt else ""
        return [
            ShownNote(note.id, note.text, at, self.channel, prompt, self.worths.get(note.id))
            for note in notes
        ]
