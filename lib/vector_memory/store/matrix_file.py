"""The files of a matrix: vectors that are mapped rather than read, and their index.

A generation is `vectors-<n>.f32` and `seqs-<n>.i64`, or, coded, `codes-<n>.i8` with `scales-<n>.f32` and
`signs-<n>.u64`; `meta.json` names the one in force and is replaced last, so that a reader finds either
the old matrix or the new one, whole.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vector_memory.errors import StoreDamagedError
from vector_memory.store.rows import CodedRows, ExactRows, Rows, encode, signs_of
from vector_memory.system.durable_files import sync_descriptor, sync_file
from vector_memory.system.files import delete_file, digest_and_size, open_own
from vector_memory.system.removal import is_ours

if TYPE_CHECKING:
    from vector_memory.model import Vectors

EXACT_ROWS = 8_000
"""Rows up to which float32 is kept. Reading more of it for each question takes longer than counting
bits, and drives everything else out of the processor's caches."""
FORMAT = 3
META = "meta.json"


@dataclass(frozen=True)
class Ranges:
    """Which rows belong to which project: `starts[i]` up to `stops[i]` to `projects[i]`."""

    projects: tuple[str, ...] = ()
    starts: tuple[int, ...] = ()
    stops: tuple[int, ...] = ()


@dataclass(frozen=True)
class Saved:
    """A matrix on disk: `seqs` (n,) int64 and n rows of vectors, ordered by project and within a
    project by sequence number."""

    seqs: NDArray[np.int64]
    rows: Rows
    ranges: Ranges
    reached: int
    generation: int


def save(
    folder: str,
    model: str,
    ranges: Ranges,
    seqs: NDArray[np.int64],
    blocks: Iterator[Vectors],
    dim: int,
    reached: int,
    coded: bool = False,
) -> Saved:
    """Write a matrix as the next generation and put it in force.

    Args:
        folder: the matrix's folder; it is made.
        model: the embedding model and its version.
        ranges: the projects' rows, in order.
        seqs: (n,) int64, in the order of the rows.
        blocks: the rows' vectors, (some, dim) float32 at a time.
        dim: the vectors' dimension.
        reached: the sequence number up to which the matrix is complete.
        coded: write codes of a quarter of the size.

    Returns:
        The new matrix, as `load` gives it.

    Raises:
        OSError: it cannot be written; what was in force stays so.
    """
    os.makedirs(folder, mode=0o700, exist_ok=True)
    # A name that was never used: searches may have the files in force mapped.
    generation = _newest(folder) + 1
    names = _names(generation, coded)
    try:
        meta: dict[str, Any] = {
            "format": FORMAT,
            "model": model,
            "dim": dim,
            "rows": len(seqs),
            "reached": reached,
            "generation": generation,
            "coded": coded,
            "projects": ranges.projects,
            "starts": ranges.starts,
            "stops": ranges.stops,
            "seqs_sum": _write(os.path.join(folder, names[0]), iter([seqs])),
            "vectors_sums": [_write(os.path.join(folder, names[1]), blocks)]
            if not coded
            else _write_codes([os.path.join(folder, name) for name in names[1:]], blocks),
        }
        _put_in_force(folder, meta)
    except BaseException:
        _delete(folder, names)
        raise
    # From here on the new files are in force, whatever fails.
    sync_file(folder)
    _delete(
        folder,
        [name for name in os.listdir(folder) if is_ours(name) and name not in (META, *names)],
    )
    return load(folder, model, dim)


def _put_in_force(folder: str, meta: dict[str, Any]) -> None:
    """Write what says which files count. One step does it: before it the old matrix is in force."""
    meta["sum"] = _meta_sum(meta)
    temporary = os.path.join(folder, f"{META}.new")
    _write(temporary, iter([json.dumps(meta).encode()]))
    os.replace(temporary, os.path.join(folder, META))


def load(folder: str, model: str, dim: int) -> Saved:
    """Map the matrix in force; the vectors are read when they are used.

    Returns:
        The sequence numbers in memory, and the rows mapped from their files: exact ones as
        `ExactRows`, coded ones as `CodedRows`.

    Raises:
        FileNotFoundError: there is none of this model and version.
        OSError: it cannot be read.
        StoreDamagedError: it is damaged.
    """
    file_names = os.listdir(folder) if os.path.isdir(folder) else []
    if META not in file_names and any(map(is_ours, file_names)):
        raise _damaged(folder, f"{META} is missing")
    meta = _read_meta(folder)
    # Told apart from damage: what another model or version made is whole, and just of no use.
    if (meta.get("format"), meta.get("model"), meta.get("dim")) != (FORMAT, model, dim):
        raise FileNotFoundError(f"{folder} was made for another model or by another version")
    seqs_name, *names = _names(meta["generation"], meta["coded"])
    rows = meta["rows"]
    paths = [os.path.join(folder, name) for name in names]
    try:
        with os.fdopen(open_own(os.path.join(folder, seqs_name)), "rb") as file:
            # Read, not mapped: every search looks numbers up in them.
            seqs = np.fromfile(file, np.int64)
        vectors = _mapped(paths, rows, dim)
    except (ValueError, FileNotFoundError) as error:
        raise _damaged(folder, "its vectors are incomplete") from error
    if (
        len(seqs) != rows
        or hashlib.blake2b(seqs.tobytes(), digest_size=8).hexdigest() != meta["seqs_sum"]
    ):
        raise _damaged(folder, "its sequence numbers are damaged")
    ranges = Ranges(tuple(meta["projects"]), tuple(meta["starts"]), tuple(meta["stops"]))
    return Saved(seqs, vectors, ranges, meta["reached"], meta["generation"])


def _mapped(paths: Sequence[str], rows: int, dim: int) -> Rows:
    """Return the rows of one file of floats, or of three of codes."""
    if len(paths) == 1:
        return ExactRows(_map(paths[0], "float32", (rows, dim)))
    words = -(-dim // 64)
    return CodedRows(
        _map(paths[0], "int8", (rows, dim)),
        _map(paths[1], "float32", (rows,)),
        _map(paths[2], "uint64", (words, rows)),
    )


def _map(path: str, kind: str, shape: tuple[int, ...]) -> Any:
    """Map a file as an array.

    Raises:
        ValueError: its size is another one.
    """
    size = np.dtype(kind).itemsize * math.prod(shape)
    with os.fdopen(open_own(path), "rb") as file:
        # Reading beyond the end of a mapped file ends the process.
        if os.fstat(file.fileno()).st_size != size:
            raise ValueError(f"{path} has another size than {size}")
        # An empty file cannot be mapped.
        if not size:
            return np.empty(shape, kind)
        return np.memmap(file, kind, "r", shape=shape).view(np.ndarray)


def _write_codes(paths: Sequence[str], blocks: Iterator[Vectors]) -> list[str]:
    """Write vectors as codes, scales and signs; return the files' checksums."""
    scales: list[Any] = [np.empty(0, np.float32)]
    signs: list[Any] = []

    def codes() -> Iterator[Any]:
        for block in blocks:
            coded, scale = encode(block)
            scales.append(scale)
            signs.append(signs_of(coded))
            yield coded

    return [
        _write(paths[0], codes()),
        _write(paths[1], iter([np.concatenate(scales)])),
        _write(paths[2], iter([np.concatenate(signs, axis=1)] if signs else [])),
    ]


def vectors_sound(folder: str) -> bool:
    """Read all files and return whether they agree with the checksums that were stored with them."""
    meta = _read_meta(folder)
    names = _names(meta["generation"], meta["coded"])
    sums = [_file_sum(os.path.join(folder, name)) for name in names]
    return sums == [meta["seqs_sum"], *meta["vectors_sums"]]


def _file_sum(path: str) -> str:
    with os.fdopen(open_own(path), "rb") as file:
        return digest_and_size(file, hashlib.blake2b(digest_size=8))[0]


def _read_meta(folder: str) -> dict[str, Any]:
    with os.fdopen(open_own(os.path.join(folder, META)), encoding="utf-8") as file:
        text = file.read()
    try:
        meta = dict(json.loads(text))
        if meta.pop("sum") == _meta_sum(meta):
            return meta
    except (ValueError, KeyError, TypeError):
        pass
    raise _damaged(folder, f"{META} is damaged")


def _damaged(folder: str, why: str) -> StoreDamagedError:
    return StoreDamagedError(
        f"The matrix in {folder} cannot be used: {why}.", "It is made anew by itself."
    )


def _names(generation: int, coded: bool) -> tuple[str, ...]:
    """Return a generation's files: the sequence numbers, then what holds the vectors."""
    seqs = f"seqs-{generation}.i64"
    if not coded:
        return seqs, f"vectors-{generation}.f32"
    return seqs, f"codes-{generation}.i8", f"scales-{generation}.f32", f"signs-{generation}.u64"


def _newest(folder: str) -> int:
    """Return the highest generation that any file in the folder belongs to, 0 if none does."""
    numbers = [name.rpartition("-")[2].partition(".")[0] for name in os.listdir(folder)]
    return max((int(number) for number in numbers if number.isdigit()), default=0)


def _write(path: str, pieces: Iterator[Any]) -> str:
    """Write and sync a file of arrays or bytes (0600); return its checksum."""
    digest = hashlib.blake2b(digest_size=8)
    descriptor = open_own(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    with os.fdopen(descriptor, "wb") as file:
        for piece in pieces:
            if len(piece):
                digest.update(piece)
                file.write(piece)
        file.flush()
        sync_descriptor(descriptor)
    return digest.hexdigest()


def _meta_sum(meta: dict[str, Any]) -> str:
    plain = json.dumps(meta, sort_keys=True).encode()
    return hashlib.blake2b(plain, digest_size=8).hexdigest()


def _delete(folder: str, names: Sequence[str]) -> None:
    for name in names:
        delete_file(os.path.join(folder, name), OSError)
