"""The vector cache: what a model made of a text, by the text's hash, so that nothing is embedded
twice. float16 on disk (cosine error about 1e-5), float32 in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from vector_memory.journal.scopes import marks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vector_memory.model import Vector, Vectors

CHUNK = 500
LENGTH_ERROR = 0.02


def get(
    connection: sqlite3.Connection, hashes: Sequence[bytes], model_id: int
) -> dict[bytes, Vector]:
    """Return cached vectors.

    Args:
        hashes: the hashes of the texts, as `rows.text_hash` makes them.
        model_id: the model's number.

    Returns:
        Hash → (dim,) float32, L2-normalised. Hashes without a vector are absent.
    """

    found: dict[bytes, Vector] = {}
    for start in range(0, len(hashes), CHUNK):
        part = hashes[start : start + CHUNK]
        rows = connection.execute(
            f"SELECT hash, vector FROM vectors WHERE model = ? AND hash IN ({marks(part)})",
            (model_id, *part),
        )
        found.update((hash, _widen(raw, 1)[0]) for hash, raw in rows)
    return found


def put(
    connection: sqlite3.Connection,
    model_id: int,
    hashes: Sequence[bytes],
    vectors: Vectors | list[Vector],
) -> None:
    """Store vectors, replacing what the same model made of the same text.

    Args:
        model_id: the model's number.
        hashes: the n hashes of the texts.
        vectors: (n, dim), L2-normalised; kept as float16.
    """
    import numpy as np

    # Half the size on the disk, for an error of about 1e-5 in a cosine.
    halves = np.asarray(vectors, dtype=np.float16)
    connection.executemany(
        "INSERT INTO vectors VALUES (?, ?, ?)"
        " ON CONFLICT (hash, model) DO UPDATE SET vector = excluded.vector",
        ((hash, model_id, half.tobytes()) for hash, half in zip(hashes, halves, strict=True)),
    )


def wrong(connection: sqlite3.Connection) -> list[tuple[bytes, int]]:
    """Return the (hash, model) of vectors whose length is not 1 within `LENGTH_ERROR`: each was written
    with it. What a bit changes without changing that changes no ranking either."""
    import numpy as np

    found: list[tuple[bytes, int]] = []
    rows = connection.execute("SELECT hash, model, vector FROM vectors")
    while part := rows.fetchmany(CHUNK):
        for hash, model, raw in part:
            # No whole number of float16.
            if len(raw) % 2:
                found.append((hash, model))
                continue
            with np.errstate(all="ignore"):
                length = float(np.linalg.norm(np.frombuffer(raw, np.float16).astype(np.float32)))
            if not abs(length - 1) <= LENGTH_ERROR:
                found.append((hash, model))
    return found


def forget_missing(connection: sqlite3.Connection) -> None:
    """Count those memories as not embedded whose vectors are not in the cache."""
    connection.execute(
        "UPDATE memories SET model = 0 WHERE model != 0 AND NOT EXISTS"
        " (SELECT 1 FROM vectors v WHERE v.hash = memories.hash AND v.model = memories.model)"
    )


def drop_unused(connection: sqlite3.Connection, hashes: Iterable[bytes]) -> None:
    """Remove the vectors of texts that no memory has any more."""
    # Two memories may say the same: the vector stays until the last of them goes.
    connection.executemany(
        "DELETE FROM vectors WHERE hash = :hash"
        " AND NOT EXISTS (SELECT 1 FROM memories WHERE hash = :hash)",
        ({"hash": hash} for hash in set(hashes)),
    )


def chunk(
    connection: sqlite3.Connection, seqs: Sequence[int], model_id: int
) -> tuple[NDArray[np.int64], list[str], Vectors] | None:
    """Return what is active and has a vector among some rows.

    Returns:
        (n,) int64 sequence numbers, their n projects, and (n, dim) float32, L2-normalised, in the
        order of (project, seq); None when there are none.
    """
    import numpy as np

    rows: list[tuple[Any, ...]] = connection.execute(
        f"""SELECT m.seq, m.project, v.vector FROM memories m
            JOIN vectors v ON v.hash = m.hash AND v.model = ?
            WHERE m.seq IN ({marks(seqs)}) AND m.status = 'active' ORDER BY m.project, m.seq""",
        (model_id, *seqs),
    ).fetchall()
    if not rows:
        return None
    return (
        np.array([row[0] for row in rows], np.int64),
        [row[1] for row in rows],
        _widen(b"".join(row[2] for row in rows), len(rows)),
    )


def _widen(raw: bytes, count: int) -> Vectors:
    """Return stored vectors as (count, dim) float32. Rounding to float16 moved their lengths by
    up to 3e-4, which would count as similarity, so they are normalised again."""
    import numpy as np

    wide = np.frombuffer(raw, np.float16).reshape(count, -1).astype(np.float32)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    # A damaged vector stays as it is; `wrong` finds it.
    lengths[lengths == 0] = 1
    wide /= lengths
    return wide


def seqs_by_project(connection: sqlite3.Connection) -> list[int]:
    """Return the active memories' sequence numbers in the order of (project, seq)."""
    rows = connection.execute(
        "SELECT seq FROM memories WHERE status = 'active' ORDER BY project, seq"
    )
    return [row[0] for row in rows]


def parts(values: Sequence[int], size: int = CHUNK) -> Iterator[Sequence[int]]:
    """Yield a sequence in pieces of at most `size`, in its order."""
    for start in range(0, len(values), size):
        yield values[start : start + size]
