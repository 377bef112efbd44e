"""Where a team's bundles lie: a folder, a git repository, or a bucket. Each member writes below a folder of its
own, and nobody trusts the place: what is read there is checked afterwards."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from abc import ABC, abstractmethod

from vector_memory.errors import BadInputError, NotFoundError, StoreFullError
from vector_memory.system.files import RefusedError, explained, open_regular

ROOT = "v1"
PART = re.compile(r"[0-9a-z][0-9a-z.-]{0,80}")
MOST_NAMES = 10_000


def gone(name: str) -> NotFoundError:
    """Return the error for a file that is not there."""
    return NotFoundError(
        f"There is no {name} at the place where it is shared.",
        "Whoever wrote it, or the place, removed it: pull again later.",
    )


class SharedPlace(ABC):
    """A place with folders of files. Names are relative, with `/` between their parts."""

    def refresh(self) -> None:  # noqa: B027
        """Bring what is read up to date. Where each question goes to the place, there is nothing to do."""

    def finish(self) -> None:  # noqa: B027
        """Hand on what was written and removed. Where it is there at once, there is nothing to do."""

    @abstractmethod
    def names(self, folder: str) -> list[str]:
        """Return the names of what is in a folder, sorted; [] where there is none."""

    @abstractmethod
    def read(self, name: str, most_bytes: int) -> bytes:
        """Return a file, one byte more than `most_bytes` where it is longer.

        Raises:
            NotFoundError: there is none.
        """

    @abstractmethod
    def write(self, name: str, content: bytes) -> None:
        """Write a new file, whole or not at all.

        Raises:
            BadInputError: there is one of that name.
        """

    @abstractmethod
    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""


class Folder(SharedPlace):
    """A folder that all members reach, such as one on a network drive or in a synchronised one."""

    def __init__(self, root: str) -> None:
        self.root = root

    def names(self, folder: str) -> list[str]:
        """Return the names of what is in a folder."""
        try:
            listed = os.listdir(self._path(folder))[:MOST_NAMES]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise explained(folder, error) from error
        return sorted(name for name in listed if PART.fullmatch(name))

    def read(self, name: str, most_bytes: int) -> bytes:
        """Return a file, one byte more than `most_bytes` where it is longer."""
        try:
            with open_regular(self._path(name), self.root) as file:
                return file.read(most_bytes + 1)
        except FileNotFoundError:
            raise gone(name) from None
        except OSError as error:
            raise explained(name, error) from error

    def write(self, name: str, content: bytes) -> None:
        path = self._path(name)
        folder = os.path.dirname(path)
        try:
            os.makedirs(folder, exist_ok=True)
            if not os.path.realpath(folder).startswith(os.path.join(self.root, "")):
                raise RefusedError(folder, "leads out of the shared folder", "Remove the link.")
            descriptor, temporary = tempfile.mkstemp(prefix=".part-", dir=folder)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                # Readers are others: what keeps them out is the seal, not the file's mode.
                os.chmod(temporary, 0o644)
                # A link, unlike a rename, does not take the place of what another one wrote meanwhile.
                os.link(temporary, path)
            finally:
                os.unlink(temporary)
        except FileExistsError:
            raise BadInputError(f"{name} is there already.", "Publish again.") from None
        except RefusedError as error:
            raise explained(folder, error) from error
        except OSError as error:
            raise StoreFullError(f"{path} cannot be written: {error.strerror or error}.") from error

    def remove(self, name: str) -> None:
        with contextlib.suppress(OSError):
            os.unlink(self._path(name))

    def _path(self, name: str) -> str:
        return os.path.join(self.root, *name.split("/"))
