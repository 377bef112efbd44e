"""Whether notes that were shown were used: a row for each in `state.db`, with what was known of it. No words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from vector_memory.errors import StoreFullError
from vector_memory.journal.rows import microseconds, moment
from vector_memory.journal.state_rows import StateTables

TABLES = (
    """CREATE TABLE use_labels(session TEXT NOT NULL, memory TEXT NOT NULL, at INTEGER NOT NULL,
        channel TEXT NOT NULL, kind TEXT NOT NULL, age_s REAL NOT NULL, worth REAL, prompt TEXT NOT NULL,
        features TEXT NOT NULL, used INTEGER NOT NULL, PRIMARY KEY (session, memory, at)) WITHOUT ROWID""",
    "CREATE INDEX use_labels_by_time ON use_labels(at)",
)
KEPT_FOR = timedelta(days=90)
MOST_KEPT = 10_000
_BUCKETS = {
    "channel": "channel",
    "kind": "kind",
    "age": "CASE WHEN age_s < 600 THEN '10 minutes' WHEN age_s < 86400 THEN 'a day'"
    " WHEN age_s < 604800 THEN 'a week' WHEN age_s < 2592000 THEN '30 days' ELSE 'older' END",
    "worth": "CASE WHEN worth IS NULL THEN 'none' ELSE printf('%.1f', CAST(worth * 10 AS INT) / 10.0) END",
}
_DAY = "date(at / 1000000, 'unixepoch')"
BY = tuple(_BUCKETS)
"""By what uses are counted: with what the note came, its memory's kind and age (up to), its worth (from)."""
SEARCH, REVIEW = "search", "review"
"""Channels of what the user said of hits and in reviews: verdicts, and no notes that a session was shown."""
_SHOWN = f"channel NOT IN ('{SEARCH}', '{REVIEW}')"


@dataclass(frozen=True)
class UseLabel:
    """Whether a note was used.

    Attributes:
        at: when it was shown, aware UTC.
        channel: with what it came: `prompt`, `start` or `failure`; `SEARCH` or `REVIEW` for a verdict.
        age_s: of its memory then, in seconds.
        worth: what it was worth where it was chosen, 0 … 1; None where it was not chosen so.
        prompt: what tells the session's prompts apart, "" where none was said.
        features: what the gate saw, by name.
    """

    session: str
    memory: str
    at: datetime
    channel: str
    kind: str
    age_s: float
    used: bool
    worth: float | None = None
    prompt: str = ""
    features: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class UseCount:
    """How many notes were shown, and how many of them used."""

    shown: int = 0
    used: int = 0


class UseLabels(StateTables):
    """Whether notes that were shown were used: a part of `State`."""

    def add_use_labels(self, labels: Iterable[UseLabel]) -> None:
        """Note whether notes were used, in the place of what was noted of them before, if that can be
        written."""
        rows = [
            (label.session, label.memory, microseconds(label.at), label.channel, label.kind, round(label.age_s, 1),
             label.worth, label.prompt, json.dumps(dict(label.features)), int(label.used))
            for label in labels
        ]  # fmt: skip
        with suppress(StoreFullError):
            self._connections.write(
                f"INSERT OR REPLACE INTO use_labels VALUES ({'?, ' * 9}?)", rows
            )

    def use_labels(self) -> list[UseLabel]:
        """Return what is known of notes that were shown, the oldest first."""
        rows = self._connections.rows("SELECT * FROM use_labels ORDER BY at, memory")
        return [
            UseLabel(session, memory, moment(at), channel, kind, age_s, bool(used), worth, prompt, json.loads(features))
            for session, memory, at, channel, kind, age_s, worth, prompt, features, used in rows
        ]  # fmt: skip

    def used_notes(self, session: str) -> dict[str, datetime]:
        """Return which memories a session was shown and used, each with when it was shown last."""
        sql = (
            "SELECT memory, max(at) FROM use_labels WHERE session = ? AND used = 1 GROUP BY memory"
        )
        return {memory: moment(at) for memory, at in self._connections.rows(sql, (session,))}

    def use_counts(self, by: str, since: datetime) -> dict[str, UseCount]:
        """Return how many notes were shown since a time and how many of them used, by one of `BY`, or by `day`."""
        sql = (
            f"SELECT {_BUCKETS.get(by, _DAY)}, count(*), sum(used) FROM use_labels WHERE at >= ? AND {_SHOWN}"
            " GROUP BY 1 ORDER BY 2 DESC, 1"
        )
        rows = self._connections.rows(sql, (microseconds(since),))
        return {name: UseCount(shown, used) for name, shown, used in rows}

    def gate_uses(self, since: datetime) -> UseCount:
        """Return how many notes were shown and used, of all that the gate let pass."""
        sql = (
            "SELECT count(*), coalesce(sum(used), 0) FROM use_labels"
            " WHERE at >= ? AND channel = 'prompt' AND features != '{}'"
        )
        return UseCount(*self._connections.rows(sql, (microseconds(since),))[0])
