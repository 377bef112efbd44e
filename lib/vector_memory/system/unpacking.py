"""Gzipped files from elsewhere, unpacked as far as they may be: some kilobytes can hold gigabytes."""

from __future__ import annotations

import gzip
import io
import os
from typing import IO

MOST_RATIO = 200
SMALL_BYTES = 64 << 20
"""What is unpacked of a file at most: so many times its own size, and this. A database of which nearly all
was forgotten, the emptiest that there is, comes to half of that."""


class Unpacked(io.RawIOBase):
    """What a gzipped file holds, until it is more than it may be.

    Args:
        file: the open file.
        most_bytes: how much may be unpacked; by default what such a file may sanely hold.
    """

    def __init__(self, file: IO[bytes], most_bytes: int | None = None) -> None:
        self._gzip = gzip.GzipFile(fileobj=file, mode="rb")
        self._left = most_of(file) if most_bytes is None else most_bytes

    def allow(self, most_bytes: int) -> None:
        """Let so much more be unpacked, from here on."""
        self._left = most_bytes

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes.

        Raises:
            OSError: it is not gzipped, or holds more than it may.
            EOFError, zlib.error: it is damaged.
        """
        data = self._gzip.read(self._left + 1 if size < 0 else size)
        self._left -= len(data)
        if self._left < 0:
            raise OSError("it unpacks to far more than it should hold")
        return data


def most_of(file: IO[bytes]) -> int:
    """Return how many bytes an open gzipped file may sanely hold."""
    return MOST_RATIO * os.fstat(file.fileno()).st_size + SMALL_BYTES
