"""The tables of `state.db`. To change them, append a migration; never edit a released one."""

from __future__ import annotations

import sqlite3

from vector_memory.journal import job_rows, kept_records, use_labels
from vector_memory.journal.migrations import Migration

_TABLES = (
    "CREATE TABLE cursors(path TEXT PRIMARY KEY, cursor TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE shown(session TEXT NOT NULL, memory TEXT NOT NULL, at INTEGER NOT NULL,
        PRIMARY KEY (session, memory)) WITHOUT ROWID""",
    "CREATE INDEX shown_by_time ON shown(at)",
    "CREATE TABLE trusted(folder TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE counters(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    """CREATE TABLE sessions(session TEXT PRIMARY KEY, project TEXT NOT NULL, root TEXT NOT NULL,
        at INTEGER NOT NULL) WITHOUT ROWID""",
    # AUTOINCREMENT remembers the last number given, so that a cut-off end is noticed.
    """CREATE TABLE audit(number INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL,
        action TEXT NOT NULL, actor TEXT NOT NULL, ids TEXT NOT NULL, detail TEXT NOT NULL,
        previous BLOB NOT NULL, digest BLOB NOT NULL)""",
)


def _create(connection: sqlite3.Connection) -> None:
    """Version 1: all tables."""
    for statement in _TABLES:
        connection.execute(statement)


def _add_due(connection: sqlite3.Connection) -> None:
    """Version 2: what is still to be done for sessions."""
    connection.execute(
        "CREATE TABLE due(task TEXT NOT NULL, session TEXT NOT NULL, PRIMARY KEY (task, session))"
        " WITHOUT ROWID"
    )


def _add_purged(connection: sqlite3.Connection) -> None:
    """Version 3: what was purged and must not be captured again: hashes of names, no words."""
    connection.execute(
        "CREATE TABLE purged(name BLOB PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID"
    )


def _add_store_ids(connection: sqlite3.Connection) -> None:
    """Version 4: which store is trusted in a folder, by its random id; "" until it is opened."""
    connection.execute("ALTER TABLE trusted ADD COLUMN store_id TEXT NOT NULL DEFAULT ''")


def _add_use_labels(connection: sqlite3.Connection) -> None:
    """Version 5: whether notes that were shown were used."""
    for statement in use_labels.TABLES:
        connection.execute(statement)


def _add_jobs(connection: sqlite3.Connection) -> None:
    """Version 6: when jobs are due and how they went, and how followed files stood."""
    for statement in job_rows.TABLES:
        connection.execute(statement)


def _add_records(connection: sqlite3.Connection) -> None:
    """Version 7: contracts, proofs, leases and votes."""
    connection.execute(kept_records.TABLE)


MIGRATIONS: tuple[Migration, ...] = (
    _create,
    _add_due,
    _add_purged,
    _add_store_ids,
    _add_use_labels,
    _add_jobs,
    _add_records,
)
