"""Opening files that somebody else named or made: regular files on a disk, and nothing that a name
could be swapped for between a look and the opening. Standard library only, Python 3.9.

What is opened is looked at, never the name: a link, a pipe, a device, a socket, a file of /proc, an
archive or a file that is mostly a hole is refused, with words that say what to do.
"""

import os
import stat
from functools import lru_cache

from vector_memory.errors import BadInputError, NotFoundError, VectorMemoryError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import hashlib
    from collections.abc import Iterator
    from typing import BinaryIO

MOST_BYTES = 16 * 1024**3
"""More than any transcript or export; what is longer is endless, or a mistake."""
HOLLOW_BYTES = 64 * 1024**2
HOLLOW_SHARE = 64
"""A file of so many bytes of which less than this part is on the disk is mostly a hole. Text that a
file system compresses comes nowhere near it."""
ROOM_BYTES = 65_536
ITSELF = "Give the path of the file itself."
_EXTENTS = 1_000
_HEAD_BYTES = 512

_PATH_ONLY = getattr(os, "O_PATH", 0)
_NO_LINKS_AT_ALL = getattr(os, "O_NOFOLLOW_ANY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_CAREFULLY = (
    getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_READ = os.O_RDONLY | _CAREFULLY

_MADE_UP = ("/proc", "/sys")
_ARCHIVES = (
    (0, b"PK\x03\x04", "a zip archive"),
    (0, b"PK\x05\x06", "a zip archive"),
    (0, b"\x1f\x8b", "compressed with gzip"),
    (0, b"BZh91AY&SY", "compressed with bzip2"),
    (0, b"\xfd7zXZ\x00", "compressed with xz"),
    (0, b"\x28\xb5\x2f\xfd", "compressed with zstd"),
    (0, b"\x04\x22\x4d\x18", "compressed with lz4"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (0, b"Rar!\x1a\x07", "a rar archive"),
    (257, b"ustar", "a tar archive"),
)


class RefusedError(OSError):
    """A file that is none to read: what it is, and what to do about it.

    Args:
        path: the file.
        reason: what it is, the end of a sentence that begins with its path.
        hint: what the user can do, in one sentence.
    """

    def __init__(self, path: str, reason: str, hint: str = "Give the path of a file.") -> None:
        super().__init__(reason)
        self.filename = path
        self.message = "%s %s." % (path.encode("utf-8", "replace").decode("utf-8"), reason)
        self.hint = hint

    def __str__(self) -> str:
        return self.message


def with_real_folder(path: str) -> str:
    """Return a path whose folders are resolved, its own name not: whoever names a file may go through
    links to it, yet a link in the file's place is none of what was named."""
    folder, name = os.path.split(os.path.abspath(path))
    try:
        return os.path.join(os.path.realpath(folder), name)
    except ValueError:
        # No system has such a name: opening it says so.
        return path


def open_plain(path: str, packed: bool = False) -> "BinaryIO":
    """Open a regular file to which no link leads, neither its own name nor a folder above it.

    A path whose folders were resolved once, and only then, stays below them: what is swapped for a
    link later is refused.

    Args:
        path: the file.
        packed: whether it may be an archive or compressed.

    Raises:
        RefusedError: it is not one to read.
        OSError: it is not there, or cannot be read.
    """
    try:
        return _as_file(_open_unlinked(os.path.abspath(path), _READ), path, packed)
    except ValueError:
        raise RefusedError(path, "is no name that a file can have") from None


def open_regular(path: str, root: str = "", packed: bool = False) -> "BinaryIO":
    """Open a regular file, through links too, without ever waiting for it.

    Args:
        path: the file.
        root: the folder in which it lies, wherever links lead on the way: what a project ships leads
            to nothing outside. "" for anywhere.
        packed: whether it may be an archive or compressed.

    Raises:
        RefusedError: it is not one to read.
        OSError: it is not there, or cannot be read.
    """
    try:
        if root:
            real = os.path.realpath(path)
            if not real.startswith(os.path.join(os.path.realpath(root), "")):
                raise RefusedError(path, "leads out of its project", ITSELF)
            # From here on no link is followed: one that comes between the look and this is refused.
            return open_plain(real, packed)
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise RefusedError(path, "is no regular file")
        return _as_file(os.open(path, _READ), path, packed)
    except ValueError:
        raise RefusedError(path, "is no name that a file can have") from None


def read_text(path: str, most_bytes: int, root: str = "") -> str:
    """Return the beginning of a regular file as text, as `open_regular` opens it. Bytes that are no
    UTF-8 are replaced.

    Raises:
        RefusedError: it is not one to read.
        OSError: it is not there, or cannot be read.
    """
    with open_regular(path, root) as file:
        return file.read(most_bytes).decode("utf-8", "replace")


def beginning(path: str, most_bytes: int) -> bytes:
    """Return how a file begins that somebody named; b"" where it cannot be read: whoever takes it says why."""
    try:
        with open_plain(with_real_folder(path)) as file:
            return file.read(most_bytes)
    except OSError:
        return b""


def bounded_lines(file: "BinaryIO", most_bytes: int) -> "Iterator[bytes]":
    """Yield a file's lines; of one that is longer only its first bytes, and nothing more of it is held."""
    while line := file.readline(most_bytes):
        piece = line
        while len(piece) == most_bytes and not piece.endswith(b"\n"):
            piece = file.readline(most_bytes)
        yield line


def open_found(path: str) -> "BinaryIO":
    """Open a file for a user who is told why it cannot be read; see `open_plain`.

    Raises:
        NotFoundError: it is not there.
        BadInputError: it is none to read, and why.
    """
    try:
        return open_plain(path)
    except OSError as error:
        raise readable_error(path, error) from error


def open_own(path: str, flags: int = os.O_RDONLY) -> int:
    """Open a file of ours by its real path, or make it (0600); return its descriptor. As in `open_plain`
    no link is followed, and nothing is waited for.

    Args:
        flags: as for `os.open`.

    Raises:
        RefusedError: something else is in its place; what is written to has no other name, either.
        OSError: it is not there, or cannot be opened.
    """
    descriptor = _open_unlinked(path, flags & ~os.O_TRUNC | _CAREFULLY)
    status = os.fstat(descriptor)
    is_shared = status.st_nlink > 1 and flags & (os.O_WRONLY | os.O_RDWR)
    if is_shared or not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise RefusedError(path, "is no file of ours alone", "Look at it and remove it.")
    if flags & os.O_TRUNC:
        os.ftruncate(descriptor, 0)
    return descriptor


def digest_and_size(
    file: "BinaryIO", digest: "hashlib._Hash | hashlib.blake2b"
) -> "tuple[str, int]":
    """Read the rest of a file into a digest; return that in hexadecimal, and how many bytes it was of."""
    size = 0
    while piece := file.read(1 << 20):
        digest.update(piece)
        size += len(piece)
    return digest.hexdigest(), size


def delete_file(path: str, ignored: "type[OSError]" = FileNotFoundError) -> None:
    """Delete a file; what is `ignored`, such as that there is none, is no error."""
    try:  # noqa: SIM105 - what hooks read imports no contextlib
        os.unlink(path)
    except ignored:
        pass


def has_room(folder: str) -> bool:
    """Whether a disk has room for the two files that a database needs beside it; also where that cannot be told."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return True
    return disk.f_bavail * disk.f_frsize >= ROOM_BYTES


def readable_error(path: str, error: OSError) -> VectorMemoryError:
    """Return why a file cannot be read, as an error that says what to do."""
    if isinstance(error, RefusedError):
        return BadInputError(error.message, error.hint)
    if isinstance(error, FileNotFoundError):
        return NotFoundError("There is no file %s." % path, "Check the path.")
    return BadInputError("%s cannot be read: %s." % (path, error.strerror), "Check its rights.")


def _open_unlinked(path: str, flags: int) -> int:
    try:
        # Opening a device can do things by itself.
        if os.path.lexists(path) or not flags & os.O_CREAT:
            mode = os.lstat(path).st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
                raise RefusedError(path, "is no regular file")
        if _NO_LINKS_AT_ALL:
            return os.open(path, flags | _NO_LINKS_AT_ALL, 0o600)
        if _PATH_ONLY and os.open in os.supports_dir_fd:
            return _open_stepwise(path, flags)
        return os.open(path, flags | _NO_LINK, 0o600)
    except OSError as error:
        raise _link_refusal(path, error) from error


def _open_stepwise(path: str, flags: int) -> int:
    """Open a path one name after the other, none of them a link (Linux)."""
    *folders, name = [part for part in path.split(os.sep) if part] or ["."]
    current_fd = os.open(os.sep, _PATH_ONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for folder in folders:
            folder_flags = _PATH_ONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            next_fd = os.open(folder, folder_flags, dir_fd=current_fd)
            os.close(current_fd)
            current_fd = next_fd
        return os.open(name, flags | _NO_LINK, 0o600, dir_fd=current_fd)
    finally:
        os.close(current_fd)


def _link_refusal(path: str, error: OSError) -> OSError:
    """Return the refusal of a link where that is what the error means."""
    if isinstance(error, (FileNotFoundError, RefusedError)):
        return error
    if os.path.islink(path):
        return RefusedError(path, "is a link", ITSELF)
    if os.path.realpath(path) != path:
        return RefusedError(path, "is reached through a link", ITSELF)
    return error


def _as_file(descriptor: int, path: str, packed: bool) -> "BinaryIO":
    try:
        _refuse_unfit(descriptor, path, packed)
    except BaseException:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def _refuse_unfit(descriptor: int, path: str, packed: bool) -> None:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise RefusedError(path, "is no regular file")
    if status.st_dev in _made_up_devices():
        raise RefusedError(path, "is no file of a disk")
    if status.st_size > MOST_BYTES:
        raise RefusedError(path, "is longer than %d bytes" % MOST_BYTES, "Split it.")
    if _is_hollow(descriptor, status):
        raise RefusedError(path, "is mostly a hole", "Give a file that is filled.")
    kind = "" if packed else _archive_kind(descriptor)
    if kind:
        raise RefusedError(path, "is " + kind, "Unpack it first.")


@lru_cache(maxsize=1)
def _made_up_devices() -> "frozenset[int]":
    """Return the devices of the file systems whose files the kernel makes up."""
    outside = {os.stat(os.sep).st_dev}
    made_up = {os.stat(root).st_dev for root in _MADE_UP if os.path.isdir(root)}
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
            mounts = [line.split(" ", 5) for line in file]
    except OSError:
        mounts = []
    for _, _, device, _, place, _ in mounts:
        # Reading some of these waits for ever, though they say that they are regular files.
        among = (
            made_up if (place + "/").startswith(tuple(root + "/" for root in _MADE_UP)) else outside
        )
        among.add(os.makedev(*map(int, device.split(":"))))
    return frozenset(made_up - outside)


def _is_hollow(descriptor: int, status: os.stat_result) -> bool:
    blocks = getattr(status, "st_blocks", None)
    if status.st_size < HOLLOW_BYTES or blocks is None:
        return False
    least = status.st_size // HOLLOW_SHARE
    # Some file systems count the blocks of a file that was just written later: ask for its data.
    return blocks * 512 < least and not _holds_data(descriptor, status.st_size, least)


def _holds_data(descriptor: int, size: int, least: int) -> bool:
    """Whether a file has at least so many bytes that are no hole, as far as that can be told."""
    filled, position = 0, 0
    try:
        for _ in range(_EXTENTS):
            start = os.lseek(descriptor, position, os.SEEK_DATA)
            position = os.lseek(descriptor, start, os.SEEK_HOLE)
            filled += position - start
            if filled >= least or position >= size:
                break
    except (OSError, AttributeError):
        pass
    finally:
        os.lseek(descriptor, 0, os.SEEK_SET)
    return filled >= least


def _archive_kind(descriptor: int) -> str:
    head = os.read(descriptor, _HEAD_BYTES)
    os.lseek(descriptor, 0, os.SEEK_SET)
    for offset, magic, kind in _ARCHIVES:
        if head[offset : offset + len(magic)] == magic:
            return kind
    return ""
