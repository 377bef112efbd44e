"""Scoring rows of a matrix and choosing the best: arithmetic without state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vector_memory.model import ALIKE_DIGITS, Candidate

if TYPE_CHECKING:
    from vector_memory.model import Vector
    from vector_memory.store.matrix_file import Ranges
    from vector_memory.store.rows import Rows


def slices(ranges: Ranges, projects: Sequence[str] | None) -> list[slice]:
    """Return the rows of these projects, a slice for each that has any, in the order of the rows; all
    rows as one slice for None."""
    if projects is None:
        return [slice(0, ranges.stops[-1])] if ranges.stops else []
    wanted = set(projects)
    rows = zip(ranges.projects, ranges.starts, ranges.stops, strict=True)
    return [slice(start, stop) for name, start, stop in rows if name in wanted]


def scored(
    rows: Rows,
    part: slice,
    seqs: NDArray[np.int64],
    outside: NDArray[np.bool_],
    query: Vector,
    allowed: NDArray[np.int64] | None,
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return the similarities and sequence numbers of the rows of a part that may be answered.

    Args:
        part: which rows are looked at.
        seqs: (n,) the rows' sequence numbers.
        outside: (n,) which rows are gone or not asked about.
        query: (dim,) float32, L2-normalised.
        allowed: ascending sequence numbers to which the answer is limited.

    Returns:
        (m,) float32 similarities from -1 to 1 and (m,) int64 sequence numbers, in no order. Exact
        rows give all that may be answered; coded ones those that are likely to be among the nearest.
    """
    keep = ~outside[part]
    if allowed is not None:
        keep &= _contains(allowed, seqs[part])
    scores, places = rows.scored(part, query, keep)
    return scores, seqs[places]


def _contains(allowed: NDArray[np.int64], seqs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each sequence number whether it is among the ascending `allowed`."""
    if not len(allowed):
        return np.zeros(len(seqs), np.bool_)
    places = np.minimum(np.searchsorted(allowed, seqs), len(allowed) - 1)
    return np.asarray(allowed[places] == seqs)


def top(
    parts: list[tuple[NDArray[np.float32], NDArray[np.int64]]], k: int, copies: int = 1
) -> list[Candidate]:
    """Return the k best of all parts, best first, of equal ones the newest first.

    Args:
        parts: what `scored` gives for each part.
        k: how many at most.
        copies: of those that are equally near, which are copies of one text, the newest alone; it is looked at so
            many times k rows for that. 1 for all of them.
    """
    if not parts:
        return []
    scores = np.concatenate([part[0] for part in parts])
    seqs = np.concatenate([part[1] for part in parts])
    if copies == 1:
        best = _best(scores, seqs, k)
    else:
        near = np.round(scores, ALIKE_DIGITS)
        best, count, most = _best(near, seqs, k), k, min(len(seqs), k * copies)
        # One more than asked for: of the last one not all copies may be there yet.
        while (texts := int(_first(near[best]).sum())) <= k and count < most:
            count = min(most, count * max(2, -(-k // max(1, texts))))
            best = _best(near, seqs, count)
        best = best[_first(near[best])][:k]
    pairs = zip(seqs[best].tolist(), scores[best].tolist(), strict=True)
    return [Candidate(seq, score) for seq, score in pairs]


def _best(scores: NDArray[np.float32], seqs: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Return the places of the k best, the newest of equal ones first."""
    best = np.arange(len(scores))
    # Parting takes linear time; only the k best are sorted.
    if len(scores) > k:
        best = np.argpartition(scores, len(scores) - k)[len(scores) - k :]
    return best[np.lexsort((-seqs[best], -scores[best]))]


def _first(scores: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return which of scores, best first, are the first of those equal to them."""
    return np.asarray(np.diff(scores, prepend=np.float32(np.inf)) != 0)
