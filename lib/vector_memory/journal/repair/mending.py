"""What is done about a damaged database: what can be read goes into a new one, the old one is set
aside, and a report beside it tells what is missing."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, get_args

from vector_memory.journal.audit import AuditRow
from vector_memory.journal.connection import uri
from vector_memory.journal.repair import salvage, swap
from vector_memory.journal.repair.pages import Pages
from vector_memory.journal.repair.salvage import Salvaged
from vector_memory.journal.rows import utc_now
from vector_memory.journal.state_rows import Task
from vector_memory.journal.state_schema import MIGRATIONS
from vector_memory.system import removal

_TYPES: dict[str, type | tuple[type, ...]] = {
    "TEXT": str,
    "INTEGER": int,
    "BLOB": bytes,
    "REAL": (int, float),
}
"""SQLite stores a REAL without a fraction as a whole number."""
_OBJECTS = {
    "cursors": {"cursor"},
    "records": {"body"},
    "use_labels": {"features"},
    "jobs": {"cursor", "report"},
    "audit": {"detail"},
}
"""Columns of JSON objects: a row with something else there fails whoever reads its table."""
_SIGNS: dict[str, Callable[[Sequence[Any]], bool]] = {
    "due": lambda row: row[0] in get_args(Task),
    "trusted": lambda row: os.path.isabs(row[0]),
    "counters": lambda row: not os.path.isabs(row[0]),
    "audit": lambda row: AuditRow._make(row).is_sound,
}
"""What tells a table's rows from those of another one of the same form, or from none."""
Columns = Sequence[tuple[Any, ...]]
"""A table's columns as `PRAGMA table_info` gives them."""


def mend_journal(path: str, why: str) -> Salvaged | None:
    """Put a new journal in the place of a damaged one that nobody has open; None where nothing in it
    says that it was a journal: it is left as it is. What follows a journal is deleted: it is of
    another history.

    Raises:
        OSError, sqlite3.Error: it cannot be written.

    Returns:
        What could be saved, and where the old file lies.
    """
    salvaged = salvage.prepare(path, why)
    if salvaged is None:
        return None
    for name in swap.DERIVED:
        removal.remove(os.path.join(os.path.dirname(path), name))
    return salvage.report(salvaged, swap.finish(path))


def mend_state(path: str, why: str) -> Salvaged:
    """Put a new `state.db` in the place of a damaged one that nobody has open.

    Returns:
        What became of it; `kept` counts rows of all tables.

    Raises:
        OSError, sqlite3.Error: it cannot be written.
    """
    with salvage.empty_beside(path, MIGRATIONS) as connection:
        rows = _copy_rows(path, connection)
    swap.make_ready(path)
    return salvage.report(Salvaged(why, rows, at=utc_now().isoformat()), swap.finish(path))


def unreadable(connection: sqlite3.Connection) -> list[str]:
    """Return in which tables of a `state.db` there are rows that SQLite finds sound and nobody can read, one sentence
    each.

    Raises:
        sqlite3.Error: SQLite itself cannot read one, such as text that is no UTF-8.
    """
    return [
        f"Rows of {table} are damaged."
        for table, columns in _tables(connection).items()
        if not all(_is_whole(table, columns, row) for row in _all_rows(connection, table))
    ]


def _tables(connection: sqlite3.Connection) -> Mapping[str, Columns]:
    """Return the columns of each table."""
    names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    return {
        table: connection.execute(f"PRAGMA table_info({table})").fetchall()
        for (table,) in connection.execute(names).fetchall()
    }


def _all_rows(connection: sqlite3.Connection, table: str) -> Iterator[tuple[object, ...]]:
    yield from connection.execute(f"SELECT * FROM {table}")


def _copy_rows(path: str, target: sqlite3.Connection) -> int:
    """Copy what can be read of every table; return how many rows that were."""
    tables = _tables(target)
    target.execute("BEGIN IMMEDIATE")
    broken: set[str] = set()
    for table, columns in tables.items():
        # Table by table, each as far as it goes: one that is damaged takes none of the others along.
        for readable_row in _readable_rows(path, table, broken):
            if _is_whole(table, columns, readable_row):
                _insert(target, table, columns, readable_row)
    # No guesses: but for the audit log, nothing would say which of two is the row.
    for number, values in Pages(path).rows(with_guesses=False) if broken else ():
        # The number of a row is its key, and stored as NULL.
        row = [number, *values[1:]] if number else values
        fitting = [table for table in tables if _fits(table, tables[table], number, row)]
        # What may belong to two tables is left out.
        if len(fitting) == 1 and fitting[0] in broken:
            _insert(target, fitting[0], tables[fitting[0]], row)
    target.execute("COMMIT")
    return sum(target.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables)


def _readable_rows(path: str, table: str, broken: set[str]) -> Iterator[tuple[object, ...]]:
    """Yield the rows that SQLite finds; a table of which it does not come to the end is added to `broken`."""
    try:
        with closing(sqlite3.connect(uri(path, "mode=rw"), uri=True)) as source:
            # Else SQLite reads nothing at all of a file that is shorter than its header says.
            source.execute("PRAGMA writable_schema = ON")
            yield from _all_rows(source, table)
    except sqlite3.DatabaseError:
        broken.add(table)


def _fits(table: str, columns: Columns, number: int, row: Sequence[Any]) -> bool:
    """Whether a row from the pages is one of a table. Keys come first in all of them: so they are stored."""
    # Only a table with row numbers has a key that need not be given.
    numbered = not columns[0][3]
    return (
        numbered == (number > 0)
        and len(row) <= len(columns)
        # A column that was added later is not stored in rows that are older.
        and all(default is not None for *_, default, _ in columns[len(row) :])
        and all(
            not is_needed if value is None else isinstance(value, _TYPES[type])
            for value, (_, _, type, is_needed, _, _) in zip(row, columns, strict=False)
        )
        and _is_whole(table, columns, row)
        and (table not in _SIGNS or _SIGNS[table](row))
    )


def _is_whole(table: str, columns: Columns, row: Sequence[Any]) -> bool:
    """Whether those parts of a row are JSON objects that have to be."""
    objects = _OBJECTS.get(table, ())
    return all(
        _is_object(value)
        for value, (_, name, *_) in zip(row, columns, strict=False)
        if name in objects
    )


def _is_object(text: Any) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, TypeError, RecursionError):
        return False


def _insert(
    target: sqlite3.Connection, table: str, columns: Columns, row: Sequence[object]
) -> None:
    names = ", ".join(name for _, name, *_ in columns[: len(row)])
    marks = ", ".join("?" * len(row))
    target.execute(f"INSERT OR IGNORE INTO {table}({names}) VALUES ({marks})", row)
