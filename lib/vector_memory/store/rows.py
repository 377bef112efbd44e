"""How the rows of a matrix are held: exactly, or as codes of a quarter of the size.

Exact rows are float32, mapped from a file. Coded rows are int8 with one scale each, and one bit a
dimension besides: a search counts differing bits first, and compares the codes of the nearest
thousands. On vectors of real text, 10,000 of a million rows hold 0.99 of the 200 nearest.

Source: sign bits as a sketch of the angle: M. Charikar, "Similarity Estimation Techniques from Rounding
Algorithms", STOC 2002.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from vector_memory.model import Vector, Vectors

    Places = NDArray[np.int64]
    Mask = NDArray[np.bool_]

SHORTLIST, LEAST_SHORTLIST = 8_000, 2_500
"""Rows whose codes are compared, and of a short matrix a third of them, but no fewer than the least."""
SHORTLIST_SHARE, SHORT_SHARE = 100, 3
"""One of so many rows is on the shortlist of a matrix that is longer, and that is shorter."""
_BLOCK, _WRITTEN = 65_536, 4_096
_WIDENED = 512
"""Codes that are widened to float32 at once: so few stay in the processor's cache."""
_WORD_BITS = 64


class ExactRows:
    """Rows as they are: (n, dim) float32."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors

    def take(self, places: Places) -> Vectors:
        """Return the vectors at these places, (n, dim) float32, as they were given."""
        return self._vectors[places]

    def scored(self, rows: slice, query: Vector, keep: Mask) -> tuple[NDArray[np.float32], Places]:
        """Return the similarity of every row that is kept, (m,) float32, with its place, ascending."""
        # All of them: one product over a slice is quicker than one over the rows picked out of it.
        scores = self._vectors[rows] @ query
        places = np.arange(rows.start, rows.stop)
        return (scores, places) if keep.all() else (scores[keep], places[keep])


class CodedRows:
    """Rows as codes.

    Args:
        codes: (n, dim) int8.
        scales: (n,) float32; a row is its codes times its scale.
        signs: (words, n) uint64; a bit is set where a code is positive.
    """

    def __init__(
        self, codes: NDArray[np.int8], scales: NDArray[np.float32], signs: NDArray[np.uint64]
    ) -> None:
        self.codes = codes
        self.scales = scales
        self.signs = signs

    def take(self, places: Places) -> Vectors:
        """Return the vectors at these places, (n, dim) float32; each differs from the original by about
        0.5 %, its length too."""
        return self.codes[places].astype(np.float32) * self.scales[places, None]

    def scored(self, rows: slice, query: Vector, keep: Mask) -> tuple[NDArray[np.float32], Places]:
        """Return the similarities of the rows whose signs are nearest to the question's.

        Returns:
            (m,) float32 and (m,) int64 places, ascending: all that are kept where these are few, else
            `SHORTLIST` or a hundredth of the slice, and some more where many are equally near.

        Source: M. Charikar, STOC 2002: the share of signs in which two vectors differ estimates their angle.
        """
        places = rows.start + self._shortlist(rows, query, keep)
        scores = np.empty(len(places), np.float32)
        for start in range(0, len(places), _WIDENED):
            some = places[start : start + _WIDENED]
            scores[start : start + _WIDENED] = self.codes[some].astype(np.float32) @ query
        return scores * self.scales[places], places

    def _shortlist(self, rows: slice, query: Vector, keep: Mask) -> Places:
        """Return the places, counted from the slice's start, of the kept rows that agree with the
        question in most signs."""
        count = int(keep.sum())
        length = rows.stop - rows.start
        short = max(LEAST_SHORTLIST, length // SHORT_SHARE)
        target_size = max(min(SHORTLIST, short), length // SHORTLIST_SHARE)
        # So few can all be compared: counting signs first would save nothing.
        if count <= target_size:
            return np.flatnonzero(keep)
        distances = self._distances(rows, signs_of(query[None])[:, 0])
        # Counting is linear; sorting a million numbers would take longer than all the rest.
        reached = np.cumsum(np.bincount(distances[keep]))
        limit = int(np.searchsorted(reached, target_size))
        return np.flatnonzero(keep & (distances <= limit))

    def _distances(self, rows: slice, query: NDArray[np.uint64]) -> NDArray[np.uint16]:
        """Return in how many signs each row of a slice differs from the question."""
        distances = np.empty(rows.stop - rows.start, np.uint16)
        # Block by block, so that the sums stay in the cache while the words are added to them.
        for start in range(0, len(distances), _BLOCK):
            block = distances[start : start + _BLOCK]
            block_rows = slice(rows.start + start, rows.start + start + len(block))
            # The first word sets the block, which is not initialised.
            block[:] = np.bitwise_count(self.signs[0, block_rows] ^ query[0])
            for word in range(1, len(query)):
                block += np.bitwise_count(self.signs[word, block_rows] ^ query[word])
        return distances


Rows = ExactRows | CodedRows
"""The rows of a matrix, none of them changing."""


def from_file(path: str, shape: tuple[int, int], places: Places) -> Vectors:
    """Return a copy of the rows at these places of a file of float32, in their order. It is mapped anew for each piece:
    what was read is given back at once, so that a file of any size takes no memory."""
    if not len(places):
        return np.empty((0, shape[1]), np.float32)
    mapped: Any = np.memmap(path, np.float32, "r", shape=shape)
    return np.array(mapped[places])


def encode(vectors: Vectors) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return vectors as codes of a quarter of their size. Codes of codes are the same codes.

    Args:
        vectors: (n, dim) float32.

    Returns:
        (n, dim) int8 from -127 to 127, and (n,) float32: a vector is its codes times its scale.
    """
    most = np.abs(vectors).max(axis=1, initial=0.0)
    # A row of zeros has the scale 1, since it must not divide by 0.
    scales = np.where(most > 0, most / 127, 1).astype(np.float32)
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales


def signs_of(vectors: NDArray[Any]) -> NDArray[np.uint64]:
    """Return one bit for each number that is positive.

    Args:
        vectors: (n, dim) of any numbers.

    Returns:
        (words, n) uint64, where words is dim / 64, rounded up: row by row the same 64 dimensions of
        all vectors, as a search reads them.

    Source: M. Charikar, STOC 2002, with the axes in the place of random hyperplanes.
    """
    packed = np.packbits(vectors > 0, axis=1)
    padding = -packed.shape[1] % (_WORD_BITS // 8)
    # The same zeros in every row: they differ from nothing.
    padded = np.pad(packed, ((0, 0), (0, padding)))
    return np.ascontiguousarray(padded.view(np.uint64).T)


def grown(array: Any, room: int) -> Any:
    """Return a longer copy of an array; the new rows are not set."""
    longer = np.empty((room, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def blocks(
    take: Callable[[Places], Vectors], count: int, second: Vectors, order: Places
) -> Iterator[Vectors]:
    """Yield the rows of two matrices, one after the other, in the given order, some at a time.

    Args:
        take: returns the vectors at some places of the first one.
        count: how many rows that has.
        second: (n, dim) float32.

    Yields:
        (at most `_WRITTEN`, dim) float32.
    """
    for start in range(0, len(order), _WRITTEN):
        places = order[start : start + _WRITTEN]
        block = np.empty((len(places), second.shape[1]), np.float32)
        early = places < count
        block[early] = take(places[early])
        block[~early] = second[places[~early] - count]
        yield block
