"""Removing what is ours from a store's folder: by names, never through a link, and nothing else."""

from __future__ import annotations

import os
import re
import stat

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_OURS = re.compile(
    r"journal\.db[\w.-]*|state\.db[\w.-]*|config\.json|report\.json"
    r"|[\w-]+\.(?:lance|manifest|txn|arrow|bin)|latest_version_hint\.json"
    r"|memories_[\w.-]+\.writing(?:\.sums)?"
    r"|meta\.json(?:\.new)?|building\.f32|(?:seqs|vectors|codes|scales|signs)-\d+\.(?:i64|f32|i8|u64)"
    r"|\d{4}-\d\d-\d\d-[\w.-]+\.(?:md|steps\.jsonl)|audit-[\d-]+\.jsonl\.gz"
    r"|\.[\w.-]+-[0-9a-f]+"
)
"""The names of all files that stores, and copies that were set aside, consist of; the last are those
that `durable_files` writes first."""


def is_ours(name: str) -> bool:
    """Whether a file of this name may be one of a store."""
    return _OURS.fullmatch(name) is not None


def strays(store: str) -> list[str]:
    """Return the files and links in a store that have no name of ours, by their paths."""
    return sorted(
        os.path.join(folder, name)
        for folder, folders, names in os.walk(store)
        for name in [
            *names,
            *(link for link in folders if os.path.islink(os.path.join(folder, link))),
        ]
        if not is_ours(name)
    )


def remove(path: str) -> list[str]:
    """Remove a file of a store, or a folder with all that is ours in it. Links are not followed, and
    what has no name of ours, or a second name elsewhere, stays.

    Returns:
        The paths of what stays.

    Raises:
        OSError: something of ours cannot be removed.
    """
    folder, name = os.path.split(path)
    try:
        parent_fd = os.open(os.path.realpath(folder), _FOLDER)
    except FileNotFoundError:
        return []
    try:
        return _remove_entry(parent_fd, name, path)
    finally:
        os.close(parent_fd)


def _remove_entry(parent_fd: int, name: str, path: str) -> list[str]:
    try:
        status = os.lstat(name, dir_fd=parent_fd)
    except FileNotFoundError:
        return []
    if not stat.S_ISDIR(status.st_mode):
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1 or not is_ours(name):
            return [path]
        os.unlink(name, dir_fd=parent_fd)
        return []
    folder_fd = os.open(name, _FOLDER, dir_fd=parent_fd)
    try:
        staying = [
            stray
            for entry in os.listdir(folder_fd)
            for stray in _remove_entry(folder_fd, entry, os.path.join(path, entry))
        ]
    finally:
        os.close(folder_fd)
    if not staying:
        os.rmdir(name, dir_fd=parent_fd)
    return staying
