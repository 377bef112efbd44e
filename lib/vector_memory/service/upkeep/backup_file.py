"""A backup as one file: a compressed tar whose first member is a manifest with the size and digest of
every other one. Members are read one by one under names of our own: nothing is ever unpacked to where
a file says."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

from vector_memory.errors import BadInputError, NotFoundError, StoreDamagedError
from vector_memory.system.durable_files import sync_descriptor
from vector_memory.system.files import RefusedError, digest_and_size, open_regular
from vector_memory.system.unpacking import Unpacked, most_of

FORMAT = 2
PROGRAM = "vector-memory"
MANIFEST = "manifest.json"
STATE, CONFIG, ARCHIVES, AUDIT = "state.db", "config.json", "archives/", "audit/"
_MEMBER = re.compile(
    r"(?P<store>stores/\d{1,6}/journal\.db)|archives/(?!\.)[^/\x00]{1,255}/(?!\.)[^/\x00]{1,255}"
    r"|audit/audit-\d{6}-\d{9}-\d{9}\.jsonl\.gz|state\.db|config\.json"
)
_MOST_MANIFEST_BYTES = 16 << 20
_HEADER_BYTES = 1 << 16
"""What may stand between two members: their headers, a long name, and what is read ahead."""
_READ_BYTES = 1 << 20
_COMPRESSION = 5
_DAMAGED = (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile)

Manifest = dict[str, Any]


def write(path: str, manifest: Mapping[str, Any], files: Mapping[str, str]) -> Manifest:
    """Write a backup and sync it; return its manifest, with `files`: name → size and sha256.

    Args:
        path: the new file (0600).
        files: name in the backup → path of what it holds.

    Raises:
        OSError: it cannot be written.
    """
    digests = {name: _digest_of(source) for name, source in files.items()}
    full_manifest = {**manifest, "format": FORMAT, "program": PROGRAM, "files": digests}
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        with tarfile.open(fileobj=file, mode="w:gz", compresslevel=_COMPRESSION) as tar:
            manifest_bytes = json.dumps(full_manifest, ensure_ascii=False).encode(
                "utf-8", "surrogatepass"
            )
            _add(tar, MANIFEST, io.BytesIO(manifest_bytes), len(manifest_bytes))
            for name, source in files.items():
                with open(source, "rb") as content:
                    _add(tar, name, content, digests[name]["size"])
        file.flush()
        sync_descriptor(descriptor)
    return full_manifest


def read(path: str, keep: Callable[[str, IO[bytes]], None] | None = None) -> Manifest:
    """Read a whole backup, compare every part with the manifest, and return that.

    Args:
        keep: is given the name and the content of every part, whose digest is not known to be right
            before this function has returned.

    Raises:
        NotFoundError: there is no such file.
        BadInputError: it is no backup of this program, or holds what a backup does not.
        StoreDamagedError: it is damaged, or of a newer version.
    """
    with _open(path) as (tar, unpacked, most_bytes):
        manifest = _manifest(tar, unpacked, path)
        if sum(part["size"] for part in manifest["files"].values()) > most_bytes:
            raise BadInputError(
                f"{path} claims to hold far more than a file of its size does.",
                "Give a file that `vector-memory backup` wrote.",
            )
        missing = dict(manifest["files"])
        while (member := _next_member(tar, unpacked)) is not None:
            expected = missing.pop(member.name, None)
            if expected is None or not _is_plain_file(member) or member.size != expected["size"]:
                raise BadInputError(
                    f"{path} holds {member.name!r}, which its manifest does not name so.",
                    "Give a file that `vector-memory backup` wrote.",
                )
            content = tar.extractfile(member)
            assert content is not None
            digested = _DigestedFile(content)
            if keep is not None:
                keep(member.name, digested)  # type: ignore[arg-type]
            while digested.read(_READ_BYTES):
                pass
            if digested.digest.hexdigest() != expected["sha256"]:
                raise _damaged(path, f"{member.name} differs from its digest")
        if missing:
            raise _damaged(path, f"{min(missing)} is missing")
    return manifest


class _DigestedFile:
    """A file that is digested as it is read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(size)
        self.digest.update(piece)
        return piece


@contextmanager
def _open(path: str) -> Iterator[tuple[tarfile.TarFile, Unpacked, int]]:
    try:
        with open_regular(path, packed=True) as file:
            unpacked = Unpacked(file, _HEADER_BYTES)
            with tarfile.open(fileobj=unpacked, mode="r|") as tar:
                yield tar, unpacked, most_of(file)
    except FileNotFoundError as error:
        raise NotFoundError(f"There is no file {path}.", "Give the path of a backup.") from error
    except RefusedError as error:
        raise BadInputError(error.message, "Give the path of a backup.") from error
    except _DAMAGED as error:
        raise _damaged(path, f"it cannot be read: {error}") from error
    except OSError as error:
        raise BadInputError(f"{path} cannot be read: {error}.", "Give another file.") from error


def _next_member(tar: tarfile.TarFile, unpacked: Unpacked) -> tarfile.TarInfo | None:
    """Return the next member, and let no more be unpacked than its stated size."""
    unpacked.allow(_HEADER_BYTES)
    member = tar.next()
    if member is not None:
        unpacked.allow(member.size + _HEADER_BYTES)
    return member


def _is_plain_file(member: tarfile.TarInfo) -> bool:
    # A sparse file unpacks to more than its stored size.
    return member.type in (tarfile.REGTYPE, tarfile.AREGTYPE) and not member.issparse()


def _manifest(tar: tarfile.TarFile, unpacked: Unpacked, path: str) -> Manifest:
    not_ours = BadInputError(
        f"{path} is no backup of this program.", "Give a file that `vector-memory backup` wrote."
    )
    member = _next_member(tar, unpacked)
    if member is None or member.name != MANIFEST or not _is_plain_file(member):
        raise not_ours
    if member.size > _MOST_MANIFEST_BYTES:
        raise not_ours
    content = tar.extractfile(member)
    assert content is not None
    try:
        manifest = json.loads(content.read())
        is_ours = manifest["program"] == PROGRAM
        format_number = int(manifest["format"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise not_ours from error
    if not is_ours:
        raise not_ours
    if format_number > FORMAT:
        raise StoreDamagedError(
            f"{path} was written by a newer version: its format is {format_number}, this one knows {FORMAT}.",
            "Update the plugin.",
        )
    if not _is_plain(manifest):
        raise not_ours
    return dict(manifest)


def _is_plain(manifest: Any) -> bool:
    """Whether a manifest has the expected form and names only files that a backup may hold."""
    try:
        stores, files = manifest["stores"], manifest["files"]
        members = {name: _MEMBER.fullmatch(name) for name in files}
        return (
            STATE in files
            and all(members.values())
            and sorted(store["name"] for store in stores)
            == sorted(name for name, member in members.items() if member and member["store"])
            and all(isinstance(store["folder"], str) for store in stores)
            and all(
                type(part["size"]) is int and part["size"] >= 0 and part["sha256"]
                for part in files.values()
            )
        )
    except (KeyError, TypeError, ValueError):
        return False


def _add(tar: tarfile.TarFile, name: str, content: IO[bytes], size: int) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o600
    tar.addfile(member, content)


def _digest_of(path: str) -> dict[str, Any]:
    with open(path, "rb") as file:
        digest, size = digest_and_size(file, hashlib.sha256())
    return {"size": size, "sha256": digest}


def _damaged(path: str, why: str) -> StoreDamagedError:
    return StoreDamagedError(f"{path} is damaged: {why}.", "Restore an older backup.")
