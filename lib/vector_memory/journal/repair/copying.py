"""Whole copies of a database that is in use."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

from vector_memory.errors import StoreDamagedError
from vector_memory.journal.connection import Connections, create_file, uri
from vector_memory.journal.failures import translated
from vector_memory.journal.opening import refuse_newer, version_of
from vector_memory.journal.vectors import forget_missing
from vector_memory.system.files import delete_file


def problems_of(path: str, newest: int) -> list[str]:
    """Read a copy through.

    Args:
        newest: the highest schema version that is known.

    Returns:
        What is wrong with it, one sentence each; [] when all is well.
    """
    try:
        # Immutable: reading a copy must leave no side files beside it.
        with closing(sqlite3.connect(uri(path, "mode=ro&immutable=1"), uri=True)) as connection:
            refuse_newer(connection, newest, path)
            if not version_of(connection):
                return ["It is empty or another program's."]
            return flaws(connection, True, 3)
    except sqlite3.Error as error:
        return [f"SQLite: {error}."]
    except StoreDamagedError as error:
        return [error.message]


def flaws(connection: sqlite3.Connection, thorough: bool, most: int) -> list[str]:
    """Return what SQLite finds wrong with a database, one sentence each, so many at most; `thorough`
    reads every index entry too."""
    pragma = "integrity_check" if thorough else "quick_check"
    rows = connection.execute(f"PRAGMA {pragma}({most})")
    return [f"SQLite: {row[0]}." for row in rows if row[0] != "ok"]


def copy_database(connections: Connections, path: str, without_vectors: bool = False) -> None:
    """Write a copy as one file (0600), aside first and renamed when it is complete. It shows one
    moment, whatever is written meanwhile.

    Args:
        without_vectors: leave out a journal's cached vectors, which can be made again.

    Raises:
        StoreFullError: it cannot be written.
    """
    aside = f"{path}.part"
    with connections.reading() as connection, translated(path):
        delete_file(aside)
        create_file(aside)
        with closing(sqlite3.connect(aside, isolation_level=None)) as copy:
            # All pages in one step: nothing is written in between.
            connection.backup(copy)
            # One file that can be opened anywhere, without side files.
            copy.execute("PRAGMA journal_mode = DELETE")
            if without_vectors:
                copy.execute("DELETE FROM vectors")
                forget_missing(copy)
                copy.execute("VACUUM")
        os.replace(aside, path)
