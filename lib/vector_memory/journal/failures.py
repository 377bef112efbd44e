"""SQLite's errors in the words of `errors.py`."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from vector_memory.errors import BadInputError, StoreDamagedError, StoreFullError, VectorMemoryError
from vector_memory.system.files import has_room

# Message texts, since error codes reach Python from 3.11 on only.
_FULL = ("disk is full", "readonly", "read-only", "disk i/o error", "unable to open")
_DAMAGED = (
    "malformed",
    "not a database",
    "no such table",
    "no such column",
    "invalid fts5",
    "could not decode",
)
_BUSY = ("is locked", "is busy")


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Raise what SQLite raises inside as an error of this package.

    Args:
        path: the database's file, for the message.

    Returns:
        A block for `with`.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise translate(error, path) from error
    except (UnicodeEncodeError, OverflowError) as error:
        # Values that SQLite has no form for: lone surrogates, numbers of more than 64 bits.
        raise BadInputError(
            f"A value cannot be stored: {error}.", "Clean the text or shorten the number."
        ) from error


def error_words(error: BaseException | None) -> str:
    """Return what SQLite says is wrong, without what is stored there: that belongs into no log."""
    return str(error).partition(" with text ")[0]


def is_damage(error: StoreDamagedError) -> bool:
    """Whether SQLite could not read a file; one of a newer version or another program is whole."""
    return isinstance(error.__cause__, sqlite3.DatabaseError)


@contextmanager
def full_disk(path: str) -> Iterator[None]:
    """Raise what the system raises inside about files that cannot be written as StoreFullError.

    Returns:
        A block for `with`.
    """
    try:
        yield
    except OSError as error:
        raise _full(path, error) from error


def translate(error: sqlite3.Error, path: str) -> Exception:
    """Return the error of this package that says what `error` means for the user, or `error` itself
    where none does: that is a bug."""
    if isinstance(error, sqlite3.IntegrityError):
        return BadInputError(f"{path} refuses the value: {error}.", "Correct what was given.")
    words = str(error).lower()
    if any(part in words for part in _FULL):
        return _full(path, error)
    if any(part in words for part in _DAMAGED):
        return StoreDamagedError(
            f"{path} is damaged: {error_words(error)}.",
            "Run `vector-memory check --read-data`: it saves what can be read.",
        )
    if any(part in words for part in _BUSY):
        return VectorMemoryError(
            f"{path} is in use by another process: {error}.", "Stop that process and try again."
        )
    return error


def _full(path: str, error: Exception) -> StoreFullError:
    # Of a full disk SQLite says that it is full, or that something went wrong there.
    why = str(error) if has_room(os.path.dirname(path)) else f"its disk is full ({error})"
    return StoreFullError(
        f"{path} cannot be written: {why}.", "Free space on its disk or make its folder writable."
    )


@contextmanager
def on_error(act: Callable[[], object]) -> Iterator[None]:
    """Do something, such as closing what was opened, where the body raises.

    Returns:
        A block for `with`.
    """
    try:
        yield
    except BaseException:
        act()
        raise
