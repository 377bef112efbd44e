"""Scoring rows of a matrix and choosing the best: arithmetic without state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vector_memory.model import Candidate

if TYPE_CHECKING:
    from vector_memory.model import Vector, Vectors
    from vector_memory.store.matrix_file import Ranges


def slices(ranges: Ranges, projects: Sequence[str] | None) -> list[slice]:
    """Return the rows of these projects; all rows as one slice for None."""
    if projects is None:
        return [slice(0, ranges.stops[-1])] if ranges.stops else []
    wanted = set(projects)
    rows = zip(ranges.projects, ranges.starts, ranges.stops, strict=True)
    return [slice(start, stop) for name, start, stop in rows if name in wanted]


def scored(
    vectors: Vectors,
    seqs: NDArray[np.int64],
    outside: NDArray[np.bool_],
    query: Vector,
    allowed: NDArray[np.int64] | None,
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return the similarities and sequence numbers of the rows that may be answered."""
    scores = vectors @ query
    keep = ~outside
    if allowed is not None:
        keep &= _contains(allowed, seqs)
    return (scores, seqs) if keep.all() else (scores[keep], seqs[keep])


def _contains(allowed: NDArray[np.int64], seqs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each sequence number whether it is among the ascending `allowed`."""
    if not len(allowed):
        return np.zeros(len(seqs), np.bool_)
    places = np.minimum(np.searchsorted(allowed, seqs), len(allowed) - 1)
    return np.asarray(allowed[places] == seqs)


def top(parts: list[tuple[NDArray[np.float32], NDArray[np.int64]]], k: int) -> list[Candidate]:
    """Return the k best of all parts, best first."""
    if not parts:
        return []
    scores = np.concatenate([part[0] for part in parts])
    seqs = np.concatenate([part[1] for part in parts])
    if len(scores) > k:
        best = np.argpartition(scores, len(scores) - k)[len(scores) - k :]
        scores, seqs = scores[best], seqs[best]
    order = np.lexsort((-seqs, -scores))
    found = zip(seqs[order].tolist(), scores[order].tolist(), strict=True)
    return [Candidate(seq, score) for seq, score in found]
