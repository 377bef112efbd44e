"""What a process holds of the machine's memory and does not need now."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
from collections.abc import Iterator

SMAPS = "/proc/self/smaps"


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
        for start, size, resident in _read_only_files():
            if madvise(start, size, mmap.MADV_DONTNEED) == 0:
                released += resident
    return released


def _read_only_files() -> Iterator[tuple[int, int, int]]:
    """Yield where files are mapped that cannot be written there, and of which nothing was changed: a page
    that was, such as one with addresses of other libraries, would come back as it is in the file. Of each the first
    address, its size, and how much of it is in memory, in bytes."""
    with open(SMAPS, encoding="utf-8", errors="replace") as file:
        lines = [line.split() for line in file]
    place: list[str] = []
    sizes: dict[str, int] = {}
    for words in lines:
        if not words[0].endswith(":"):
            place, sizes = words, {}
        elif words[2:] == ["kB"]:
            sizes[words[0]] = int(words[1]) << 10
        elif (
            words[0] == "VmFlags:"
            and "w" not in place[1]
            and place[5:]
            and place[5].startswith("/")
        ):
            # What was changed and written to swap is not resident, and changed all the same.
            changed = sizes.get("Anonymous:", 1) or sizes.get("Swap:", 1)
            if sizes.get("Rss:") and not changed:
                start, end = (int(edge, 16) for edge in place[0].split("-"))
                yield start, end - start, sizes["Rss:"]
