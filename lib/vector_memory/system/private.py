"""Folders that are this user's alone. Standard library only, Python 3.9."""

import os
import stat

from vector_memory.errors import BadInputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

OPEN_TO_OTHERS = 0o077
ANOTHER_HOME = "Set VECTOR_MEMORY_HOME to a folder of your own, by its absolute path."


def user_id() -> int:
    """Return this user's number; -1 where a system has none."""
    return os.geteuid() if hasattr(os, "geteuid") else -1


def make_folder(path: str) -> None:
    """Make a folder and those above it that are missing, each 0700 whatever the umask says."""
    missing = []
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for folder in reversed(missing):
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            # Another process was quicker; anything but a folder in the way is an error.
            if not os.path.isdir(folder):
                raise


def close_folder(path: str) -> None:
    """Take others' rights from a folder of this user's; what cannot be changed stays as it is."""
    status = os.stat(path)
    if status.st_uid != user_id() or not status.st_mode & OPEN_TO_OTHERS:
        return
    try:
        os.chmod(path, 0o700)
    except OSError:
        return


def open_below(path: str) -> "Iterator[str]":
    """Yield what others have rights to in a folder of this user's, itself included; no link is followed
    but `path`."""
    for folder, _, names in os.walk(os.path.realpath(path)):
        for entry in (folder, *(os.path.join(folder, name) for name in names)):
            try:
                status = os.lstat(entry)
            except FileNotFoundError:
                continue
            is_ours = status.st_uid == user_id() and not stat.S_ISLNK(status.st_mode)
            if is_ours and status.st_mode & OPEN_TO_OTHERS:
                yield entry


def close_below(path: str) -> None:
    """Take others' rights from all that `open_below` yields: installers choose rights of their own."""
    for entry in open_below(path):
        try:
            os.chmod(entry, os.stat(entry).st_mode & 0o700)
        except FileNotFoundError:
            continue


def is_of_project(path: str, project: str) -> bool:
    """Whether a path leads into a project's folder, and the user's home does not lie there: then it is
    the project that brought it."""
    folder = os.path.realpath(project).rstrip(os.sep) + os.sep
    real, home = os.path.realpath(path), os.path.realpath(os.path.expanduser("~"))
    return (real + os.sep).startswith(folder) and not (home + os.sep).startswith(folder)


def require_own(path: str) -> None:
    """Make sure that a folder, or what a link of its name leads to, belongs to this user.

    Raises:
        BadInputError: it belongs to another user.
        OSError: it is not there.
    """
    if os.stat(path).st_uid != user_id() >= 0:
        raise BadInputError("%s belongs to another user." % path, ANOTHER_HOME)


def require_own_itself(path: str) -> None:
    """Make sure that a folder belongs to this user, and is no link.

    Raises:
        BadInputError: it is not.
        OSError: it is not there.
    """
    if stat.S_ISLNK(os.lstat(path).st_mode):
        raise BadInputError("%s is a link." % path, "Remove it; the folder is made anew.")
    require_own(path)


def require_closed(path: str) -> None:
    """Make sure that a folder belongs to this user, is no link, and that nobody else can reach into it.

    Raises:
        BadInputError: it is not.
        OSError: it is not there.
    """
    require_own_itself(path)
    if os.stat(path).st_mode & OPEN_TO_OTHERS and user_id() >= 0:
        raise BadInputError("%s is open to others." % path, "Take their rights: chmod 700.")


def world_writable_above(path: str) -> str:
    """Return the first folder above a path in which anybody could put something else in its place:
    writable by all, and without the sticky bit that keeps what is another's. "" for none."""
    return _unsafe_above(path, stat.S_IWOTH)


def group_writable_above(path: str) -> str:
    """Return the first folder above a path that a group may write to, without the sticky bit, or that
    belongs to neither this user nor root; "" for none. That may be meant: some systems give each
    user a group."""
    return _unsafe_above(path, stat.S_IWGRP) or _unsafe_above(path, 0)


def _unsafe_above(path: str, writable: int) -> str:
    folder = os.path.realpath(path)
    while os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
        status = os.stat(folder)
        is_loose = status.st_mode & writable and not status.st_mode & stat.S_ISVTX
        is_foreign = not writable and status.st_uid not in (0, user_id()) and user_id() >= 0
        if is_loose or is_foreign:
            return folder
    return ""
