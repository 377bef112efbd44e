"""What is made in a folder that others reach: it has that folder's rights and group, whatever the umask says, and never
more."""

from __future__ import annotations

import contextlib
import os
import stat

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_ALL = 0o7777
READABLE = 0o644


def make_folder(path: str, root: str) -> None:
    """Make a folder with the rights of another one; one that another process made first stays as it is.

    Raises:
        OSError: it cannot be made.
    """
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return
    if hasattr(os, "fchown"):
        # What was made is given rights, not what bears its name by now.
        descriptor = os.open(path, _FOLDER)
        try:
            lend(descriptor, root, _ALL)
        finally:
            os.close(descriptor)


def lend(descriptor: int, root: str, most: int = READABLE) -> None:
    """Give an open file or folder the rights of a folder, of these at most `most`. A file system that has rights of its
    own keeps them."""
    if not hasattr(os, "fchown"):
        return
    status = os.stat(root)
    mode = stat.S_IMODE(status.st_mode) & most
    with contextlib.suppress(OSError):
        os.fchown(descriptor, -1, status.st_gid)
    if os.fstat(descriptor).st_gid != status.st_gid:
        # Another group than the folder's is everybody else to it.
        mode &= ~stat.S_IRWXG | (mode & stat.S_IRWXO) << 3
    with contextlib.suppress(OSError):
        os.fchmod(descriptor, mode)
