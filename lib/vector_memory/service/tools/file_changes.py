"""Which of the files that a memory names are no longer what they were when it was made.

Few are looked at, with `stat` alone, and none outside the project: a path that leaves it, by its words or
by a link, is not looked at.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from datetime import datetime

MOST_FILES = 4
LONGEST_PATH = 512
SAME, CHANGED, GONE = "is as it was", "has changed since", "is gone"


def file_states(files: Iterable[str], roots: Sequence[str], since: datetime) -> dict[str, str]:
    """Return what became of files since a time: SAME, CHANGED or GONE, in the order of the files; those of which
    it cannot be told are left out.

    Args:
        files: paths, relative to a root or below one; the first few are looked at.
        roots: real paths of the folders that they may be in, the likeliest first.
        since: when the memory was made.
    """
    looked_at = list(dict.fromkeys(files))[:MOST_FILES]
    states = {file: _state(file, roots, since) for file in looked_at}
    return {file: state for file, state in states.items() if state}


def _state(file: str, roots: Sequence[str], since: datetime) -> str:
    """Return what became of a file, "" where that cannot be told."""
    if not file or len(file) > LONGEST_PATH or "\0" in file:
        return ""
    state = ""
    for root in roots:
        path = os.path.normpath(os.path.join(root, file))
        folder = os.path.dirname(path)
        # A link on the way could lead anywhere, so nothing that goes through one is looked at.
        if not path.startswith(root.rstrip(os.sep) + os.sep) or os.path.realpath(folder) != folder:
            continue
        try:
            status = os.lstat(path)
        except OSError:
            # A bare name may have been short for a path; one whose folder is there was a file in it.
            if os.path.dirname(file) and os.path.isdir(folder):
                state = GONE
            continue
        if stat.S_ISLNK(status.st_mode):
            return ""
        return CHANGED if status.st_mtime > since.timestamp() else SAME
    return state
