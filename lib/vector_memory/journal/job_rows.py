"""What is known of each job: when it is due, how its last run ended, and where a run that was interrupted
goes on; and how files stood that a job follows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from vector_memory.journal.rows import microseconds, moment, text_hash
from vector_memory.journal.state_rows import StateTables

TABLES = (
    """CREATE TABLE jobs(name TEXT PRIMARY KEY, enabled INTEGER NOT NULL, due INTEGER, started INTEGER,
        ended INTEGER, outcome TEXT NOT NULL, message TEXT NOT NULL, failures INTEGER NOT NULL,
        took REAL NOT NULL, cursor TEXT NOT NULL, report TEXT NOT NULL) WITHOUT ROWID""",
    # A file's name may say what was purged from memory: its hash tells as well whether it was read.
    """CREATE TABLE followed(folder TEXT NOT NULL, name BLOB NOT NULL, stamp TEXT NOT NULL,
        PRIMARY KEY (folder, name)) WITHOUT ROWID""",
)
RUNNING, OK, FAILED, WAITS = "running", "ok", "failed", "waits"
"""How a job's last run stands: `waits` for what is not there, such as a setting or a model."""


@dataclass(frozen=True)
class JobRow:
    """A job as the state knows it. Times are aware UTC.

    Attributes:
        due_at: when it runs next, None for a job that runs only when it is asked for.
        outcome: one of `RUNNING`, `OK`, `FAILED`, `WAITS`; "" before its first run.
        failures: how often in a row it failed.
        took_s: how long its steps took, in seconds, of the run that is going on or ended last.
        cursor: where the run that is going on goes on, {} where none is.
        report: what that run did so far, or the last one did.
    """

    name: str
    enabled: bool = True
    due_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    outcome: str = ""
    message: str = ""
    failures: int = 0
    took_s: float = 0.0
    cursor: Mapping[str, object] = field(default_factory=dict)
    report: Mapping[str, object] = field(default_factory=dict)


def write(connection: sqlite3.Connection, rows: Iterable[JobRow]) -> None:
    """Write rows in the place of those of their names."""
    marks = ", ".join("?" * len(fields(JobRow)))
    connection.executemany(
        f"INSERT OR REPLACE INTO jobs VALUES ({marks})",
        [[_column_value(getattr(row, column.name)) for column in fields(JobRow)] for row in rows],
    )


def _column_value(value: object) -> object:
    if isinstance(value, datetime):
        return microseconds(value)
    return json.dumps(value) if isinstance(value, Mapping) else value


def _job_row(name: str, enabled: int, *columns: Any) -> JobRow:
    times: list[Any] = [None if at is None else moment(at) for at in columns[:3]]
    return JobRow(name, bool(enabled), *times, *columns[3:7], *map(json.loads, columns[7:]))


class JobRows(StateTables):
    """What is known of jobs, and the stamps of followed files: a part of `State`."""

    def jobs(self) -> dict[str, JobRow]:
        """Return what is known of each job, by its name."""
        rows = self._connections.rows("SELECT * FROM jobs ORDER BY name")
        return {row[0]: _job_row(*row) for row in rows}

    def hasten_job(self, name: str, at: datetime) -> None:
        """Let a job that is enabled, and is not being run, be due at a time at the latest."""
        sql = "UPDATE jobs SET due = min(due, ?) WHERE name = ? AND enabled AND outcome != ?"
        self._connections.write(sql, [(microseconds(at), name, RUNNING)])

    def unread_files(self, folder: str, stamps_now: Mapping[str, str]) -> list[str]:
        """Return the files below a folder whose stamps are not those that were noted when they were read, sorted.

        Args:
            stamps_now: path → stamp.
        """
        sql = "SELECT name, stamp FROM followed WHERE folder = ?"
        stamps = dict(self._connections.rows(sql, (folder,)))
        return sorted(
            path for path, stamp in stamps_now.items() if stamps.get(text_hash(path)) != stamp
        )

    def follow(
        self, folder: str, stamps: Mapping[str, str], present: Iterable[str] | None = None
    ) -> None:
        """Note the stamps of files below a folder that were read; those that are not `present` are followed no more.
        Files whose stamps a power cut takes are read again."""
        rows = [(folder, text_hash(path), stamp) for path, stamp in stamps.items()]
        with self._connections.writing() as connection:
            connection.executemany("INSERT OR REPLACE INTO followed VALUES (?, ?, ?)", rows)
            if present is not None:
                present_names = {text_hash(path) for path in present}
                sql = "SELECT name FROM followed WHERE folder = ?"
                names = connection.execute(sql, (folder,)).fetchall()
                absent = [(folder, name) for (name,) in names if name not in present_names]
                connection.executemany("DELETE FROM followed WHERE folder = ? AND name = ?", absent)
