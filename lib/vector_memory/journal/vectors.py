"""The vector cache: what a model made of a text, by the text's hash, so that nothing is embedded
twice. float16 on disk (cosine error about 1e-5), float32 in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from vector_memory.journal.reads import Change, SingleReads
from vector_memory.journal.scopes import AMONG, CHUNK, as_array, marks, parts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vector_memory.model import Vector, Vectors

LENGTH_ERROR = 0.02
_SOUGHT = "status = 'active' AND tier != 'cold'"
"""What the index searches by meaning: cold memories have no place in it."""


class VectorCache(SingleReads):
    """What is known of a store's vectors and the models that made them: a part of `Journal`."""

    def models(self) -> list[str]:
        """Return the names of all models that the store has met, in no order."""
        return [row[0] for row in self.connections.rows("SELECT name FROM models WHERE id > 0")]

    def set_model(self, seqs: Sequence[int], model: str) -> None:
        """Note which model embedded these rows. Gives no new `seq`; outdated ones are left."""
        with self.connections.writing() as connection:
            number = model_id(connection, model)
            # In place: an index need not follow.
            connection.executemany(
                "UPDATE memories SET model = ? WHERE seq = ?", [(number, int(seq)) for seq in seqs]
            )

    def count_without_model(self, model: str) -> int:
        """Return how many active memories another model embedded, or none."""
        sql = f"SELECT count(*) FROM memories WHERE {_SOUGHT} AND model != ?"
        return self.connections.number(sql, (self._model_number(model),))

    def count_with_model(self, model: str) -> int:
        """Return how many active memories this model embedded."""
        sql = f"SELECT count(*) FROM memories WHERE {_SOUGHT} AND model = ?"
        return self.connections.number(sql, (self._model_number(model),))

    def without_model(self, model: str, limit: int) -> list[Change]:
        """Return what this model has not embedded yet.

        Args:
            model: its name.
            limit: how many at most.

        Returns:
            What `Journal.changes` gives, of active rows alone, ascending by `seq`.
        """
        # Model by model, since the index finds equal numbers, not other ones.
        sql = f"SELECT seq FROM memories WHERE {_SOUGHT} AND model = ? ORDER BY seq LIMIT ?"
        other_ids = self.connections.rows("SELECT id FROM models WHERE name != ?", (model,))
        seqs = [
            row[0]
            for (other_id,) in other_ids
            for row in self.connections.rows(sql, (other_id, limit))
        ]
        return self.with_terms(sorted(seqs)[:limit])

    def get_vectors(self, hashes: Sequence[bytes], model: str) -> dict[bytes, Vector]:
        """Return cached vectors.

        Args:
            hashes: the hashes of the texts, as `text_hash` makes them.
            model: the model's name.

        Returns:
            Hash → (dim,) float32, L2-normalised. Hashes without a vector are absent.
        """
        number = self._model_number(model)
        by_hash: dict[bytes, Vector] = {}
        for part in parts(hashes):
            sql = f"SELECT hash, vector FROM vectors WHERE model = ? AND hash IN ({marks(part)})"
            rows = self.connections.rows(sql, (number, *part))
            # All at once: row by row it takes as long as reading them. A damaged one may be shorter.
            for size in {len(raw) for _, raw in rows}:
                alike = [row for row in rows if len(row[1]) == size]
                vectors = _widen(b"".join(raw for _, raw in alike), len(alike))
                by_hash.update(zip((hash for hash, _ in alike), vectors, strict=True))
        return by_hash

    def put_vectors(
        self, model: str, hashes: Sequence[bytes], vecs: Vectors | list[Vector]
    ) -> None:
        """Cache what a model made of texts, in the place of what it made of them before.

        Args:
            model: its name.
            hashes: the n hashes of the texts.
            vecs: (n, dim) float32, L2-normalised, in the same order.
        """
        import numpy as np

        # Half the size on the disk, for an error of about 1e-5 in a cosine.
        halves = np.asarray(vecs, dtype=np.float16)
        with self.connections.writing() as connection:
            number = model_id(connection, model)
            connection.executemany(
                "INSERT INTO vectors VALUES (?, ?, ?)"
                " ON CONFLICT (hash, model) DO UPDATE SET vector = excluded.vector",
                (
                    (hash, number, vector.tobytes())
                    for hash, vector in zip(hashes, halves, strict=True)
                ),
            )

    def vectors_of(
        self, seqs: Sequence[int], model: str
    ) -> tuple[NDArray[np.int64], Vectors] | None:
        """Return the vectors of those of `seqs` that are not forgotten and have one.

        Returns:
            (n,) int64 sequence numbers and (n, dim) float32, L2-normalised, in the same order; None when
            there are none.
        """
        chunk = self._vector_chunk(seqs, self._model_number(model))
        return None if chunk is None else (chunk[0], chunk[2])

    def iter_vectors(self, model: str) -> Iterator[tuple[NDArray[np.int64], list[str], Vectors]]:
        """Yield the vectors of all active memories that have one of this model, in pieces.

        Yields:
            (n,) int64 sequence numbers, their n projects, and (n, dim) float32, L2-normalised, in the
            order of (project, seq).
        """
        number = self._model_number(model)
        sql = f"SELECT seq FROM memories WHERE {_SOUGHT} ORDER BY project, seq"
        for part in parts([row[0] for row in self.connections.rows(sql)]):
            chunk = self._vector_chunk(part, number)
            if chunk is not None:
                yield chunk

    def _vector_chunk(
        self, seqs: Sequence[int], number: int
    ) -> tuple[NDArray[np.int64], list[str], Vectors] | None:
        """Return what is active and has a vector among some rows, as `iter_vectors` does; None for
        nothing."""
        import numpy as np

        rows = self.connections.rows(
            f"""SELECT m.seq, m.project, v.vector FROM memories m
                JOIN vectors v ON v.hash = m.hash AND v.model = ?
                WHERE m.seq {AMONG} AND m.status != 'forgotten' ORDER BY m.project, m.seq""",
            (number, as_array(map(int, seqs))),
        )
        if not rows:
            return None
        numbers, projects, raw = zip(*rows, strict=True)
        return np.array(numbers, np.int64), list(projects), _widen(b"".join(raw), len(rows))

    def _model_number(self, model: str) -> int:
        """Return a model's number, -1 for an unknown one."""
        rows = self.connections.rows("SELECT id FROM models WHERE name = ?", (model,))
        return int(rows[0][0]) if rows else -1


def model_id(connection: sqlite3.Connection, name: str) -> int:
    """Return a model's number, giving it one if it is new."""
    connection.execute("INSERT OR IGNORE INTO models(name) VALUES (?)", (name,))
    return int(connection.execute("SELECT id FROM models WHERE name = ?", (name,)).fetchone()[0])


def wrong(connection: sqlite3.Connection) -> list[tuple[bytes, int]]:
    """Return the (hash, model) of vectors whose length is not 1 within `LENGTH_ERROR`: each was written with that
    length. A changed bit that keeps it changes no ranking either."""
    import numpy as np

    keys: list[tuple[bytes, int]] = []
    rows = connection.execute("SELECT hash, model, vector FROM vectors")
    while part := rows.fetchmany(CHUNK):
        for hash, model, raw in part:
            # No whole number of float16.
            if len(raw) % 2:
                keys.append((hash, model))
                continue
            with np.errstate(all="ignore"):
                length = float(np.linalg.norm(np.frombuffer(raw, np.float16).astype(np.float32)))
            if not abs(length - 1) <= LENGTH_ERROR:
                keys.append((hash, model))
    return keys


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
