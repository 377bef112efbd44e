"""What is done about a damaged database: what can be read goes into a new one, the old one is set
aside, and a report beside it tells what is missing."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

from vector_memory.journal.connection import uri
from vector_memory.journal.repair import salvage, swap
from vector_memory.journal.repair.pages import Pages
from vector_memory.journal.repair.salvage import Salvaged
from vector_memory.journal.rows import utc_now
from vector_memory.journal.state_schema import MIGRATIONS
from vector_memory.system import removal

_TYPES: dict[str, type | tuple[type, ...]] = {
    "TEXT": str,
    "INTEGER": int,
    "BLOB": bytes,
    "REAL": (int, float),
}
"""SQLite stores a REAL without a fraction as a whole number."""


def mend_journal(path: str, why: str) -> Salvaged | None:
    """Put a new journal in the place of a damaged one that nobody has open; None where nothing in it
    says that it was a journal: it is left as it is. What follows a journal is deleted: it is of
    another history.

    Raises:
        OSError, sqlite3.Error: it cannot be written.

    Returns:
        What could be saved, and where the old file lies.
    """
    done = salvage.prepare(path, why)
    if done is None:
        return None
    for name in swap.DERIVED:
        removal.remove(os.path.join(os.path.dirname(path), name))
    return salvage.report(done, swap.finish(path))


def mend_state(path: str, why: str) -> Salvaged:
    """Put a new `state.db` in the place of a damaged one that nobody has open.

    Returns:
        What became of it; `kept` counts rows of all tables.

    Raises:
        OSError, sqlite3.Error: it cannot be written.
    """
    with salvage.empty_beside(path, MIGRATIONS) as connection:
        rows = _copy(path, connection)
    swap.make_ready(path)
    return salvage.report(Salvaged(why, rows, at=utc_now().isoformat()), swap.finish(path))


def _copy(path: str, target: sqlite3.Connection) -> int:
    """Copy what can be read of every table; return how many rows that were."""
    columns = {
        table: target.execute(f"PRAGMA table_info({table})").fetchall()
        for (table,) in target.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
    }
    target.execute("BEGIN IMMEDIATE")
    broken: set[str] = set()
    for table in columns:
        # Table by table, each as far as it goes: one that is damaged takes none of the others along.
        for row in _readable(path, table, broken):
            _insert(target, table, row)
    for number, values in Pages(path).rows() if broken else ():
        fitting = [table for table in columns if _fits(columns[table], number, values)]
        # What may belong to two tables, as cursors and what is due may, is left out.
        if len(fitting) == 1 and fitting[0] in broken:
            _insert(target, fitting[0], [number, *values[1:]] if number else values)
    target.execute("COMMIT")
    return sum(target.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in columns)


def _readable(path: str, table: str, broken: set[str]) -> Iterator[tuple[object, ...]]:
    """Yield the rows that SQLite finds; a table of which it does not come to the end is added to `broken`."""
    try:
        with closing(sqlite3.connect(uri(path, "mode=rw"), uri=True)) as source:
            # Else SQLite reads nothing at all of a file that is shorter than its header says.
            source.execute("PRAGMA writable_schema = ON")
            yield from source.execute(f"SELECT * FROM {table}")
    except sqlite3.DatabaseError:
        broken.add(table)


def _fits(columns: Sequence[tuple[Any, ...]], number: int, values: Sequence[object]) -> bool:
    """Whether a row from the pages has the form of a table, by its `PRAGMA table_info`. Keys come first in all of them:
    so they are stored."""
    # Of a table with row numbers the key is the number itself, and stored as NULL.
    numbered = not columns[0][3]
    return (
        numbered == (number > 0)
        and len(columns) == len(values)
        and all(
            not is_needed if value is None else isinstance(value, _TYPES[type])
            for value, (_, _, type, is_needed, _, _) in zip(values, columns, strict=True)
        )
    )


def _insert(target: sqlite3.Connection, table: str, row: Sequence[object]) -> None:
    target.execute(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(row))})", row)
