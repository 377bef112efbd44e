"""Where words of memories stand besides the stores' own files: archives, snapshots, logs, damaged copies
that were set aside, backups."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence

from vector_memory import projects
from vector_memory.service.purge.byte_search import files_below
from vector_memory.system import removal
from vector_memory.system.durable_files import DAMAGED, REPLACED
from vector_memory.system.files import delete_file
from vector_memory.system.paths import Home

BACKUPS = "backups"
PROGRAMS = ("app", "runtime", "models", os.path.join("run", "pycache"))
"""Folders of the data home that hold programs and nothing of any memory."""


def folders_of(home: Home, stores: Sequence[str]) -> list[str]:
    """Return the folders in which everything of ours lies, none within another: the data home, and the
    markers of the projects that have stores of their own."""
    folders = [home.root]
    for store in stores:
        above = os.path.dirname(store)
        folder = above if os.path.basename(above) == projects.MARKER else store
        if not any(folder == outer or folder.startswith(outer + os.sep) for outer in folders):
            folders.append(folder)
    return folders


def files_of(home: Home, stores: Sequence[str]) -> Iterator[str]:
    """Yield every file that may hold words of memories, but for backups."""
    left_out = [home.path(name) for name in (*PROGRAMS, BACKUPS)]
    for folder in folders_of(home, stores):
        yield from files_below(folder, left_out)


def backups(home: Home) -> list[str]:
    """Return the files in the backups' usual place."""
    return list(files_below(home.path(BACKUPS)))


def set_aside(home: Home, stores: Sequence[str]) -> list[str]:
    """Return the folders of what was set aside because it was damaged or replaced."""
    return [
        os.path.join(folder, name)
        for folder in dict.fromkeys([home.root, *stores])
        for name in (sorted(os.listdir(folder)) if os.path.isdir(folder) else ())
        if _is_set_aside(name)
    ]


def _is_set_aside(name: str) -> bool:
    """Whether a name ends with how and when a copy was set aside (`system/durable_files.py`)."""
    for mark in (DAMAGED, REPLACED):
        name_before, _, moment = name.rpartition(mark)
        day, _, time = moment.partition("T")
        if name_before and len(day) == 8 and len(time) >= 6 and (day + time).isdecimal():
            return True
    return False


def remove(path: str) -> None:
    """Remove a file, or a folder with all of ours that is in it.

    Raises:
        OSError: it cannot be removed, or something else is in it.
    """
    if os.path.isdir(path) and not os.path.islink(path):
        if remaining := removal.remove(path):
            raise OSError(errno.ENOTEMPTY, f"{remaining[0]} is not ours")
    else:
        delete_file(path)


def is_log(home: Home, path: str) -> bool:
    """Whether a file is a log, a text that an editor left, or a conversation that was handed over and is not
    over: words in it may be written over."""
    is_edited = os.path.dirname(path) == home.run and os.path.basename(path).startswith("edit-")
    return path.startswith((home.logs + os.sep, home.feeds + os.sep)) or is_edited


def is_made_again(home: Home, path: str) -> bool:
    """Whether a file is one of an archive or a snapshot: both are made of what is stored."""
    return any(path.startswith(folder + os.sep) for folder in (home.archives, home.snapshots))
