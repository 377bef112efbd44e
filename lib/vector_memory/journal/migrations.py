"""Numbered migrations: each runs in one transaction together with the version that it reaches."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from vector_memory.errors import StoreDamagedError
from vector_memory.journal.connection import transaction

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
        _step(connection, migrations)


def refuse_newer(connection: sqlite3.Connection, newest: int, path: str) -> None:
    """Raise StoreDamagedError if the database has a version above `newest`."""
    version = version_of(connection)
    if version > newest:
        raise StoreDamagedError(
            f"{path} was written by a newer version: its schema is {version}, this one knows {newest}.",
            "Update the plugin, or restore an older backup.",
        )


def _step(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> None:
    with transaction(connection):
        # Another process may have done it meanwhile.
        version = version_of(connection)
        if version < len(migrations):
            migrations[version](connection)
            connection.execute(f"PRAGMA user_version = {version + 1}")
