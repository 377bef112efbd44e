"""Making written files survive a power cut, and noticing when one came in between."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

BOOT_ID = "/proc/sys/kernel/random/boot_id"


def sync_file(path: str) -> None:
    """Make a file's content, or a folder's list of files, survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def boot_id() -> str:
    """Return what names this run of the machine, "" where the system does not tell."""
    try:
        with open(BOOT_ID, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


class WriteGuard:
    """Watches over a folder whose files are written once and never changed, by a library that
    does not sync them.

    While the folder is being written, a mark beside it names the machine's run. A process that
    died leaves the mark, but its files are whole, since the system still writes them out; after a
    power cut the mark names an earlier run, and what the files hold is anyone's guess.

    Args:
        folder: the folder; it need not exist.
        mark: the path of the mark, in the folder's parent.
        boot: what names this run of the machine.
    """

    def __init__(self, folder: str, mark: str, boot: str | None = None) -> None:
        self.folder = folder
        self.mark = mark
        self._boot = boot_id() if boot is None else boot
        self._synced: set[str] = set()

    def lost_power(self) -> bool:
        """Whether the machine went down (or may have) while the folder was being written."""
        try:
            with open(self.mark, encoding="ascii") as file:
                return not self._boot or file.read().strip() != self._boot
        except FileNotFoundError:
            return False

    def trust(self) -> None:
        """Take the files as they are: synced, unless a process died while it wrote them."""
        if os.path.exists(self.mark):
            self.sync()
            self._clear()
        else:
            self._synced = set(self._files())

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Mark the folder as being written; sync what is new, then clear the mark.

        When the body raises, the mark stays until the next time that all is well.
        """
        self._set()
        yield
        self.sync()
        self._clear()

    def forget(self) -> None:
        """Clear the mark of a folder that is gone."""
        self._synced.clear()
        self._clear()

    def sync(self) -> int:
        """Sync the files that are new, and the folders that list them; return how many."""
        present = set(self._files())
        new = present - self._synced
        for path in new:
            with contextlib.suppress(FileNotFoundError):
                sync_file(path)
        for folder in self._folders_of(new):
            sync_file(folder)
        self._synced = present
        return len(new)

    def _files(self) -> Iterator[str]:
        for folder, _, names in os.walk(self.folder):
            for name in names:
                yield os.path.join(folder, name)

    def _folders_of(self, paths: set[str]) -> set[str]:
        """Return the folders between these files and the parent of the guarded folder."""
        found: set[str] = set()
        top = os.path.dirname(self.folder)
        for path in paths:
            folder = os.path.dirname(path)
            while folder not in found and len(folder) >= len(top):
                found.add(folder)
                folder = os.path.dirname(folder)
        return found

    def _set(self) -> None:
        os.makedirs(os.path.dirname(self.mark), mode=0o700, exist_ok=True)
        with open(self.mark, "w", encoding="ascii") as file:
            file.write(self._boot)
            file.flush()
            os.fsync(file.fileno())
        sync_file(os.path.dirname(self.mark))

    def _clear(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.mark)
            sync_file(os.path.dirname(self.mark))
