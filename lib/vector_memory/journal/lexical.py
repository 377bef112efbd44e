"""Full-text search over the analysed text: BM25 by FTS5."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from vector_memory.journal.readonly import MAX_QUERY_TERMS, match_expression, selective
from vector_memory.journal.reads import MemoryReads
from vector_memory.journal.scopes import condition
from vector_memory.model import Candidate, Scope

MAX_TERMS = 1_000
_HAS_COLD = "SELECT 1 FROM memories WHERE tier = 'cold' LIMIT 1"


class LexicalReads(MemoryReads):
    """What is found by words: a part of `Journal`."""

    def matching(
        self,
        terms: Sequence[str],
        scope: Scope,
        k: int,
        after_seq: int = 0,
        cold: bool = False,
        most_rows: int | None = None,
    ) -> list[Candidate]:
        """Return the active memories that match any of the analysed terms best.

        Args:
            terms: as `text.analysis` makes them.
            scope: what the answer is limited to.
            k: how many at most.
            after_seq: only rows with higher sequence numbers.
            cold: cold ones among all others.
            most_rows: terms that more memories hold are not looked for: to rank these takes longer than a
                hook waits.

        Returns:
            Candidates, best first. Scores are BM25, higher is better, and compare within one answer
            alone.
        """
        with self.connections.reading() as connection:
            terms = terms[:MAX_TERMS]
            # At a store's end there is little to search: the commonest terms count as well.
            is_little = after_seq and len(terms) <= MAX_QUERY_TERMS
            query = match_expression(
                terms if is_little else selective(connection, terms, most_rows)
            )
            if not query or k < 1:
                return []
            limits, values = condition(scope)
            join, where = "", ""
            if not cold and connection.execute(_HAS_COLD).fetchone():
                limits += " AND m.tier != 'cold'"
            if limits != "1":
                # CROSS keeps SQLite from turning the join round and beginning with the filter.
                join, where = "CROSS JOIN memories m ON m.seq = f.rowid", f"AND {limits}"
            rows = connection.execute(
                f"SELECT f.rowid, -f.rank FROM lexicon f {join}"
                # With the plus only what passes the filter is ranked, which is little of a kind; without it all
                # that matches is, first.
                f" WHERE f.lexicon MATCH ? AND f.rowid > ? {where}"
                f" ORDER BY {'+' if scope.kinds else ''}f.rank LIMIT ?",
                (query, after_seq, *values, k),
            )
            return [Candidate(seq, score) for seq, score in rows]

    def count_matching(self, terms: Sequence[str], scope: Scope, most: int) -> int:
        """Return how many memories that are not cold hold any of the analysed terms, `most` where it is more."""
        query = match_expression(terms)
        if not query:
            return 0
        limits, values = condition(scope)
        rows = self.connections.rows(
            "SELECT count(*) FROM (SELECT 1 FROM lexicon f CROSS JOIN memories m ON m.seq = f.rowid"
            f" WHERE f.lexicon MATCH ? AND {limits} AND m.tier != 'cold' LIMIT ?)",
            (query, *values, most),
        )
        return int(rows[0][0])

    def has_cold(self) -> bool:
        """Whether any memory is cold."""
        return bool(self.connections.rows(_HAS_COLD))


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
