"""One set-up at a time for each runtime."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator


class BusyError(Exception):
    """Another set-up holds the lock."""


@contextlib.contextmanager
def held(path: str, waiting: Callable[[], None] | None) -> Iterator[None]:
    """Hold the lock file for a block; it goes with the process, however that ends.

    Args:
        waiting: called once when another process has it, before waiting for it; None means
            not to wait.

    Raises:
        BusyError: another process has it and `waiting` is None.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _lock(descriptor, waiting)
        yield
    finally:
        os.close(descriptor)


def is_held(path: str) -> bool:
    """Whether a process has locked the file."""
    try:
        with held(path, None):
            return False
    except BusyError:
        return True


def _lock(descriptor: int, waiting: Callable[[], None] | None) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if waiting is None:
            raise BusyError from error
        waiting()
        fcntl.flock(descriptor, fcntl.LOCK_EX)
