"""What is done about a damaged database: what can be read goes into a new one, the old one is set
aside, and a report beside it tells what is missing."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator

from vector_memory.journal.connection import uri
from vector_memory.journal.repair import salvage, swap
from vector_memory.journal.repair.salvage import Salvaged
from vector_memory.journal.rows import utc_now
from vector_memory.journal.state_schema import MIGRATIONS
from vector_memory.system import removal


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
    """Copy the rows of every table up to where it cannot be read; return how many there were."""
    tables = [
        row[0]
        for row in target.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
    ]
    count = 0
    target.execute("BEGIN IMMEDIATE")
    for table in tables:
        # Table by table, each as far as it goes: one that is damaged takes none of the others
        # along.
        for row in _readable(path, table):
            marks = ", ".join("?" * len(row))
            target.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row)
            count += 1
    target.execute("COMMIT")
    return count


def _readable(path: str, table: str) -> Iterator[tuple[object, ...]]:
    try:
        source = sqlite3.connect(uri(path, "mode=rw"), uri=True, isolation_level=None)
    except sqlite3.Error:
        return
    try:
        yield from source.execute(f"SELECT * FROM {table}")
    except sqlite3.DatabaseError:
        return
    finally:
        source.close()
