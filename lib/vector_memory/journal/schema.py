"""The journal's tables. To change them, append a migration; never edit one that was released."""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Sequence

from vector_memory.journal.opening import Migration, executing
from vector_memory.text.analysis import lexical

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
    lexical TEXT NOT NULL
)"""

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
        last_used_at INTEGER NOT NULL
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
)

# The analysed text holds terms between single spaces: whatever is no separator belongs to a term.
# `detail=full` since BM25 reads each matching row's text again without it. Superseded memories are
# found too: who asks in the old words is given the successor.
make_lexicon = executing(
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
    "INSERT INTO lexicon(lexicon) VALUES ('rebuild')",
)
"""Makes the full-text index and its triggers from the rows, after `drop_lexicon`."""


def analysed(title: str, text: str, files: Sequence[str], tags: Sequence[str]) -> str:
    """Return the terms of a memory between single spaces, as the lexical indexes hold them."""
    return lexical(title, text, " ".join(files), " ".join(tags))


drop_lexicon = executing(
    "DROP TRIGGER IF EXISTS lexicon_added",
    "DROP TRIGGER IF EXISTS lexicon_removed",
    "DROP TRIGGER IF EXISTS lexicon_changed",
    "DROP TABLE IF EXISTS lexicon_terms",
    "DROP TABLE IF EXISTS lexicon",
    "DROP VIEW IF EXISTS active_lexical",
    "DROP VIEW IF EXISTS living_lexical",
)
"""Takes the full-text index and its triggers away."""


def _create(connection: sqlite3.Connection) -> None:
    """Version 1: all tables, and the store's own random id."""
    executing(*_TABLES, *_INDEXES)(connection)
    make_lexicon(connection)
    connection.executemany(
        "INSERT INTO meta VALUES (?, ?)", (("store_id", uuid.uuid4().hex), ("last_seq", 0))
    )


def rebuild_lexicon(connection: sqlite3.Connection) -> None:
    """Make the full-text index anew from the rows. Version 2: superseded memories are in it too."""
    drop_lexicon(connection)
    make_lexicon(connection)


def _analyse_other_languages(connection: sqlite3.Connection) -> None:
    """Version 3: what has other letters than English is analysed anew: its accents are folded, its words
    have pieces. `rebuild` does the same with other languages written in English letters."""
    _analyse_anew(connection, " AND (title GLOB '*[^\x01-\x7f]*' OR text GLOB '*[^\x01-\x7f]*')")


def _analyse_short_words(connection: sqlite3.Connection) -> None:
    """Version 5: `use` and `uses`, `key` and `keys`, `try` and `tries` have one stem."""
    _analyse_anew(connection)


def _analyse_anew(connection: sqlite3.Connection, condition: str = "") -> None:
    """Analyse the texts of memories again, and write the terms that are others now."""
    select_sql = (
        "SELECT seq, title, text, files, tags, lexical FROM memories"
        f" WHERE seq > ? AND status != 'forgotten'{condition} ORDER BY seq LIMIT 1000"
    )
    last_seq, has_changed = -1, False
    while rows := connection.execute(select_sql, (last_seq,)).fetchall():
        last_seq = rows[-1][0]
        changed_terms = [
            (terms, seq)
            for seq, title, text, files, tags, old_terms in rows
            if (terms := _analysed_terms(title, text, files, tags, old_terms)) != old_terms
        ]
        connection.executemany("UPDATE memories SET lexical = ? WHERE seq = ?", changed_terms)
        has_changed = has_changed or bool(changed_terms)
    if has_changed:
        # The index holds the old words, and does not see that these rows have changed.
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?, 1)", (REANALYSED,))


def _analysed_terms(title: str, text: str, files: str, tags: str, old_terms: str) -> str:
    """Return a row's terms. A damaged one keeps what it has: it is no reason not to open the store, and its
    checksum tells."""
    try:
        return analysed(title, text, _as_list(files), _as_list(tags))
    except (TypeError, ValueError):
        return old_terms


def _as_list(column: str) -> list[str]:
    return list(json.loads(column)) if column else []


_add_tiers = executing(
    "ALTER TABLE memories ADD COLUMN tier TEXT NOT NULL DEFAULT 'hot'",
    "ALTER TABLE usage ADD COLUMN applied INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE usage ADD COLUMN applied_at INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE usage ADD COLUMN applied_in TEXT NOT NULL DEFAULT ''",
    "CREATE INDEX by_tier ON memories(tier, status)",
    """CREATE INDEX by_date ON memories(project, valid_until)
       WHERE status = 'active' AND temporal IN ('deadline', 'periodic')""",
)
"""Version 4: a tier for each memory, and beside how often it was shown, in how many sessions it was of
use, when last, and in which. Rows from before are hot until `service/jobs/tier_transfer.py` looks at them."""


_find_by_kind = executing(
    "DROP INDEX IF EXISTS by_kind",
    "CREATE INDEX by_kind ON memories(project, kind, created_at) WHERE status = 'active'",
    "DROP INDEX IF EXISTS by_review",
    # Its condition stands in `review_reads` word for word, or SQLite would not use it.
    """CREATE INDEX by_review ON memories(project, kind, created_at)
       WHERE status = 'active' AND kind != 'passage' AND (source != 0 OR origin = 'assistant')""",
    # With the column by which it is chosen first: else SQLite takes the index that has more of the rest.
    "DROP INDEX IF EXISTS by_date",
    """CREATE INDEX by_date ON memories(temporal, project, valid_until)
       WHERE status = 'active' AND temporal IN ('deadline', 'periodic')""",
)
"""Version 6: the newest of a kind, what has a date, and what waits for a review are found without reading all else:
of 50,000 memories a session's start read every one several times."""


OLDER = (
    "CREATE TEMP VIEW memories AS SELECT *, 'hot' AS tier FROM main.memories",
    "CREATE TEMP VIEW usage AS SELECT *, 0 AS applied, 0 AS applied_at, '' AS applied_in FROM main.usage",
)
"""What makes a journal that can only be read, of a version before the fourth, read like one of it."""
REANALYSED = "reanalysed"
"""In `meta` while rows were analysed anew that the index holds in their old form."""
MIGRATIONS: tuple[Migration, ...] = (
    _create,
    rebuild_lexicon,
    _analyse_other_languages,
    _add_tiers,
    _analyse_short_words,
    _find_by_kind,
)
SCHEMA_VERSION = len(MIGRATIONS)
