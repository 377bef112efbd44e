"""The tables of `state.db`. To change them, append a migration; never edit a released one."""

from __future__ import annotations

from vector_memory.journal import job_rows, use_labels
from vector_memory.journal.opening import Migration, executing

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


MIGRATIONS: tuple[Migration, ...] = (
    executing(*_TABLES),
    # What is still to be done for sessions.
    executing(
        "CREATE TABLE due(task TEXT NOT NULL, session TEXT NOT NULL, PRIMARY KEY (task, session))"
        " WITHOUT ROWID"
    ),
    # What was purged and must not be captured again: hashes of names, no words.
    executing("CREATE TABLE purged(name BLOB PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID"),
    # Which store is trusted in a folder, by its random id; "" until it is opened.
    executing("ALTER TABLE trusted ADD COLUMN store_id TEXT NOT NULL DEFAULT ''"),
    # Whether notes that were shown were used.
    executing(*use_labels.TABLES),
    # When jobs are due and how they went, and how followed files stood.
    executing(*job_rows.TABLES),
    # Contracts, proofs, leases and votes: JSON under a sort and an id.
    executing(
        "CREATE TABLE records(sort TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL,"
        " PRIMARY KEY (sort, id)) WITHOUT ROWID"
    ),
)
