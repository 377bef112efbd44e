"""The client's own memory of a project: read, so that it is found and never said twice; never written.

The client keeps it beside a project's transcripts and loads it at every start itself.
"""

from __future__ import annotations

import logging
import os
from functools import lru_cache

from vector_memory.index.client_memory import lines_known, normalised
from vector_memory.system import files

log = logging.getLogger(__name__)

LOADED_BYTES = 25_000
LOADED_LINES = 200
"""What of its memory the client loads: the rest the model has not seen."""


def path_beside(transcript: str) -> str:
    """Return where the client keeps its memory of the project of a transcript, "" for none."""
    folder = os.path.dirname(transcript)
    return os.path.join(folder, "memory", "MEMORY.md") if folder else ""


def known_to_client(transcript: str) -> frozenset[str]:
    """Return the sentences that the client itself has told the model, normalised."""
    path = path_beside(transcript)
    try:
        about = os.stat(path)
    except OSError:
        return frozenset()
    return _known(path, about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=64)
def _known(path: str, mtime_ns: int, size: int) -> frozenset[str]:
    try:
        with files.open_plain(files.with_real_folder(path)) as file:
            text = file.read(LOADED_BYTES).decode("utf-8", "replace")
    except OSError:
        return frozenset()
    return frozenset(lines_known("\n".join(text.splitlines()[:LOADED_LINES])))


def repeats(text: str, known: frozenset[str]) -> bool:
    """Whether all that a text says is known."""
    if not known:
        return False
    if normalised(text) in known:
        return True
    said = lines_known(text)
    return bool(said) and said <= known
