"""Turning what LanceDB and the system raise into this package's errors."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator

from vector_memory.errors import StoreDamagedError, StoreFullError, VectorMemoryError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM})
_BELOW = ("pyarrow", "pyo3", "lance")
_FULL_WORDS = (
    "no space left",
    "disk quota",
    "file too large",
    "read-only file system",
    "permission denied",
)


@contextlib.contextmanager
def translated(doing: str, path: str) -> Iterator[None]:
    """Raise errors of this package for those that LanceDB raises in the body.

    Args:
        doing: what is being done, such as `searching`.
        path: the folder it is done in.

    Raises:
        StoreFullError: the disk is full, or the folder may not be written.
        StoreDamagedError: anything else that LanceDB cannot do.

    Returns:
        A block for `with`.
    """
    try:
        yield
    except VectorMemoryError:
        raise
    except Exception as error:
        # A bug of ours is to be seen as one.
        if not isinstance(error, (RuntimeError, OSError, ValueError)) and not _is_foreign(error):
            raise
        if _is_full(error):
            raise StoreFullError(
                f"{path} cannot be written: {_first_line(error)}.",
                "Free some space or mend the folder's permissions; nothing is lost meanwhile.",
            ) from error
        raise StoreDamagedError(
            f"The search index in {path} failed while {doing}: {_first_line(error)}.",
            "Run `vector-memory rebuild`: it is made anew from the journal.",
        ) from error


def _is_foreign(error: Exception) -> bool:
    """Whether a library below made it: damaged files make LanceDB panic, and Arrow has errors of its
    own."""
    return type(error).__module__.startswith(_BELOW)


def _is_full(error: Exception) -> bool:
    if isinstance(error, OSError) and error.errno in _FULL:
        return True
    text = str(error).lower()
    return any(words in text for words in _FULL_WORDS)


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0][:300].rstrip(".") if lines else type(error).__name__
