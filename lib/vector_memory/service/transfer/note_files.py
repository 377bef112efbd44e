"""Files of notes: which there are, and what they say. Regular files only, up to a size."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from typing import NamedTuple

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.system import files

ENDINGS = (".md", ".markdown")
MAX_BYTES = 2 * 1024 * 1024
MAX_LINE_BYTES = 4 * 1024 * 1024 + 1
MAX_FILES = 1_000
MOST_REPLACED = 0.25
"""The share of characters that may be no UTF-8: a text in an older encoding has some, other files many."""
LOADED_BY_THE_CLIENT = frozenset(["claude.md", "claude.local.md"])
"""What the client puts before the model by itself; it would only be said twice."""

_NOT_ENTERED = frozenset(["node_modules", "vendor", "__pycache__"])
_COMMON = ("MEMORY.md", "NOTES.md")
_COMMON_FOLDERS = (("docs/adr", ""), (".claude", ""), ("", "adr-"))
"""Folders, each with what the names of notes begin with there."""


class NoteFile(NamedTuple):
    """A file that was read: its real path, its text and its time (aware UTC)."""

    path: str
    text: str
    modified_at: datetime


def find(paths: Sequence[str]) -> list[str]:
    """Return files that are named and the notes in folders, each once, by paths whose folders are
    resolved: from here on a link in such a path was put there meanwhile.

    Raises:
        NotFoundError: there is nothing of that name.
        BadInputError: there are too many.
    """
    note_paths: dict[str, None] = {}
    for path in paths:
        if not os.path.lexists(path):
            raise NotFoundError(f"There is no file {path}.", "Check the path.")
        is_folder = os.path.isdir(path)
        for file in (
            notes_below(os.path.realpath(path)) if is_folder else (files.with_real_folder(path),)
        ):
            note_paths[file] = None
            if len(note_paths) > MAX_FILES:
                raise BadInputError(
                    f"There are more than {MAX_FILES:,} notes.", "Name folders with fewer."
                )
    return list(note_paths)


def read(path: str) -> NoteFile:
    """Return the text of a file that `find` gave; a few bytes that are no UTF-8 are replaced.

    Raises:
        NotFoundError: it is not there.
        BadInputError: it is no regular file, a link leads to it, it is too long, or it is no text.
    """
    with files.open_found(path) as file:
        file_stat = os.fstat(file.fileno())
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise BadInputError(f"{path} is longer than {MAX_BYTES:,} bytes.", "Split it.")
    text = data.decode("utf-8-sig", "replace")
    _check(path, "\0" in text, text.count("\ufffd"), len(text))
    return NoteFile(path, text, datetime.fromtimestamp(file_stat.st_mtime, timezone.utc))


def modified_s(path: str) -> float:
    """Return when a file was written last, 0 where it is gone meanwhile."""
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0.0


def begins_with(path: str, words: str) -> bool:
    """Whether a file that `find` gave begins with some words.

    Raises:
        NotFoundError, BadInputError: as `read`.
    """
    with files.open_found(path) as file:
        return (
            file.read(len(codecs.BOM_UTF8) + len(words))
            .removeprefix(codecs.BOM_UTF8)
            .startswith(words.encode())
        )


def lines(path: str) -> Iterator[str]:
    """Yield the lines of a file of any size, without their ends; of one that is longer than a memory is only the
    beginning.

    Raises:
        NotFoundError, BadInputError: as `read`.
    """
    replaced = length = 0
    with files.open_found(path) as file:
        for line in files.bounded_lines(file, MAX_LINE_BYTES):
            text = line.decode("utf-8", "replace")
            replaced, length = replaced + text.count("\ufffd"), length + len(text)
            _check(path, "\0" in text, 0, length)
            yield text.removesuffix("\n")
    _check(path, False, replaced, length)


def _check(path: str, has_zero: bool, replaced: int, length: int) -> None:
    if has_zero or replaced > MOST_REPLACED * length:
        raise BadInputError(f"{path} is no text in UTF-8.", "Save it as UTF-8, or leave it out.")


def common_files(folder: str) -> list[str]:
    """Return the notes that projects commonly have: MEMORY.md, NOTES.md, decision records, and what
    lies in `.claude/`, but for what the client loads itself."""
    paths = [os.path.join(folder, name) for name in _COMMON]
    for subfolder, prefix in _COMMON_FOLDERS:
        notes_folder = os.path.join(folder, subfolder) if subfolder else folder
        paths += [
            path
            for path in _notes_in(notes_folder)
            if os.path.basename(path).lower().startswith(prefix)
        ]
    return [path for path in dict.fromkeys(paths) if _is_regular(path)]


def notes_below(folder: str) -> Iterator[str]:
    """Yield the notes in a folder and below, without hidden folders and other people's code."""
    for current, folders, _ in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name not in _NOT_ENTERED
        )
        yield from (path for path in _notes_in(current) if not os.path.isdir(path))


def _notes_in(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [
        os.path.join(folder, name)
        for name in names
        if name.lower().endswith(ENDINGS) and name.lower() not in LOADED_BY_THE_CLIENT
    ]


def is_missing(path: str) -> bool:
    """Whether there is surely nothing at a path: what cannot be looked at may be there."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        pass
    return False


def _is_regular(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
