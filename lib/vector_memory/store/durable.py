"""Making written files survive a power cut, and noticing when one came in between."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from typing import NamedTuple

from vector_memory.errors import StoreDamagedError
from vector_memory.system import processes
from vector_memory.system.durable_files import sync_descriptor, sync_file, write_durably
from vector_memory.system.files import delete_file, digest_and_size, open_own

REWRITTEN = frozenset({"latest_version_hint.json"})
"""Files that LanceDB does write again. This one it only begins to look at."""
MANIFEST = ".manifest"
MOST_NAMED = 3


class Sum(NamedTuple):
    """What a file held when it was synced."""

    size: int
    digest: str


def sum_of(path: str) -> Sum:
    """Read a file and return its size in bytes and its digest, 32 hexadecimal characters."""
    with os.fdopen(open_own(path), "rb") as file:
        digest, size = digest_and_size(file, hashlib.blake2b(digest_size=16))
    return Sum(size, digest)


class WriteGuard:
    """Watches over a folder whose files are written once and never changed, by a library that
    neither syncs them nor notices when they are damaged.

    While the folder is being written, a mark beside it names the machine's run. A process that
    died leaves the mark, but its files are whole, since the system still writes them out; after a
    power cut the mark names an earlier run, and what the files hold is anyone's guess. What was
    synced stands with sizes and digests in a list beside the mark.

    Args:
        folder: the folder's real path; it need not exist.
        mark: the path of the mark, in the folder's parent; the list is `<mark>.sums`.
    """

    def __init__(self, folder: str, mark: str) -> None:
        self.folder = folder
        self.mark = mark
        self.list = f"{mark}.sums"
        self._boot = processes.boot()
        self._sums: dict[str, Sum] = {}

    def lost_power(self) -> bool:
        """Whether the machine went down (or may have) while the folder was being written."""
        try:
            with os.fdopen(open_own(self.mark), encoding="ascii") as file:
                # A system that does not name its run may have gone down: better once too often.
                return not self._boot or file.read().strip() != self._boot
        except FileNotFoundError:
            return False

    def trust(self) -> None:
        """Take the files as they are: synced, unless a process died while it wrote them.

        Raises:
            StoreDamagedError: files are not there any more, or are others at first sight.
        """
        listed = self._load()
        if os.path.exists(self.mark):
            # What was being replaced may be gone, and what is new is not listed yet.
            self.sync()
            self._clear()
        elif not listed:
            # An earlier version wrote the folder, or it is new.
            if self._present():
                self.sync()
        elif wrong := self._wrong_at_first_sight():
            raise StoreDamagedError(
                f"{_first_of(wrong)} of {self.folder} are missing or have changed.",
                "The index is made anew from the journal by itself.",
            )

    def differing(self) -> list[str]:
        """Read all files and return those that are not what was synced. Nothing may write meanwhile.

        Returns:
            Paths within the folder, sorted; [] when all is well.
        """
        if os.path.exists(self.mark):
            # Writing failed half way: what is there now is what counts.
            self.sync()
            self._clear()
        return [path for path, saved in sorted(self._sums.items()) if self._sum(path) != saved]

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Mark the folder as being written; sync what is new, then clear the mark.

        When the body raises, the mark stays until the next time that all is well.

        Returns:
            A block for `with`.
        """
        # Durable before the first byte of the folder changes, else a power cut leaves no trace.
        self._set()
        yield
        self.sync()
        self._clear()

    def forget(self) -> None:
        """Clear mark and list of a folder that is gone."""
        self._sums.clear()
        delete_file(self.list)
        self._clear()

    def sync(self) -> int:
        """Sync the files that are new and the folders that list them, and list them; return how
        many there were."""
        present = self._present()
        sums = {path: self._sums[path] for path in present if path in self._sums}
        # Files are written once: what is listed has been synced, and only new ones cost time.
        new_paths = present - set(sums)
        for path in new_paths:
            with contextlib.suppress(FileNotFoundError):
                full_path = os.path.join(self.folder, path)
                sync_file(full_path)
                if os.path.basename(path) not in REWRITTEN:
                    sums[path] = sum_of(full_path)
        # A file whose folder is not synced may be gone after a power cut, whole as it is.
        for folder in self._folders_of(new_paths):
            sync_file(folder)
        if sums != self._sums:
            self._sums = sums
            write_durably(self.list, json.dumps(sums).encode())
        return len(new_paths)

    def _load(self) -> bool:
        """Read the list; whether there is one.

        Raises:
            StoreDamagedError: it cannot be read.
        """
        try:
            with os.fdopen(open_own(self.list), encoding="utf-8") as file:
                self._sums = {path: Sum(*values) for path, values in json.load(file).items()}
        except FileNotFoundError:
            self._sums = {}
            return False
        except (ValueError, TypeError, AttributeError) as error:
            raise StoreDamagedError(
                f"{self.list} is damaged.", "The index is made anew from the journal by itself."
            ) from error
        return True

    def _present(self) -> set[str]:
        return {
            os.path.relpath(os.path.join(folder, name), self.folder)
            for folder, _, names in os.walk(self.folder)
            for name in names
        }

    def _wrong_at_first_sight(self) -> list[str]:
        """Return what is missing, has another size, or is a manifest that differs: these are small, and
        LanceDB believes everything that they say."""
        wrong = []
        for path, expected in self._sums.items():
            try:
                size = os.stat(os.path.join(self.folder, path)).st_size
            except OSError:
                # No file has this size: what is missing differs from what was written.
                size = -1
            if size != expected.size or (path.endswith(MANIFEST) and self._sum(path) != expected):
                wrong.append(path)
        return wrong

    def _sum(self, path: str) -> Sum | None:
        try:
            return sum_of(os.path.join(self.folder, path))
        except OSError:
            return None

    def _folders_of(self, paths: set[str]) -> set[str]:
        """Return the folders between these files and the parent of the guarded folder."""
        folders: set[str] = set()
        top = os.path.dirname(self.folder)
        for path in paths:
            folder = os.path.dirname(os.path.join(self.folder, path))
            while folder not in folders and len(folder) >= len(top):
                folders.add(folder)
                folder = os.path.dirname(folder)
        return folders

    def _set(self) -> None:
        os.makedirs(os.path.dirname(self.mark), mode=0o700, exist_ok=True)
        descriptor = open_own(self.mark, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(self._boot)
            file.flush()
            sync_descriptor(file.fileno())
        sync_file(os.path.dirname(self.mark))

    def _clear(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.mark)
            sync_file(os.path.dirname(self.mark))


def _first_of(paths: list[str]) -> str:
    """Return some of these paths, and how many more there are."""
    left_out = len(paths) - MOST_NAMED
    return ", ".join(sorted(paths)[:MOST_NAMED]) + (f" and {left_out} more" if left_out > 0 else "")
