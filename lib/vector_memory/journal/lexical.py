"""What a question reads of a journal: what is found by words (BM25 by FTS5, over the analysed text), and beside its index
cold memories and the order of what was said around them. Of those nothing is loaded that is not asked for."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from vector_memory.journal.readonly import MAX_QUERY_TERMS, match_expression, selective
from vector_memory.journal.reads import MemoryReads
from vector_memory.journal.rows import DAY_US
from vector_memory.journal.scopes import AMONG, as_array, condition
from vector_memory.model import PASSAGE, Candidate, Scope

MAX_TERMS = 1_000
MOST_PAIRED = 6
"""Terms of which two are looked for together: that are 15 pairs."""
_HAS_COLD = "SELECT 1 FROM memories WHERE tier = 'cold' LIMIT 1"


_STANDS = "m.seq, m.project, s.session, s.path, m.turn, m.external_id, m.created_at, m.speaker, m.kind, m.tier = 'cold'"


def _pairs_query(terms: Sequence[str]) -> str:
    """Return an FTS5 query for two of the first terms, "" where there is but one."""
    quoted = [match_expression([term]) for term in terms[:MOST_PAIRED]]
    return " OR ".join(f"({' AND '.join(pair)})" for pair in combinations(filter(None, quoted), 2))


class Standpoint(NamedTuple):
    """Where a memory stands that is not forgotten: `session` is "" for what stands beside the talk, `at_us` is in
    microseconds since 1970."""

    seq: int
    project: str
    session: str
    at_us: int
    speaker: str
    kind: str
    is_cold: bool


class QuestionReads(MemoryReads):
    """What is found by words, cold memories and what stands around them: a part of `Journal`."""

    def matching(
        self,
        terms: Sequence[str],
        scope: Scope,
        k: int,
        after_seq: int = 0,
        cold: bool = False,
        most_rows: int | None = None,
        pairs: bool = False,
    ) -> list[Candidate]:
        """Return the active memories that match any of the analysed terms best.

        Args:
            terms: as `text.analysis` makes them; with spaces between them, several that follow each other.
            scope: what the answer is limited to.
            k: how many at most.
            after_seq: only rows with higher sequence numbers.
            cold: cold ones among all others.
            most_rows: terms that more memories hold are not looked for: to rank these takes longer than a
                hook waits.
            pairs: only what holds two of the terms: of twenty questions at once none may rank all that holds one.

        Returns:
            Candidates, best first. Scores are BM25, higher is better, and compare within one answer
            alone.
        """
        with self.connections.reading() as connection:
            terms = terms[:MAX_TERMS]
            # At a store's end there is little to search: the commonest terms count as well.
            is_little = after_seq and len(terms) <= MAX_QUERY_TERMS
            chosen = terms if is_little else selective(connection, terms, most_rows)
            query = _pairs_query(chosen) if pairs else match_expression(chosen)
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
                # With the plus only what passes the filter is ranked, which is little for one kind; without it all
                # that matches is ranked before the filter.
                f" WHERE f.lexicon MATCH ? AND f.rowid > ? {where}"
                f" ORDER BY {'+' if scope.kinds else ''}f.rank LIMIT ?",
                (query, after_seq, *values, k),
            )
            return [Candidate(seq, score) for seq, score in rows]

    def letters(self, seqs: Sequence[int]) -> list[tuple[int, str]]:
        """Return the letters of memories of these sequence numbers, in that order: titles, texts and files, unchecked.
        To read whole memories takes ten times as long."""
        rows = self.connections.rows(
            f"SELECT seq, title || char(10) || text || char(10) || files FROM memories WHERE seq {AMONG}",
            (as_array(map(int, seqs)),),
        )
        by_seq = {int(row[0]): str(row[1]) for row in rows}
        return [(seq, by_seq[seq]) for seq in seqs if seq in by_seq]

    def count_matching(self, terms: Sequence[str], scope: Scope, most: int) -> int:
        """Return how many memories that are not cold hold any of the analysed terms, `most` where it is more."""
        query = match_expression(terms)
        if not query:
            return 0
        limits, values = condition(scope)
        return self.connections.number(
            "SELECT count(*) FROM (SELECT 1 FROM lexicon f CROSS JOIN memories m ON m.seq = f.rowid"
            f" WHERE f.lexicon MATCH ? AND {limits} AND m.tier != 'cold' LIMIT ?)",
            (query, *values, most),
        )

    def has_cold(self) -> bool:
        """Whether any memory is cold."""
        return bool(self.connections.rows(_HAS_COLD))

    def places(self, seqs: Sequence[int]) -> list[Standpoint]:
        """Return where these memories stand, and all that was said in their sessions, each session in its order."""
        rows = self.connections.rows(
            f"""WITH wanted AS (SELECT value FROM json_each(?)),
                    said AS (SELECT DISTINCT s.session FROM memories m JOIN sources s ON s.id = m.source
                             WHERE m.seq IN wanted AND s.session != '' AND s.path != '')
               SELECT {_STANDS} FROM sources s JOIN memories m ON m.source = s.id
               WHERE s.session IN said AND m.status != 'forgotten' AND (m.kind = ? OR s.path = '')
               UNION
               SELECT {_STANDS} FROM memories m JOIN sources s ON s.id = m.source
               WHERE m.seq IN wanted AND m.status != 'forgotten'""",
            (as_array(map(int, seqs)), PASSAGE),
        )
        rows.sort(key=lambda row: (row[4], place_in_exchange(row[5]), row[0]))
        return [
            Standpoint(
                seq, project, "" if path and kind != PASSAGE else session, at_us, speaker, kind, bool(is_cold)
            )
            for seq, project, session, path, _, _, at_us, speaker, kind, is_cold in rows
        ]  # fmt: skip

    def cold_between(self, scope: Scope, start: float, end: float, k: int) -> list[int]:
        """Return the sequence numbers of a scope's newest cold memories from `start` until before `end`, in
        days since 1970, newest first."""
        where = "m.status = 'active' AND m.tier = 'cold' AND m.created_at >= ? AND m.created_at < ?"
        # As floats: an open end lies beyond what an integer holds.
        span, tail = (start * DAY_US, end * DAY_US), f"ORDER BY m.created_at DESC LIMIT {k:d}"
        rows = self._select("m.seq", Scope(projects=scope.projects), where, span, tail)
        return [seq for (seq,) in rows]


def place_in_exchange(external_id: str) -> int:
    """Return a passage's place in its exchange, as its name ends with it."""
    digits = external_id.rpartition(":")[2]
    return int(digits) if digits.isdecimal() else 0


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
