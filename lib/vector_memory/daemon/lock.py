"""One daemon for a data home: the lock is held as long as the process lives."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable

RETRY_S = 0.05


def acquire(path: str, wait_s: float, answered: Callable[[], bool]) -> int | None:
    """Return the lock's file descriptor, or None where another daemon serves.

    Args:
        path: the lock's file.
        wait_s: how long to wait for a daemon that is just ending.
        answered: whether another daemon answers now; then there is nothing to wait for.
    """
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    until = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(fd, 0)
            os.write(fd, b"%d\n" % os.getpid())
            return fd
        except OSError:
            if answered() or time.monotonic() > until:
                os.close(fd)
                return None
            time.sleep(RETRY_S)
