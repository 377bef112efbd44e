"""Which of the files that a memory names are no longer what they were when it was made.

Few are looked at, with `stat` alone, and none outside the project: a path that leaves it, by its words or
by a link, is not looked at.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

MOST_FILES = 4
LONGEST_PATH = 512


class FileStates(NamedTuple):
    """What was seen: files as they were, files changed since, and files that are gone, as the memory
    writes them."""

    same: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    def words(self) -> str:
        """Return what the reader has to know, "" for nothing."""
        told = [f"{_name(one)} has changed since" for one in self.changed]
        told += [f"{_name(one)} is gone" for one in self.gone]
        return ", ".join(told)


def look(files: Iterable[str], roots: Sequence[str], since: datetime) -> FileStates:
    """Return what became of files since a time.

    Args:
        files: paths, relative to a root or below one; the first few are looked at.
        roots: real paths of the folders that they may be in, the likeliest first.
        since: when the memory was made.
    """
    same: list[str] = []
    changed: list[str] = []
    gone: list[str] = []
    for file in list(dict.fromkeys(files))[:MOST_FILES]:
        seen = _seen(file, roots)
        if seen is None:
            continue
        if seen < 0:
            gone.append(file)
        else:
            (changed if seen > since.timestamp() else same).append(file)
    return FileStates(tuple(same), tuple(changed), tuple(gone))


def _seen(file: str, roots: Sequence[str]) -> float | None:
    """Return when a file was written last, in seconds since 1970; -1 where it is gone, None where that
    cannot be told."""
    if not file or len(file) > LONGEST_PATH or "\0" in file:
        return None
    missing = None
    for root in roots:
        path = os.path.normpath(os.path.join(root, file))
        # A link on the way could lead anywhere, so nothing that goes through one is looked at.
        if not _is_below(path, root) or os.path.realpath(os.path.dirname(path)) != os.path.dirname(
            path
        ):
            continue
        try:
            about = os.lstat(path)
        except OSError:
            # A bare name may have been short for a path; one whose folder is there was a file in it.
            if os.path.dirname(file) and os.path.isdir(os.path.dirname(path)):
                missing = -1.0
            continue
        if os.path.islink(path):
            return None
        return about.st_mtime
    return missing


def _is_below(path: str, root: str) -> bool:
    return path.startswith(root.rstrip(os.sep) + os.sep)


def _name(file: str) -> str:
    """Return a path that fits into a line."""
    return " ".join(file.split())[-80:]
