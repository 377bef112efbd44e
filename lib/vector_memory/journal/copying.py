"""Whole copies of a database that is in use."""

from __future__ import annotations

import os
import sqlite3

from vector_memory.journal.connection import Connections, create_file
from vector_memory.journal.failures import translated
from vector_memory.journal.salvage import forget_missing_vectors


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
        if os.path.exists(aside):
            os.unlink(aside)
        create_file(aside)
        copy = sqlite3.connect(aside, isolation_level=None)
        try:
            # All pages in one step: nothing is written in between.
            connection.backup(copy)
            # One file that can be opened anywhere, without side files.
            copy.execute("PRAGMA journal_mode = DELETE")
            if without_vectors:
                copy.execute("DELETE FROM vectors")
                forget_missing_vectors(copy)
                copy.execute("VACUUM")
        finally:
            copy.close()
        os.replace(aside, path)
