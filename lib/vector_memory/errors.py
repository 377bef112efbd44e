"""Every error that this package raises on purpose.

    VectorMemoryError           what a user can act on: the CLI prints it and exits 1
    ├── BadInputError           what was asked cannot be done as asked
    ├── NotFoundError           no memory, project or file of that name
    ├── OvertakenError          what was to be changed was changed or forgotten since it was read
    ├── UnsafeTextError         the redactor could not handle the text: it was dropped
    ├── DaemonUnavailableError  no daemon answered in time
    ├── StoreDamagedError       a file of a store is damaged or from a newer version
    ├── StoreTamperedError      something in a store's folder leads elsewhere: it is not opened
    ├── StoreFullError          the disk is full or read-only
    ├── EmbeddingError          the embedding backend is missing or failed
    │   └── ModelChangedError   it has another model under the same name by now
    ├── GenerationError         a language model cannot be used now
    │   ├── NotAskedError       it was asked often enough today, or failed a moment ago
    │   ├── ModelAwayError      nobody listens there, or the model is not installed
    │   └── CutShortError       less time was left for it than it needed
    └── SetupError              a step of the set-up failed

Anything else that escapes is a bug: exit 3.
"""

import errno

_FULL, _CLOSED = "Free space on its disk, then ask again.", "Make it yours to read and to write."
_HINTS = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), _FULL),
    **dict.fromkeys((errno.EROFS, errno.EACCES, errno.EPERM), _CLOSED),
}


class VectorMemoryError(Exception):
    """Base of all expected errors.

    Args:
        message: what happened, in one sentence.
        hint: what the user can do about it, in one sentence; by default what helps with all errors of the class.
    """

    advice = ""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint or self.advice

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class BadInputError(VectorMemoryError):
    """What was asked cannot be done as asked."""

    advice = "Correct it, then ask again."


class NotFoundError(VectorMemoryError):
    """There is nothing of that name."""


class OvertakenError(VectorMemoryError):
    """What was to be changed was changed, or forgotten, by somebody else since it was read: nothing was written."""

    advice = "Ask again: it is read anew."


class UnsafeTextError(VectorMemoryError):
    """The redactor could not handle the text, so it was dropped."""


class DaemonUnavailableError(VectorMemoryError):
    """No daemon answered in time."""


class StoreDamagedError(VectorMemoryError):
    """A file of a store is damaged, or was written by a newer version."""


class StoreTamperedError(VectorMemoryError):
    """Something in a store's folder leads elsewhere: a link, a hard link, a pipe, a device."""


class StoreFullError(VectorMemoryError):
    """The disk is full or the folder is read-only."""

    advice = "Make room on the disk, or the folder writable, then try again."

    @classmethod
    def advice_for(cls, error: OSError) -> "StoreFullError | None":
        """Return what a user can do about a disk that refused, None where it was something else."""
        hint = _HINTS.get(error.errno or 0)
        if hint is None:
            return None
        message = f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
        return cls(message, hint)


class EmbeddingError(VectorMemoryError):
    """The embedding backend is missing or failed."""


class ModelChangedError(EmbeddingError):
    """There is another embedding model under the same name: vectors of both must not be compared."""

    advice = "The daemon starts anew with it by itself."


class GenerationError(VectorMemoryError):
    """A language model cannot be used now; whatever asked for it goes on without.

    Args:
        tokens: what the failed call took, where that is known.
    """

    def __init__(self, message: str, hint: str = "", tokens: int = 0) -> None:
        super().__init__(message, hint)
        self.tokens = tokens


class NotAskedError(GenerationError):
    """A language model was not asked: what it may take in a day is used up, or it failed a moment ago."""


class ModelAwayError(GenerationError):
    """There is no language model to ask: nobody listens at its address, or the model or its program is missing."""


class CutShortError(GenerationError):
    """Of a time that several calls of a language model share too little was left for this one. It has not failed."""


class SetupError(VectorMemoryError):
    """A step of the set-up failed."""
