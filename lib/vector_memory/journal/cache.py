"""The journal's methods for vectors and the models that made them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from vector_memory.journal import reads, vectors, writes
from vector_memory.journal.connection import Connections

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vector_memory.model import Vector, Vectors


class VectorCache:
    """What is known of a store's vectors: a part of `Journal`."""

    connections: Connections
    reader: reads.Reader

    def models(self) -> list[str]:
        """Return the names of all models that the store has met, in no order."""
        with self.connections.reading() as connection:
            return [row[0] for row in connection.execute("SELECT name FROM models WHERE id > 0")]

    def set_model(self, seqs: Sequence[int], model: str) -> None:
        """Note which model embedded these rows. Gives no new `seq`; outdated ones are left."""
        with self.connections.writing() as connection:
            number = writes.model_id(connection, model)
            writes.set_model(connection, seqs, number)

    def count_without_model(self, model: str) -> int:
        """Return how many active memories another model embedded, or none."""
        number = self._number(model)
        sql = "SELECT count(*) FROM memories WHERE status = 'active' AND model != ?"
        with self.connections.reading() as connection:
            return int(connection.execute(sql, (number,)).fetchone()[0])

    def without_model(self, model: str, after_seq: int, limit: int) -> list[reads.Change]:
        """Return what this model has not embedded yet.

        Args:
            model: its name.
            after_seq: only rows with higher sequence numbers.
            limit: how many at most.

        Returns:
            What `Journal.changes` gives, of active rows alone, ascending by `seq`.
        """
        with self.connections.reading() as connection:
            seqs = reads.without_model(connection, self._number(model), after_seq, limit)
            tail = f"WHERE m.seq IN ({','.join('?' * len(seqs))}) ORDER BY m.seq"
            return self.reader.changes(connection, tail, seqs)

    def get_vectors(self, hashes: Sequence[bytes], model: str) -> dict[bytes, Vector]:
        """Return cached vectors.

        Args:
            hashes: the hashes of the texts, as `text_hash` makes them.
            model: the model's name.

        Returns:
            Hash → (dim,) float32, L2-normalised. Hashes without a vector are absent.
        """
        with self.connections.reading() as connection:
            return vectors.get(connection, hashes, self._number(model))

    def put_vectors(
        self, model: str, hashes: Sequence[bytes], vecs: Vectors | list[Vector]
    ) -> None:
        """Cache what a model made of texts.

        Args:
            model: its name.
            hashes: the n hashes of the texts.
            vecs: (n, dim) float32, L2-normalised, in the same order.
        """
        with self.connections.writing() as connection:
            vectors.put(connection, writes.model_id(connection, model), hashes, vecs)

    def vectors_of(
        self, seqs: Sequence[int], model: str
    ) -> tuple[NDArray[np.int64], Vectors] | None:
        """Return the vectors of those of `seqs` that are active and have one.

        Returns:
            (n,) int64 sequence numbers and (n, dim) float32, L2-normalised, in the order of
            (project, seq); None when there are none.
        """
        number = self._number(model)
        with self.connections.reading() as connection:
            found = vectors.chunk(connection, seqs, number)
        return None if found is None else (found[0], found[2])

    def iter_vectors(self, model: str) -> Iterator[tuple[NDArray[np.int64], list[str], Vectors]]:
        """Yield the vectors of all active memories that have one of this model, in pieces.

        Yields:
            (n,) int64 sequence numbers, their n projects, and (n, dim) float32, L2-normalised, in the
            order of (project, seq).
        """
        number = self._number(model)
        with self.connections.reading() as connection:
            seqs = vectors.seqs_by_project(connection)
        for part in vectors.parts(seqs):
            with self.connections.reading() as connection:
                found = vectors.chunk(connection, part, number)
            if found is not None:
                yield found

    def _number(self, model: str) -> int:
        """Return a model's number, -1 for an unknown one."""
        with self.connections.reading() as connection:
            row = connection.execute("SELECT id FROM models WHERE name = ?", (model,)).fetchone()
        return int(row[0]) if row else -1
