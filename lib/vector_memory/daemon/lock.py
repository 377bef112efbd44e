"""One daemon for a data home: the lock is held as long as the process lives."""

from __future__ import annotations

import contextlib
import fcntl
import os

from vector_memory.client.spawn import LOCK_FD


def acquire(path: str) -> int | None:
    """Return the lock's file descriptor, or None where another daemon has it.

    Who started this process has taken the lock for it and left it at `LOCK_FD`; without that it is
    taken now.
    """
    fd = LOCK_FD
    if _is_open_there(path):
        os.set_inheritable(fd, False)
    else:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        return None
    # Written over what is there, which takes no space: there may be none.
    os.ftruncate(fd, os.pwrite(fd, b"%d\n" % os.getpid(), 0))
    return fd


def _is_open_there(path: str) -> bool:
    """Whether the descriptor is that file; anything else at it is closed."""
    try:
        if os.path.samestat(os.fstat(LOCK_FD), os.stat(path)):
            return True
    except OSError:
        pass
    with contextlib.suppress(OSError):
        os.close(LOCK_FD)
    return False
