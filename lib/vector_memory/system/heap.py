"""What a process holds of the machine's memory and does not need now."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import re
from collections.abc import Iterator
from typing import NamedTuple

SMAPS = "/proc/self/smaps"
_MAPPED_FILE = re.compile(
    r"^([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ \d+ +/.*\n((?:[A-Z].*\n)+)", re.MULTILINE
)


class _Region(NamedTuple):
    """Addresses behind which a file stands, and how much of it is in memory, in bytes."""

    start: int
    size: int
    resident: int


def give_back() -> None:
    """Return freed memory to the system, where the C library can. Takes milliseconds."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


def let_go() -> int:
    """Let go of the pages of libraries and of files that are only read; return how many bytes that were.

    The system keeps them for as long as it has room for them, and what is touched again comes back by
    itself: a good part of what a daemon holds is code and data that nobody needs while nobody asks. Linux
    alone; elsewhere nothing happens.
    """
    released = 0
    with contextlib.suppress(AttributeError, OSError):
        madvise = ctypes.CDLL(None).madvise
        madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        for region in _read_only_files():
            if madvise(region.start, region.size, mmap.MADV_DONTNEED) == 0:
                released += region.resident
    return released


def _read_only_files() -> Iterator[_Region]:
    """Yield where files are mapped that cannot be written there, and of which nothing was changed: a page
    that was, such as one with addresses of other libraries, would come back as it is in the file."""
    with open(SMAPS, encoding="utf-8", errors="replace") as file:
        maps = file.read()
    for region in _MAPPED_FILE.finditer(maps):
        sizes = _sizes(region[4])
        # What was changed and written to swap is not resident, and changed all the same.
        changed = sizes.get("Anonymous", 1) or sizes.get("Swap", 1)
        if "w" not in region[3] and sizes.get("Rss") and not changed:
            start = int(region[1], 16)
            yield _Region(start, int(region[2], 16) - start, sizes["Rss"])


def _sizes(text: str) -> dict[str, int]:
    """Return the sizes, in bytes, that lines such as `Rss: 12 kB` tell."""
    lines = (line.split() for line in text.splitlines())
    return {words[0][:-1]: int(words[1]) << 10 for words in lines if words[2:] == ["kB"]}
