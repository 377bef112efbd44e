"""The journal's tables. To change them, append a migration; never edit one that was released."""

from __future__ import annotations

import sqlite3
import uuid

from vector_memory.journal.migrations import Migration, executing

OPEN_KINDS = ("question", "todo", "problem")

# Columns that filters read come before the long ones, so that a filter reads one page of a row.
# `open` is 1 for an active question, todo or problem that is not done.
_MEMORIES = """CREATE TABLE memories(
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL,
    status TEXT NOT NULL,
    kind TEXT NOT NULL,
    collection TEXT NOT NULL,
    priority TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    confidence REAL NOT NULL,
    origin TEXT NOT NULL,
    temporal TEXT NOT NULL,
    sensitivity TEXT NOT NULL,
    jurisdiction TEXT NOT NULL,
    valid_from INTEGER,
    valid_until INTEGER,
    expires_at INTEGER,
    superseded_by TEXT NOT NULL,
    external_id TEXT NOT NULL,
    stored_at INTEGER NOT NULL,
    updated_at INTEGER,
    source INTEGER NOT NULL REFERENCES sources(id),
    turn INTEGER NOT NULL,
    line_start INTEGER NOT NULL,
    line_end INTEGER NOT NULL,
    speaker TEXT NOT NULL,
    tags TEXT NOT NULL,
    files TEXT NOT NULL,
    extra TEXT NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    open INTEGER NOT NULL,
    model INTEGER NOT NULL REFERENCES models(id),
    hash BLOB NOT NULL,
    checksum BLOB NOT NULL,
    lexical TEXT NOT NULL,
    tier TEXT NOT NULL DEFAULT 'hot'
)"""

# Of use is what was applied: in how many sessions, when last, and in which.
# A model is a small number in the rows: setting it never makes a row longer, so that embedding
# a whole store does not split its pages. A session and its transcript's path are a tenth of a row,
# and all rows of a session share them.
_TABLES = (
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID",
    "CREATE TABLE models(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    "INSERT INTO models VALUES (0, '')",
    """CREATE TABLE sources(id INTEGER PRIMARY KEY, session TEXT NOT NULL, path TEXT NOT NULL,
        UNIQUE (session, path))""",
    "INSERT INTO sources VALUES (0, '', '')",
    _MEMORIES,
    """CREATE TABLE usage(
        seq INTEGER PRIMARY KEY REFERENCES memories(seq) ON UPDATE CASCADE ON DELETE CASCADE,
        uses INTEGER NOT NULL,
        last_used_at INTEGER NOT NULL,
        applied INTEGER NOT NULL DEFAULT 0,
        applied_at INTEGER NOT NULL DEFAULT 0,
        applied_in TEXT NOT NULL DEFAULT ''
    )""",
    """CREATE TABLE links(
        from_id TEXT NOT NULL REFERENCES memories(id) ON DELETE CASCADE,
        to_id TEXT NOT NULL REFERENCES memories(id) ON DELETE CASCADE,
        relation TEXT NOT NULL,
        weight REAL NOT NULL,
        created_at INTEGER,
        PRIMARY KEY (from_id, to_id, relation)
    ) WITHOUT ROWID""",
    "CREATE INDEX links_back ON links(to_id)",
    """CREATE TABLE vectors(
        hash BLOB NOT NULL,
        model INTEGER NOT NULL REFERENCES models(id),
        vector BLOB NOT NULL,
        UNIQUE (hash, model)
    )""",
    """CREATE TABLE projects(
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        root TEXT NOT NULL,
        store TEXT NOT NULL
    ) WITHOUT ROWID""",
)

_INDEXES = (
    "CREATE INDEX by_time ON memories(project, created_at) WHERE status = 'active'",
    """CREATE INDEX by_importance ON memories(project, priority, created_at)
       WHERE status = 'active' AND priority IN ('CORE', 'HIGH')""",
    "CREATE INDEX by_openness ON memories(project, created_at) WHERE open = 1",
    "CREATE INDEX by_turn ON memories(source, turn)",
    "CREATE INDEX by_hash ON memories(hash)",
    "CREATE INDEX by_external_id ON memories(external_id) WHERE external_id != ''",
    "CREATE INDEX by_expiry ON memories(expires_at) WHERE expires_at IS NOT NULL",
    "CREATE INDEX by_model ON memories(model) WHERE status = 'active'",
    "CREATE INDEX by_inactivity ON memories(status) WHERE status != 'active'",
    "CREATE INDEX by_tier ON memories(tier, status)",
    "CREATE INDEX by_kind ON memories(project, kind, created_at) WHERE status = 'active'",
    # Its condition stands in `review_reads` word for word, or SQLite would not use it.
    """CREATE INDEX by_review ON memories(project, kind, created_at)
       WHERE status = 'active' AND kind != 'passage' AND (source != 0 OR origin = 'assistant')""",
    # With the column by which it is chosen first: else SQLite takes the index that has more of the rest.
    """CREATE INDEX by_date ON memories(temporal, project, valid_until)
       WHERE status = 'active' AND temporal IN ('deadline', 'periodic')""",
)

# The analysed text holds terms between single spaces: whatever is no separator belongs to a term.
# `detail=full` since BM25 reads each matching row's text again without it. Superseded memories are
# found too: who asks in the old words is given the successor.
LEXICON = (
    "CREATE VIEW living_lexical AS SELECT seq, lexical FROM memories WHERE status != 'forgotten'",
    """CREATE VIRTUAL TABLE lexicon USING fts5(
        lexical, content='living_lexical', content_rowid='seq',
        tokenize="unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co Cf'"
    )""",
    "CREATE VIRTUAL TABLE lexicon_terms USING fts5vocab(lexicon, 'row')",
    """CREATE TRIGGER lexicon_added AFTER INSERT ON memories WHEN new.status != 'forgotten' BEGIN
        INSERT INTO lexicon(rowid, lexical) VALUES (new.seq, new.lexical);
    END""",
    """CREATE TRIGGER lexicon_removed AFTER DELETE ON memories WHEN old.status != 'forgotten' BEGIN
        INSERT INTO lexicon(lexicon, rowid, lexical) VALUES ('delete', old.seq, old.lexical);
    END""",
    """CREATE TRIGGER lexicon_changed AFTER UPDATE OF seq, status, lexical ON memories BEGIN
        INSERT INTO lexicon(lexicon, rowid, lexical)
            SELECT 'delete', old.seq, old.lexical WHERE old.status != 'forgotten';
        INSERT INTO lexicon(rowid, lexical)
            SELECT new.seq, new.lexical WHERE new.status != 'forgotten';
    END""",
)


DROP_LEXICON = (
    "DROP TRIGGER IF EXISTS lexicon_added",
    "DROP TRIGGER IF EXISTS lexicon_removed",
    "DROP TRIGGER IF EXISTS lexicon_changed",
    "DROP TABLE IF EXISTS lexicon_terms",
    "DROP TABLE IF EXISTS lexicon",
    "DROP VIEW IF EXISTS living_lexical",
)


def _create(connection: sqlite3.Connection) -> None:
    """Version 1: all tables, and the store's own random id."""
    for statement in (*_TABLES, *_INDEXES, *LEXICON):
        connection.execute(statement)
    connection.executemany(
        "INSERT INTO meta VALUES (?, ?)", (("store_id", uuid.uuid4().hex), ("last_seq", 0))
    )


MIGRATIONS: tuple[Migration, ...] = (_create, *[executing()] * 5)
"""Versions 2 to 6 were made before anything was released: the first makes all that they have."""

SCHEMA_VERSION = len(MIGRATIONS)
