"""Opening a journal's file: made, migrated, or refused. Migrations are numbered, and each runs in one transaction together
with the version that it reaches."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence

from vector_memory.errors import StoreDamagedError, StoreFullError
from vector_memory.journal.connection import Connections, create_file, open_writer, transaction
from vector_memory.journal.failures import full_disk, on_error, translated
from vector_memory.journal.repair import swap

Migration = Callable[[sqlite3.Connection], None]


def executing(*statements: str) -> Migration:
    """Return the migration that executes these statements."""

    def execute(connection: sqlite3.Connection) -> None:
        for statement in statements:
            connection.execute(statement)

    return execute


def version_of(connection: sqlite3.Connection) -> int:
    """Return the schema version of a database, 0 when it is empty."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration], path: str) -> None:
    """Bring a database to version `len(migrations)`; the n-th migration makes version n.

    Args:
        connection: in autocommit mode.
        migrations: all that there are, oldest first. None may commit or roll back by itself.
        path: the file, for messages.

    Raises:
        StoreDamagedError: a newer version wrote the database.
    """
    refuse_newer(connection, len(migrations), path)
    # One transaction each: what is interrupted goes on where it was.
    while version_of(connection) < len(migrations):
        with transaction(connection):
            # Another process may have done it meanwhile.
            version = version_of(connection)
            if version < len(migrations):
                migrations[version](connection)
                connection.execute(f"PRAGMA user_version = {version + 1}")


def refuse_newer(connection: sqlite3.Connection, newest: int, path: str) -> None:
    """Raise StoreDamagedError if the database has a version above `newest`."""
    version = version_of(connection)
    if version > newest:
        raise StoreDamagedError(
            f"{path} was written by a newer version: its schema is {version}, this one knows {newest}.",
            "Update the plugin, or restore an older backup.",
        )


def connect(path: str, migrations: tuple[Migration, ...], synchronous: str = "FULL") -> Connections:
    """Open a database for writing, making its folder (0700) and itself (0600) if missing; where
    it cannot be written, for reading. One that was about to take its place does so first.

    Returns:
        Its connections; `writable` says which of the two it became.

    Raises:
        StoreDamagedError: it is no such database, damaged, or from a newer version.
        StoreFullError: there is none and it cannot be made.
    """
    with translated(path):
        if not _writable(path):
            return _readonly(path, len(migrations))
        # A crash may have come between writing the new file and renaming it.
        swap.finish(path)
        create_file(path)
        writer = open_writer(path, synchronous)
        with on_error(writer.close):
            _refuse_strange(writer, path)
            migrate(writer, migrations, path)
        return Connections(path, writer)


def _writable(path: str) -> bool:
    folder = os.path.dirname(path)
    with full_disk(folder):
        os.makedirs(folder, mode=0o700, exist_ok=True)
    # The folder as well: SQLite makes its log beside the file.
    return os.access(folder, os.W_OK) and (not os.path.exists(path) or os.access(path, os.W_OK))


def _readonly(path: str, newest: int) -> Connections:
    if not os.path.exists(path):
        raise StoreFullError(f"{path} cannot be made.", "Make its folder writable.")
    connections = Connections(path, None)
    with on_error(connections.close), connections.reading() as connection:
        refuse_newer(connection, newest, path)
    return connections


def _refuse_strange(writer: sqlite3.Connection, path: str) -> None:
    """Raise StoreDamagedError for a database that this package did not make."""
    if version_of(writer) == 0 and writer.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise StoreDamagedError(
            f"{path} is another program's database.", "Move it away and try again."
        )
