"""A file that takes up space for the day on which the disk is full: it is given up then, so that what
frees space (forgetting, folding the log in, ending) can still be written."""

from __future__ import annotations

import errno
import logging
import os
import time
from collections.abc import Callable
from typing import TypeVar

from vector_memory.errors import StoreFullError
from vector_memory.system import bytecode
from vector_memory.system.files import delete_file

T = TypeVar("T")
log = logging.getLogger(__name__)

RESERVE_BYTES = 8 << 20
ENOUGH = 4
"""So many times its size must be free before it is made (again)."""
LOOK_S = 2.0
_BLOCK = bytes(1 << 16)


def _is_full(error: StoreFullError | OSError) -> bool:
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    # SQLite calls every failure to write but that of a full disk an error of the disk, an exhausted quota, too.
    return any(words in str(error).lower() for words in ("disk is full", "disk i/o error"))  # fmt: skip


class Reserve:
    """The reserve of a data home.

    Args:
        path: the file.
        size: its size in bytes.
        clock: seconds, monotonic.
    """

    def __init__(
        self, path: str, size: int = RESERVE_BYTES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.path = path
        self.size = size
        self._clock = clock
        self._looked_at_s = float("-inf")
        self._is_short = False

    @property
    def is_whole(self) -> bool:
        """Whether it is there, and nothing lacked space since it was made."""
        return not self._is_short and os.path.exists(self.path)

    def note_shortage(self) -> None:
        """Note that something could not be written for want of space."""
        self._is_short = True

    def give_up(self) -> bool:
        """Free the reserved space; whether there was any."""
        self._is_short = True
        try:
            os.unlink(self.path)
        except OSError:
            return False
        log.error("the disk is full: the reserve is given up")
        return True

    def keep(self) -> bool:
        """Make the reserve (again) where there is space for it, looking every few seconds; whether
        space is back after something could not be written."""
        if self._clock() - self._looked_at_s < LOOK_S:
            return False
        self._looked_at_s = self._clock()
        bytecode.write_with_space_only()
        is_made = os.path.exists(self.path)
        if (is_made and not self._is_short) or self._free() < ENOUGH * self.size:
            return False
        if not is_made and not self._make():
            return False
        was_short, self._is_short = self._is_short, False
        return was_short

    def spare(self, work: Callable[[], T]) -> T:
        """Do what frees space; where there is none to do it in, give up the reserve first.

        Raises:
            StoreFullError: even that was not enough, or it cannot be written for another reason.
        """
        try:
            return work()
        except (StoreFullError, OSError) as error:
            # What cannot be written for another reason needs no room.
            lacks_room = _is_full(error) or self._free() < self.size
            if not (lacks_room and self.give_up()):
                raise
            return work()

    def _free(self) -> int:
        try:
            disk = os.statvfs(os.path.dirname(self.path))
        except OSError:
            return 0
        return disk.f_bavail * disk.f_frsize

    def _make(self) -> bool:
        """Write the file whole, so that its blocks are really taken."""
        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb", buffering=0) as file:
                for _ in range(-(-self.size // len(_BLOCK))):
                    file.write(_BLOCK)
                os.fsync(descriptor)
        except OSError:
            delete_file(self.path, OSError)
            return False
        return True
