"""The folders whose markers the user trusts."""

from __future__ import annotations

import os

from vector_memory.journal.rows import microseconds
from vector_memory.journal.state_tables import StateTables


class TrustedRows(StateTables):
    """Trusted folders: a part of `State`."""

    def trust(self, folder: str, store_id: str = "") -> None:
        """Trust the marker in a folder, known by its real path. Durable.

        Args:
            store_id: the id of the store that is trusted there; "" for the one that is opened next.
        """
        with self._durably() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO trusted VALUES (?, ?, ?)",
                (os.path.realpath(folder), microseconds(self._now()), store_id),
            )

    def store_trusted(self, folder: str) -> str:
        """Return the id of the store that is trusted in a folder, "" where it was not opened yet."""
        row = self._row("SELECT store_id FROM trusted WHERE folder = ?", os.path.realpath(folder))
        return str(row[0]) if row else ""

    def trusted(self, folder: str) -> bool:
        """Whether the marker in a folder is trusted."""
        row = self._row("SELECT 1 FROM trusted WHERE folder = ?", os.path.realpath(folder))
        return row is not None

    def trusted_folders(self) -> list[str]:
        """Return the folders whose markers are trusted, in the order of their names."""
        rows = self._connections.rows("SELECT folder FROM trusted ORDER BY folder")
        return [row[0] for row in rows]

    def untrust(self, folder: str) -> None:
        """Stop trusting the marker in a folder. Durable."""
        with self._durably() as connection:
            connection.execute("DELETE FROM trusted WHERE folder = ?", (os.path.realpath(folder),))
