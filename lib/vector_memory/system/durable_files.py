"""Files that survive a power cut, that one at a time replaces, and damaged ones that are set aside by a rename."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timezone

from vector_memory.errors import BadInputError
from vector_memory.system import removal
from vector_memory.system.files import delete_file

DAMAGED, REPLACED = ".damaged-", ".replaced-"
LOCK_S, LOCK_PAUSE_S = 10.0, 0.02
"""How long a lock is waited for, and how long between two looks at it."""


def stamp() -> str:
    """Return the time as a part of a file's name; later ones sort behind."""
    return datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S%f")


def sync_file(path: str) -> None:
    """Make a file's content, or a folder's list of files, survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        sync_descriptor(descriptor)
    finally:
        os.close(descriptor)


def sync_descriptor(descriptor: int) -> None:
    """Make what was written to an open file survive a power cut."""
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        # macOS: fsync alone leaves the data in the drive's own cache.
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, full)
            return
    os.fsync(descriptor)


def write_durably(path: str, content: bytes, mode: int = 0o600, keep_mode: bool = False) -> None:
    """Put a file in the place of another one, whole and on the disk.

    Args:
        path: where.
        content: what.
        mode: its rights, of which the user's mask takes some.
        keep_mode: it gets exactly those of the file that was there, if one was.

    Raises:
        OSError: it cannot be written; what was there is there, and nothing else. Or the disk failed just then.
    """
    folder, name = os.path.split(path)
    # A name may be as long as the disk allows.
    temporary = os.path.join(folder, f".{name[:50]}-{threading.get_ident():x}")
    delete_file(temporary)
    try:
        # Made anew, it is nobody else's, whatever stood there.
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except OSError as error:
        # The name that the caller knows: the other one tells nobody anything.
        error.filename = path
        raise
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            if keep_mode and os.path.exists(path):
                _set_mode(temporary, stat.S_IMODE(os.stat(path).st_mode))
            sync_descriptor(descriptor)
        os.replace(temporary, path)
    except BaseException:
        delete_file(temporary, OSError)
        raise
    try:
        sync_file(folder)
    except OSError as error:
        # Some disks, of networks and of other systems, have no way to sync a folder.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise


def _set_mode(path: str, mode: int) -> None:
    # A disk without rights of its own refuses to be told even those that it gives to all.
    if stat.S_IMODE(os.stat(path).st_mode) != mode:
        os.chmod(path, mode)


@contextlib.contextmanager
def hold_lock(path: str, most_s: float = LOCK_S) -> Iterator[None]:
    """Hold a lock file for a block, once whoever has it lets go: no other process or thread that holds it reads and
    replaces a file meanwhile. It goes with the process, however that ends.

    Args:
        most_s: how many seconds are waited for whoever has it, who may have been stopped.

    Raises:
        BadInputError: they do not let go, or what stands there is no file.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        if error.errno not in (errno.EISDIR, errno.ELOOP):
            raise
        raise BadInputError(f"{path} is a folder or a link.", "Take it away.") from error
    try:
        until = time.monotonic() + most_s
        while not _has_locked(descriptor):
            if time.monotonic() >= until:
                raise BadInputError(
                    f"Another process keeps {path} locked. Nothing was changed.",
                    "End it, or try again once it is done.",
                )
            time.sleep(LOCK_PAUSE_S)
        yield
    finally:
        os.close(descriptor)


def _has_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def put_aside(path: str, within: str, name: str, kept: int = 1, mark: str = DAMAGED) -> str:
    """Rename a file or folder into `within/<name><mark><time>/` and return where it is now. What is
    not there is left so.

    Args:
        kept: how many of that name are kept, this one among them.

    Raises:
        OSError: it cannot be renamed.
    """
    discard(within, name, kept - 1, mark)
    aside = os.path.join(within, name + mark + stamp())
    os.makedirs(aside, mode=0o700)
    target = os.path.join(aside, os.path.basename(path))
    with contextlib.suppress(FileNotFoundError):
        os.rename(path, target)
    return target


def set_aside(within: str, name: str, mark: str = DAMAGED) -> list[str]:
    """Return the folders' names of what was set aside under a name, the oldest first."""
    return sorted(entry for entry in os.listdir(within) if entry.startswith(name + mark))


def discard(within: str, name: str, kept: int = 0, mark: str = DAMAGED) -> None:
    """Delete what was set aside under a name, but for the newest `kept`, and for what is not ours in it."""
    with contextlib.suppress(OSError):
        folders = set_aside(within, name, mark)
        for entry in folders[: len(folders) - kept]:
            removal.remove(os.path.join(within, entry))
