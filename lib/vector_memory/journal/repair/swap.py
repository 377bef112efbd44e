"""Putting another database file in the place of one, so that an interruption loses neither.

What is to come stands beside the file, whole and synced, before anything is renamed: whoever opens
the database finishes what was begun.
"""

from __future__ import annotations

import json
import os

from vector_memory.system.durable_files import DAMAGED, put_aside, set_aside, sync_file
from vector_memory.system.files import delete_file, open_own

INCOMING = ".incoming"
SIDE_FILES = ("-wal", "-shm")
MOST_KEPT = 3
REPORT = "report.json"
DERIVED = ("lance", "matrix")
"""What stands beside a journal that was in use."""


def incoming(path: str) -> str:
    """Return where the file that is to take the place of `path` stands when it is complete."""
    return path + INCOMING


def part(path: str) -> str:
    """Return where the file that is to take the place of `path` is written until it is complete."""
    return f"{incoming(path)}.part"


def make_ready(path: str) -> None:
    """Let what was written to `part` be incoming, and on the disk before it is."""
    sync_file(part(path))
    os.rename(part(path), incoming(path))
    sync_file(os.path.dirname(path))


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
    # A log left behind would be played into the new file.
    for suffix in SIDE_FILES:
        if os.path.exists(path + suffix):
            os.rename(path + suffix, aside + suffix)
    os.rename(incoming(path), path)
    # Both folders: else a power cut may undo one rename and keep the other.
    sync_file(os.path.dirname(aside))
    sync_file(folder)
    return aside


def cancel(path: str) -> None:
    """Take back what was incoming, where the database is still in its place."""
    # Where it is gone already, what is incoming is all that there is.
    if os.path.exists(path):
        delete_file(incoming(path))


def was_in_use(folder: str) -> bool:
    """Whether a store's folder shows that there was a journal."""
    return any(os.path.isdir(os.path.join(folder, name)) for name in DERIVED)


def is_gone(path: str) -> bool:
    """Whether a journal that was in use is missing, or emptied."""
    empty = not os.path.exists(path) or not os.path.getsize(path)
    return empty and not os.path.exists(incoming(path)) and was_in_use(os.path.dirname(path))


def reports(path: str) -> list[dict[str, object]]:
    """Return what was left by `report` for the copies of a journal that are still there, the oldest
    first; a report that cannot be read is left out."""
    folder, name = os.path.split(path)
    contents = []
    for copy in set_aside(folder, name) if os.path.isdir(folder) else ():
        try:
            report = os.path.join(os.path.realpath(folder), copy, REPORT)
            with os.fdopen(open_own(report), encoding="utf-8") as file:
                contents.append(dict(json.load(file)))
        except (OSError, ValueError):
            continue
    return contents
