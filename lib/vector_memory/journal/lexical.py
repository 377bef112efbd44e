"""Full-text search over the analysed text: BM25 by FTS5."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from vector_memory.journal import schema
from vector_memory.journal.readonly import MAX_QUERY_TERMS, match_expression, selective
from vector_memory.journal.scopes import condition
from vector_memory.model import Candidate, Scope

MAX_TERMS = 1_000


def matching(
    connection: sqlite3.Connection,
    terms: Sequence[str],
    scope: Scope,
    k: int,
    after_seq: int,
    cold: bool | None,
    most_rows: int | None = None,
) -> list[Candidate]:
    """Return the k active memories that match best: those that are not cold, with `cold` the cold ones alone,
    and for None of all.

    Returns:
        Candidates, best first; scores are BM25, higher is better.
    """
    query = match_expression(_worthwhile(connection, terms[:MAX_TERMS], after_seq, most_rows))
    if not query or k < 1:
        return []
    limits, values = condition(scope)
    has_cold = connection.execute("SELECT 1 FROM memories WHERE tier = 'cold' LIMIT 1").fetchone()
    if cold and not has_cold:
        return []
    join, where = "", ""
    if has_cold and cold is not None:
        limits += f" AND m.tier {'=' if cold else '!='} 'cold'"
    if limits != "1":
        # CROSS keeps SQLite from turning the join round and beginning with the filter.
        join, where = "CROSS JOIN memories m ON m.seq = f.rowid", f"AND {limits}"
    rows = connection.execute(
        f"SELECT f.rowid, -f.rank FROM lexicon f {join}"
        # With the plus only what passes the filter is ranked, which is little of a kind; without it all that
        # matches is, first.
        f" WHERE f.lexicon MATCH ? AND f.rowid > ? {where}"
        f" ORDER BY {'+' if scope.kinds else ''}f.rank LIMIT ?",
        (query, after_seq, *values, k),
    )
    return [Candidate(seq, score) for seq, score in rows]


def count_matching(
    connection: sqlite3.Connection, terms: Sequence[str], scope: Scope, most: int
) -> int:
    """Return how many memories of a scope hold any of these terms, `most` where it is more."""
    query = match_expression(terms)
    if not query:
        return 0
    limits, values = condition(scope)
    (count,) = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM lexicon f CROSS JOIN memories m ON m.seq = f.rowid"
        f" WHERE f.lexicon MATCH ? AND {limits} AND m.tier != 'cold' LIMIT ?)",
        (query, *values, most),
    ).fetchone()
    return int(count)


def _worthwhile(
    connection: sqlite3.Connection, terms: Sequence[str], after_seq: int, most_rows: int | None
) -> Sequence[str]:
    """Leave out the commonest terms, except where there is little to search: at a store's end."""
    if after_seq and len(terms) <= MAX_QUERY_TERMS:
        return terms
    return selective(connection, terms, most_rows)


def rebuild(connection: sqlite3.Connection) -> None:
    """Make the full-text index anew from the rows."""
    drop(connection)
    restore(connection)


def drop(connection: sqlite3.Connection) -> None:
    """Take the full-text index and its triggers away."""
    for statement in schema.DROP_LEXICON:
        connection.execute(statement)


def restore(connection: sqlite3.Connection) -> None:
    """Make the full-text index and its triggers from the rows, after `drop`."""
    for statement in schema.LEXICON:
        connection.execute(statement)
    connection.execute("INSERT INTO lexicon(lexicon) VALUES ('rebuild')")


def is_sound(connection: sqlite3.Connection) -> bool:
    """Whether the full-text index says the same as the rows."""
    try:
        # Rank 1 compares the index with the rows, not only with itself.
        connection.execute("INSERT INTO lexicon(lexicon, rank) VALUES ('integrity-check', 1)")
    except sqlite3.DatabaseError:
        return False
    return True


def tidy(connection: sqlite3.Connection) -> None:
    """Merge the full-text index into one piece, in which nothing deleted is left."""
    connection.execute("INSERT INTO lexicon(lexicon) VALUES ('optimize')")
