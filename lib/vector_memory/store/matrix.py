"""Cosine search over all vectors of a store, in memory that is mapped from files: exact up to
`EXACT_ROWS`, by codes of a quarter of the size beyond (see `rows`).

Rows are ordered by project, so that a question about one project computes on one slice. What came
since the last `save` waits in a tail of its own. numpy is imported with this module: import it
when vectors are wanted.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vector_memory.errors import StoreDamagedError
from vector_memory.model import ALIKE_DIGITS, Candidate, Scope
from vector_memory.store import matrix_file
from vector_memory.store.matrix_file import EXACT_ROWS, Ranges, Saved
from vector_memory.store.rows import ExactRows, Rows, blocks, from_file, grown
from vector_memory.system import removal
from vector_memory.system.durable_files import discard, put_aside
from vector_memory.system.files import open_own

if TYPE_CHECKING:
    from vector_memory.model import Vector, Vectors

    Chunk = tuple[NDArray[np.int64], Sequence[str], Vectors]
    """Sequence numbers (n,), their projects, and their vectors (n, dim), L2-normalised."""

log = logging.getLogger(__name__)

TAIL_ROWS = 2_000
"""Rows in the tail from which on it is worth saving."""
_TAKEN = 64


@dataclass(frozen=True)
class _View:
    """What one search sees: it stays as it is while a writer makes the next one.

    `saved_order` sorts the saved rows by sequence number; `codes` numbers the projects for
    `tail_codes`; `dead` and `tail_dead` mark rows that were replaced or removed. The tail's arrays
    may be longer than `tail_rows`: what comes after is not there yet.
    """

    saved: Saved
    saved_order: NDArray[np.int64]
    codes: dict[str, int]
    dead: NDArray[np.bool_]
    tail_vectors: Vectors
    tail_seqs: NDArray[np.int64]
    tail_codes: NDArray[np.int32]
    tail_dead: NDArray[np.bool_]
    tail_rows: int = 0


class Matrix:
    """All vectors of one store and one model. One thread writes, any number search.

    Args:
        folder: where its files are, or will be; a real path.
        model: the embedding model and its version.
        dim: the vectors' dimension.
        exact_rows: how many rows are kept exactly; where there are more, all are coded.
    """

    def __init__(self, folder: str, model: str, dim: int, exact_rows: int = EXACT_ROWS) -> None:
        self.folder = folder
        self.exact_rows = exact_rows
        self.model = model
        self.dim = dim
        self._lock = threading.Lock()
        self._reached = 0
        self._changed = False
        self._view = self._view_of(_nothing(dim))

    @classmethod
    def load(cls, folder: str, model: str, dim: int, exact_rows: int = EXACT_ROWS) -> Matrix | None:
        """Return the saved matrix, None where there is none or it cannot be used: then it needs
        building, and damaged files are set aside."""
        matrix = cls(folder, model, dim, exact_rows)
        try:
            matrix._adopt(matrix_file.load(folder, model, dim))
        except (StoreDamagedError, ValueError) as error:
            log.error("set aside: %s", error)
            matrix.set_aside()
            return None
        except OSError:
            matrix.delete()
            return None
        return matrix

    @classmethod
    def build(
        cls,
        folder: str,
        model: str,
        dim: int,
        chunks: Iterable[Chunk],
        reached: int,
        exact_rows: int = EXACT_ROWS,
    ) -> Matrix:
        """Make a matrix of everything that `chunks` bring, in any order, and save it.

        The vectors pass through a temporary file, not through memory.

        Args:
            folder: where its files will be.
            model: the embedding model and its version.
            dim: the vectors' dimension.
            chunks: sequence numbers (n,) int64, their n projects, and (n, dim) float32, L2-normalised.
            reached: the journal's sequence number up to which they are complete.
            exact_rows: how many rows are kept exactly; where there are more, all are coded.

        Returns:
            The matrix, mapped from the files just written, with an empty tail.

        Raises:
            OSError: it cannot be written.
        """
        os.makedirs(folder, mode=0o700, exist_ok=True)
        matrix = cls(folder, model, dim, exact_rows)
        path = os.path.join(folder, "building.f32")
        seqs: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
        codes: list[NDArray[np.int32]] = [np.empty(0, np.int32)]
        # A store of a million memories has more vectors than there is memory to spare.
        descriptor = open_own(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with os.fdopen(descriptor, "wb") as file:
            for some_seqs, projects, vectors in chunks:
                np.ascontiguousarray(vectors, np.float32).tofile(file)
                seqs.append(np.asarray(some_seqs, np.int64))
                codes.append(matrix._code_of(projects))
        all_seqs, all_codes = np.concatenate(seqs), np.concatenate(codes)
        matrix._reached = reached
        take = partial(from_file, path, (len(all_seqs), dim))
        matrix._write(take, np.empty((0, dim), np.float32), all_seqs, all_codes)
        return matrix

    # -- what is there ------------------------------------------------------------------------

    def reached(self) -> int:
        """Return the journal's sequence number up to which the matrix is complete."""
        return self._reached

    def seqs(self) -> NDArray[np.int64]:
        """Return the sequence numbers of all rows that are not gone, (n,) int64, in no order."""
        view = self._view
        tail = slice(0, view.tail_rows)
        return np.concatenate(
            [view.saved.seqs[~view.dead], view.tail_seqs[tail][~view.tail_dead[tail]]]
        )

    def nearest(
        self,
        vector: Vector,
        scope: Scope,
        k: int,
        allowed: NDArray[np.int64] | None = None,
        copies: int = 1,
    ) -> list[Candidate]:
        """Return the k nearest by cosine similarity.

        Args:
            vector: (dim,) float32, L2-normalised.
            scope: only its projects are looked at.
            k: how many at most.
            allowed: ascending sequence numbers to which the answer is limited.
            copies: more than 1 for the newest alone of copies of one text, see `_top`.

        Returns:
            Candidates with scores from -1 to 1, best first, of equal ones the newest first.
        """
        if k < 1:
            return []
        query = np.ascontiguousarray(vector, np.float32)
        # One look at it: a writer may put another view in its place meanwhile.
        view = self._view
        parts = [
            _scored(view.saved.rows, rows, view.saved.seqs, view.dead, query, allowed)
            for rows in _slices(view.saved.ranges, scope.projects)
        ]
        # The tail is in the order in which it came, so that projects are no slices there.
        if view.tail_rows:
            tail = slice(0, view.tail_rows)
            outside = view.tail_dead[tail]
            if scope.projects is not None:
                wanted_codes = [
                    view.codes[project] for project in scope.projects if project in view.codes
                ]
                outside = outside | ~np.isin(view.tail_codes[tail], wanted_codes)
            rows = ExactRows(view.tail_vectors[tail])
            parts.append(_scored(rows, tail, view.tail_seqs, outside, query, allowed))
        return _top(parts, k, copies)

    def vectors(self, seqs: NDArray[np.int64]) -> Vectors:
        """Return the vectors of these rows.

        Returns:
            (n, dim) float32 in the order of `seqs`, of length 1 but for rounding, all zeros where there
            is none.
        """
        view = self._view
        vectors = np.zeros((len(seqs), self.dim), np.float32)
        _fill(vectors, seqs, view.saved.seqs, view.saved_order, view.saved.rows)
        if view.tail_rows:
            tail = view.tail_seqs[: view.tail_rows]
            rows = ExactRows(view.tail_vectors)
            _fill(vectors, seqs, tail, np.argsort(tail, kind="stable"), rows)
        return vectors

    # -- changing it --------------------------------------------------------------------------

    def add(self, seqs: NDArray[np.int64], projects: Sequence[str], vectors: Vectors) -> None:
        """Add rows; those whose sequence numbers are there already are left as they are.

        Args:
            seqs: (n,) int64.
            projects: the n projects that they belong to.
            vectors: (n, dim) float32, L2-normalised.
        """
        with self._lock:
            is_new = ~self._are_present(seqs)
            if not is_new.any():
                return
            count = int(is_new.sum())
            view = self._room_for(count)
            tail_end = view.tail_rows + count
            # Beyond what any search sees: the view that shows them comes last.
            rows = slice(view.tail_rows, tail_end)
            view.tail_vectors[rows] = vectors[is_new]
            view.tail_seqs[rows] = seqs[is_new]
            view.tail_codes[rows] = self._code_of(projects)[is_new]
            view.tail_dead[rows] = False
            self._view = replace(view, tail_rows=tail_end)
            self._changed = True

    def remove(self, seqs: NDArray[np.int64]) -> None:
        """Leave these rows out of every answer from now on.

        Args:
            seqs: (n,) int64; those that are not here are of no matter.
        """
        if not len(seqs):
            return
        with self._lock:
            view = self._view
            places = _places(seqs, view.saved.seqs, view.saved_order)
            # In place: a search that is under way may still find them, and the journal drops them.
            view.dead[places[places >= 0]] = True
            tail = slice(0, view.tail_rows)
            view.tail_dead[tail][np.isin(view.tail_seqs[tail], seqs)] = True
            self._changed = True

    def mark_reached(self, reached: int) -> None:
        """Note that everything up to this sequence number is in the matrix."""
        self._changed = self._changed or reached > self._reached
        self._reached = max(self._reached, reached)

    def needs_save(self) -> bool:
        """Whether the tail, or what is gone, grew so long that searches suffer."""
        view = self._view
        # In proportion: the larger the matrix, the longer it takes to write it anew.
        limit = max(TAIL_ROWS, len(view.saved.seqs) // 10)
        tail = max(TAIL_ROWS, len(view.saved.seqs) // 50)
        return view.tail_rows >= tail or int(view.dead.sum()) >= limit

    def save(self) -> None:
        """Write everything anew, in order and without what is gone; nothing when nothing changed.

        Raises:
            OSError: it cannot be written; the matrix goes on as it was.
        """
        with self._lock:
            if not self._changed:
                return
            view = self._view
            tail = slice(0, view.tail_rows)
            # The lock is held: what came meanwhile would be lost with the old tail.
            self._write(
                view.saved.rows.take,
                view.tail_vectors[tail],
                np.concatenate([view.saved.seqs, view.tail_seqs[tail]]),
                np.concatenate([self._saved_codes(view.saved), view.tail_codes[tail]]),
                np.concatenate([view.dead, view.tail_dead[tail]]),
            )

    def sound(self) -> bool:
        """Whether the saved vectors are those that were written; it reads them all."""
        try:
            return matrix_file.vectors_sound(self.folder)
        except FileNotFoundError:
            return not len(self._view.saved.seqs)
        except (StoreDamagedError, OSError):
            return False

    def set_aside(self) -> None:
        """Rename the matrix's files out of the way, in place of earlier ones; what is mapped can
        still be read. Where nothing can be renamed they stay."""
        with contextlib.suppress(OSError):
            put_aside(self.folder, *os.path.split(self.folder))

    def delete(self) -> None:
        """Delete the matrix's files, those set aside among them; what is in memory goes on until it
        is dropped."""
        with contextlib.suppress(OSError):
            removal.remove(self.folder)
        discard(*os.path.split(self.folder))

    # -- small parts --------------------------------------------------------------------------

    def _adopt(self, saved: Saved) -> None:
        """Go on from what is saved, with an empty tail."""
        self._reached = saved.reached
        self._changed = False
        self._view = self._view_of(saved)

    def _view_of(self, saved: Saved) -> _View:
        return _View(
            saved,
            np.argsort(saved.seqs, kind="stable"),
            {project: index for index, project in enumerate(saved.ranges.projects)},
            np.zeros(len(saved.seqs), np.bool_),
            np.empty((0, self.dim), np.float32),
            np.empty(0, np.int64),
            np.empty(0, np.int32),
            np.empty(0, np.bool_),
        )

    def _write(
        self,
        take: Callable[[NDArray[np.int64]], Vectors],
        second: Vectors,
        seqs: NDArray[np.int64],
        codes: NDArray[np.int32],
        dead: NDArray[np.bool_] | None = None,
    ) -> None:
        """Save the rows of two arrays, one after the other, in the order of projects and seqs."""
        numbers = self._view.codes
        names = sorted(numbers)
        ranks = np.empty(len(names), np.int64)
        for rank, name in enumerate(names):
            ranks[numbers[name]] = rank
        # By project, so that a question about one project computes on one slice.
        order = np.lexsort((seqs, ranks[codes]))
        if dead is not None:
            order = order[~dead[order]]
        ranges = _ranges(names, ranks[codes[order]])
        self._adopt(
            matrix_file.save(
                self.folder,
                self.model,
                ranges,
                seqs[order],
                blocks(take, len(seqs) - len(second), second, order),
                self.dim,
                self._reached,
                coded=len(order) > self.exact_rows,
            )
        )

    def _code_of(self, projects: Sequence[str]) -> NDArray[np.int32]:
        """Return the projects' numbers, giving new ones to new projects."""
        # A search may be reading the dictionary: it only ever grows.
        codes = self._view.codes
        return np.array([codes.setdefault(project, len(codes)) for project in projects], np.int32)

    def _saved_codes(self, saved: Saved) -> NDArray[np.int32]:
        codes = np.empty(len(saved.seqs), np.int32)
        ranges = saved.ranges
        for name, start, stop in zip(ranges.projects, ranges.starts, ranges.stops, strict=True):
            codes[start:stop] = self._view.codes[name]
        return codes

    def _are_present(self, seqs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for each sequence number whether it is among the rows that are not gone."""
        view = self._view
        places = _places(seqs, view.saved.seqs, view.saved_order)
        is_present = places >= 0
        is_present[is_present] = ~view.dead[places[is_present]]
        tail = slice(0, view.tail_rows)
        alive = view.tail_seqs[tail][~view.tail_dead[tail]]
        return np.asarray(is_present | np.isin(seqs, alive))

    def _room_for(self, count: int) -> _View:
        """Return a view whose tail has room for `count` more rows."""
        view = self._view
        used, room = view.tail_rows, len(view.tail_seqs)
        if used + count <= room:
            return view
        room = max(2 * room, used + count, 256)
        return replace(
            view,
            tail_vectors=grown(view.tail_vectors, room),
            tail_seqs=grown(view.tail_seqs, room),
            tail_codes=grown(view.tail_codes, room),
            tail_dead=grown(view.tail_dead, room),
        )


def _places(
    wanted_seqs: NDArray[np.int64], seqs: NDArray[np.int64], order: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return where each wanted number stands among `seqs`, which ascend by `order`; -1 where it
    does not."""
    if not len(seqs):
        return np.full(len(wanted_seqs), -1, np.int64)
    places = order[np.minimum(np.searchsorted(seqs, wanted_seqs, sorter=order), len(seqs) - 1)]
    return np.where(seqs[places] == wanted_seqs, places, -1)


def _fill(
    vectors: Vectors,
    wanted_seqs: NDArray[np.int64],
    seqs: NDArray[np.int64],
    order: NDArray[np.int64],
    rows: Rows,
) -> None:
    """Set the rows of `vectors` whose sequence numbers are among `seqs`, which ascend by `order`."""
    places = _places(wanted_seqs, seqs, order)
    present = np.flatnonzero(places >= 0)
    # A few at a time: what is taken of all at once is larger than what the C library keeps, so that the
    # system has to give it anew, page by page, for each question.
    for start in range(0, len(present), _TAKEN):
        part = present[start : start + _TAKEN]
        vectors[part] = rows.take(places[part])


def _nothing(dim: int) -> Saved:
    nothing = ExactRows(np.empty((0, dim), np.float32))
    return Saved(np.empty(0, np.int64), nothing, Ranges(), 0, 0)


def _ranges(names: Sequence[str], ranks: NDArray[np.int64]) -> Ranges:
    """Return the rows of each project that has any; `ranks` ascends."""
    if not len(ranks):
        return Ranges()
    present, starts = np.unique(ranks, return_index=True)
    stops = np.append(starts[1:], len(ranks))
    return Ranges(
        tuple(names[rank] for rank in present), tuple(starts.tolist()), tuple(stops.tolist())
    )


def _slices(ranges: Ranges, projects: Sequence[str] | None) -> list[slice]:
    """Return the rows of these projects, a slice for each that has any, in the order of the rows; all
    rows as one slice for None."""
    if projects is None:
        return [slice(0, ranges.stops[-1])] if ranges.stops else []
    wanted_projects = set(projects)
    rows = zip(ranges.projects, ranges.starts, ranges.stops, strict=True)
    return [slice(start, stop) for name, start, stop in rows if name in wanted_projects]


def _scored(
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


def _top(
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
        rounded = np.round(scores, ALIKE_DIGITS)
        best, count, most = _best(rounded, seqs, k), k, min(len(seqs), k * copies)
        # One more than asked for: of the last one not all copies may be there yet.
        while (texts := int(_first(rounded[best]).sum())) <= k and count < most:
            count = min(most, count * max(2, -(-k // max(1, texts))))
            best = _best(rounded, seqs, count)
        best = best[_first(rounded[best])][:k]
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
