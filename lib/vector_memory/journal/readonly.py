"""What a hook can learn without a daemon: straight from the files, read-only. Standard library
only, Python 3.9. Nothing here raises, creates a file, or takes longer than it is given."""

import os
import time

from vector_memory.system import tampering

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

JOURNAL = "journal.db"
STEPS_BETWEEN_LOOKS = 2_000
BUSY_S = 0.02
MAX_QUERY_TERMS = 24
MAX_POSTINGS = 20_000
"""Rows that the terms of one query may name together. A word that stands in a large part of a
large store says next to nothing, and reading its rows takes most of a query's time."""
MIN_QUERY_TERMS = 3

QUIET = (
    "constitutional_assessments",
    "heuristics",
    "pheromone_trails",
    "working_memory",
    "world_model",
)
"""`model.QUIET`, which costs an import: collections that come only where they are asked for by name."""
_FIELDS = (
    "id", "text", "title", "kind", "created_at", "project", "origin", "line_start", "line_end",
    "extra", "lexical",
)  # fmt: skip
_SEARCH = (
    "SELECT %s, s.session, s.path, -f.rank"
    " FROM lexicon f CROSS JOIN memories m ON m.seq = f.rowid CROSS JOIN sources s ON s.id = m.source"
    " WHERE f.lexicon MATCH ? AND m.project IN (%%s) AND m.status = 'active'"
    " AND NOT instr(m.extra, '\"held\":true') AND m.sensitivity <> 'restricted'"
    " AND m.collection NOT IN (%s) AND (m.expires_at IS NULL OR m.expires_at > ?)"
    " AND (m.valid_until IS NULL OR m.valid_until > ?)%%s"
    " ORDER BY f.rank LIMIT ?"
) % (", ".join("m." + name for name in _FIELDS), ", ".join("'%s'" % name for name in QUIET))


def search(
    folder: str,
    terms: "Sequence[str]",
    project_ids: "Sequence[str]",
    k: int,
    deadline_s: float,
) -> "list[dict[str, Any]]":
    """Return a store's active memories that hold any of the terms and are not held back, best first.

    Args:
        folder: the store's folder.
        terms: analysed terms.
        project_ids: the projects to look in; "" is the global one.
        k: how many at most.
        deadline_s: `time.monotonic()` by which the answer must be there.

    Returns:
        Dicts of id, text, title, kind, created_at_us, project, origin, path, line_start, line_end,
        session, extra (JSON text), bm25 (higher is better), matched_terms (a list). [] when it failed or was late.
    """
    if not terms or not project_ids:
        return []
    marks = ",".join("?" * len(project_ids))
    now = int(time.time() * 1e6)

    def ask(connection: "sqlite3.Connection") -> "list[tuple[Any, ...]]":
        query = match_expression(selective(connection, terms))
        # A journal of an earlier version, which no daemon has opened yet, has no tiers.
        tiers = "SELECT 1 FROM pragma_table_info('memories') WHERE name = 'tier'"
        at_hand = " AND m.tier != 'cold'" if connection.execute(tiers).fetchone() else ""
        sql = _SEARCH % (marks, at_hand)
        values = [query, *project_ids, now, now, k]
        return connection.execute(sql, values).fetchall() if query else []

    rows = _query(os.path.join(folder, JOURNAL), ask, deadline_s)
    return [_hit(row, terms) for row in rows]


def shown_ids(state_db: str, session: str) -> "set[str]":
    """Return the ids of the memories that a session has been given, as `state.db` knows them."""
    sql = "SELECT memory FROM shown WHERE session = ?"
    deadline = time.monotonic() + 0.1
    rows = _query(
        state_db, lambda connection: connection.execute(sql, [session]).fetchall(), deadline
    )
    return {str(row[0]) for row in rows}


def trusted(state_db: str, folder: str) -> bool:
    """Whether a project's store may be opened, as `state.db` knows it: a link to it may not, and no other
    store in its place."""
    deadline = time.monotonic() + 0.1
    pinned_id_sql, own_id_sql = (
        "SELECT store_id FROM trusted WHERE folder = ?",
        "SELECT value FROM meta WHERE key = 'store_id'",
    )
    expected = _query(
        state_db,
        lambda connection: connection.execute(pinned_id_sql, [folder]).fetchall(),
        deadline,
    )
    # Trusted, but never opened: which store it was is not known yet.
    if not expected or not expected[0][0]:
        return False
    return expected == _query(
        os.path.join(folder, JOURNAL),
        lambda connection: connection.execute(own_id_sql).fetchall(),
        deadline,
    )


def match_expression(terms: "Iterable[str]") -> str:
    """Return an FTS5 query for any of the terms, "" for none. Each is quoted: none can be an operator, and what has
    spaces is found where its words follow each other."""
    # A NUL would end the query in the middle of a term.
    return " OR ".join(
        '"' + term.replace("\0", "").replace('"', '""') + '"' for term in terms if term.strip("\0")
    )


def selective(
    connection: "sqlite3.Connection", terms: "Iterable[str]", most_rows: "int | None" = None
) -> "list[str]":
    """Return the distinct terms that are worth a query. Terms in a row count as the rarest of them.

    Args:
        most_rows: terms that more rows hold are left out, however few remain.

    Returns:
        At most `MAX_QUERY_TERMS`, the rarest first; beyond the first few only while they name no
        more than `MAX_POSTINGS` rows. Terms that no row holds are left out.
    """
    distinct = [term for term in dict.fromkeys(terms) if term]
    words = list(dict.fromkeys(word for term in distinct for word in term.split(" ")))
    marks = ",".join("?" * len(words))
    row_counts = dict(
        connection.execute("SELECT term, doc FROM lexicon_terms WHERE term IN (%s)" % marks, words)
    )
    rarest = ((min(row_counts.get(word, 0) for word in term.split(" ")), term) for term in distinct)
    counted = [(count, term) for count, term in rarest if count]
    chosen: "list[str]" = []
    rows = 0
    # A few terms in any case, however common: else a plain question would find nothing.
    for count, term in sorted(counted)[:MAX_QUERY_TERMS]:
        if most_rows is not None and count > most_rows:
            break
        rows += count
        if len(chosen) >= MIN_QUERY_TERMS and rows > MAX_POSTINGS:
            break
        chosen.append(term)
    return chosen


def _hit(row: "tuple[Any, ...]", terms: "Sequence[str]") -> "dict[str, Any]":
    hit = dict(zip((*_FIELDS, "session", "path", "bm25"), row))  # noqa: B905 - `strict` came with Python 3.10
    words = set(hit.pop("lexical").split(" "))
    hit["created_at_us"] = hit.pop("created_at")
    hit["matched_terms"] = [term for term in terms if term in words]
    return hit


def _query(
    path: str,
    ask: "Callable[[sqlite3.Connection], list[tuple[Any, ...]]]",
    deadline_s: float,
) -> "list[tuple[Any, ...]]":
    """Return the rows that `ask` gets from a database, or [] whatever goes wrong."""
    try:
        connection = _open(path)
        try:
            # SQLite asks every few thousand steps whether to go on: late, it is interrupted.
            connection.set_progress_handler(
                lambda: time.monotonic() > deadline_s, STEPS_BETWEEN_LOOKS
            )
            return ask(connection)
        finally:
            connection.close()
    except Exception:
        # A hook has nobody to tell; without an answer the prompt goes on as it is.
        return []


def _open(path: str) -> "sqlite3.Connection":
    """Open a database without making any file beside it.

    A WAL database that was closed has no side files, and opening it as `mode=ro` would make them,
    so it is read as immutable; while its writer lives, or after it died, they are there.
    """
    import sqlite3
    from urllib.parse import quote

    tampering.require_plain(path)
    live = os.path.exists(path + "-wal")
    options = "mode=ro" if live else "mode=ro&immutable=1"
    return sqlite3.connect(
        "file:%s?%s" % (quote(os.fsencode(path)), options), uri=True, timeout=BUSY_S
    )
