"""One set-up at a time for each runtime."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
from collections.abc import Iterator


class BusyError(Exception):
    """Another set-up holds the lock."""


@contextlib.contextmanager
def hold_lock(path: str, waiting: str = "") -> Iterator[None]:
    """Hold the lock file for a block; it goes with the process, however that ends.

    Args:
        waiting: what is said where another process has it, before it is waited for; "" means
            not to wait.

    Raises:
        BusyError: another process has it and is not waited for.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if not waiting:
                raise BusyError from error
            sys.stdout.write(f"{waiting}\n")
            sys.stdout.flush()
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
