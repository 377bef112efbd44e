"""What a session's transcript tells of it to a daemon that was not there: its prompts, and files it touched.

Only a transcript's beginning and end are read, once, when the first call of a session that nobody knows comes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from vector_memory.index.exchanges import exchanges
from vector_memory.index.noise import is_command
from vector_memory.index.transcript import Lines, TranscriptEntry
from vector_memory.model import unique

HEAD_BYTES = 512_000
TAIL_BYTES = 256_000
MOST_FIRST, MOST_LAST = 4, 12
MOST_FILES = 400


class Earlier(NamedTuple):
    """The first and last prompts of a session, in order, and the files that its calls named."""

    prompts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def read(path: str) -> Earlier:
    """Return what a transcript tells; nothing of one that is not there or cannot be read."""
    try:
        told = [exchange for exchange in exchanges(_entries(path)) if not exchange.is_subagent]
    except OSError:
        return Earlier()
    files = unique(file for exchange in told for file in exchange.files)
    typed = [
        exchange.prompt for exchange in told if exchange.prompt and not is_command(exchange.prompt)
    ]
    if len(typed) > MOST_FIRST + MOST_LAST:
        typed = typed[:MOST_FIRST] + typed[-MOST_LAST:]
    return Earlier(tuple(typed), files[-MOST_FILES:])


def _entries(path: str) -> Iterator[TranscriptEntry]:
    yield from takewhile(lambda entry: entry.end <= HEAD_BYTES, Lines(path))
    size = os.path.getsize(path)
    if size > HEAD_BYTES:
        # It begins in the midst of a line.
        yield from Lines(path, max(HEAD_BYTES, size - TAIL_BYTES))
