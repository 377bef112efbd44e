"""Putting another database file in the place of one, so that an interruption loses neither.

What is to come stands beside the file, whole and synced, before anything is renamed: whoever opens
the database finishes what was begun.
"""

from __future__ import annotations

import os

from vector_memory.durable_files import DAMAGED, put_aside, sync_file

INCOMING = ".incoming"
SIDE_FILES = ("-wal", "-shm")
MOST_KEPT = 3


def incoming(path: str) -> str:
    """Return where the file that is to take the place of `path` is written, under another name until
    it is complete."""
    return path + INCOMING


def finish(path: str, mark: str = DAMAGED) -> str:
    """Put what is incoming in the place of a database, which is set aside; return where that is, ""
    where nothing was incoming. No connection to either may be open.

    Raises:
        OSError: it cannot be renamed.
    """
    if not os.path.exists(incoming(path)):
        return ""
    folder, name = os.path.split(path)
    aside = put_aside(path, folder, name, MOST_KEPT, mark)
    for side in SIDE_FILES:
        if os.path.exists(path + side):
            os.rename(path + side, aside + side)
    os.rename(incoming(path), path)
    sync_file(os.path.dirname(aside))
    sync_file(folder)
    return aside
