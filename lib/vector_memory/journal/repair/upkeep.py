"""Checks, backup, and mending of a journal."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

from vector_memory.journal import lexical, schema, vectors
from vector_memory.journal.reads import MemoryReads
from vector_memory.journal.repair.copying import flaws
from vector_memory.journal.rows import AT_ID, AT_STATUS, SELECT, Row, analysed, hash_fits, is_sound
from vector_memory.journal.scopes import CHUNK
from vector_memory.model import Status

MAX_PROBLEMS = 100
WRONG_LEXICON = "The full-text index differs from the memories."


class Upkeep(MemoryReads):
    """What is looked after in a journal: a part of `Journal`."""

    def check(self, read_data: bool) -> list[str]:
        """Look for what is wrong with a journal.

        Args:
            read_data: also read every index entry and verify every row's checksum.

        Returns:
            At most `MAX_PROBLEMS` sentences for people, [] if nothing is wrong. `mend_problems` takes them.
        """
        try:
            with self.connections.reading() as connection:
                problems = _structure_problems(connection, read_data)
                if read_data:
                    # Where rows are damaged, mending them looks at the vectors, too.
                    problems += _row_problems(connection) or _vector_problems(connection)
            if self.connections.writable:
                with self.connections.maintaining() as connection:
                    if not lexical.is_sound(connection):
                        problems.append(WRONG_LEXICON)
        except Exception as error:
            # Whatever a damaged file raises is what was looked for.
            return [f"The journal cannot be read: {error}"]
        return problems[:MAX_PROBLEMS]

    def rebuild_lexical(self) -> None:
        """Analyse all texts anew and make the full-text index from them."""
        with self.connections.writing() as connection:
            # First, with its triggers: keeping it level row by row would take far longer.
            schema.drop_lexicon(connection)
            for rows in _row_pieces(connection):
                ends = rows[0][0], rows[-1][0]
                memories = self.reader.memories(connection, "WHERE m.seq BETWEEN ? AND ?", ends)
                connection.executemany(
                    "UPDATE memories SET lexical = :terms WHERE seq = :seq AND lexical != :terms",
                    [{"terms": analysed(memory), "seq": memory.seq} for memory in memories],
                )
            schema.make_lexicon(connection)

    def scrub(self) -> None:
        """Overwrite what deleted rows left in the full-text index and in the write-ahead log. `purge` does it by
        itself; after `forget` call it when nobody waits."""
        with self.connections.writing() as connection:
            # FTS5 only marks what is deleted; merging its pieces leaves it out.
            lexical.tidy(connection)
        with self.connections.maintaining() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def drop_leftovers(self, projects: Sequence[str] = ()) -> None:
        """Remove what no memory needs, make the full-text index anew, and write the file without gaps.

        Args:
            projects: ids of projects whose name and folder go where they have no memory left.
        """
        with self.connections.writing() as connection:
            connection.execute(
                "DELETE FROM vectors WHERE NOT EXISTS"
                " (SELECT 1 FROM memories WHERE memories.hash = vectors.hash)"
            )
            connection.execute(
                "DELETE FROM sources WHERE id != 0"
                " AND NOT EXISTS (SELECT 1 FROM memories WHERE source = sources.id)"
            )
            connection.executemany(
                "DELETE FROM projects WHERE id = :id"
                " AND NOT EXISTS (SELECT 1 FROM memories WHERE project = :id)",
                [{"id": project} for project in projects],
            )
            schema.rebuild_lexicon(connection)
        with self.connections.maintaining() as connection:
            # Outside a transaction, which SQLite demands of it.
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _structure_problems(connection: sqlite3.Connection, thorough: bool) -> list[str]:
    dangling = connection.execute("PRAGMA foreign_key_check")
    return [
        *flaws(connection, thorough, MAX_PROBLEMS),
        *(f"A row of {row[0]} refers to nothing in {row[2]}." for row in dangling),
    ]


def _row_problems(connection: sqlite3.Connection) -> list[str]:
    problems: list[str] = []
    for rows in _row_pieces(connection):
        for row in rows:
            if not is_sound(row):
                problems.append(f"Memory {row[AT_ID]!r}: its checksum is wrong.")
            elif row[AT_STATUS] != Status.FORGOTTEN and not hash_fits(row):
                problems.append(f"Memory {row[AT_ID]!r}: its text has another hash.")
        if len(problems) >= MAX_PROBLEMS:
            break
    return problems


def _row_pieces(connection: sqlite3.Connection) -> Iterator[list[Row]]:
    """Yield all rows by their sequence numbers, some at a time."""
    last_seq = -1
    sql = f"{SELECT} WHERE m.seq > ? ORDER BY m.seq LIMIT ?"
    while rows := connection.execute(sql, (last_seq, CHUNK)).fetchall():
        yield rows
        last_seq = rows[-1][0]


def _vector_problems(connection: sqlite3.Connection) -> list[str]:
    wrong = len(vectors.wrong(connection))
    return [f"{wrong} cached vectors are damaged."] if wrong else []
