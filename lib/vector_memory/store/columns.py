"""What stands beside the words and vectors of a store's memories, as columns in memory: sessions and
the order in them, speakers, kinds, times. Recall weighs hundreds of candidates for each prompt, and
asking the journal for their neighbours would take longer than the whole search.

Rows ascend by sequence number: a change gives a row a new one, so that rows are only ever added at
the end or marked as gone. numpy is imported with this module: import it when LanceDB is loaded.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vector_memory.model import GLOBAL_PROJECT, Around, Mark, Scope
from vector_memory.store.rows import grown

NOBODY = -1
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_DAY_US = 86_400_000_000
_WORD_COLUMNS = ("project", "session", "speaker", "kind")
_NUMBERS = {
    "seqs": np.int64, "turns": np.int64, "days": np.float64, "sizes": np.uint8, "marks": np.uint8,
}  # fmt: skip
_CODES = dict.fromkeys(_WORD_COLUMNS, np.int32)
_PLACES = {"before": np.int32, "after": np.int32, "gone": np.bool_}
_TYPES: dict[str, Any] = {**_NUMBERS, **_CODES, **_PLACES}


WordColumn = tuple[Sequence[str], NDArray[np.int32]]
"""n words: the distinct ones, and for each row its place among them, (n,) int32."""


class Batch(NamedTuple):
    """Rows as they are stored, in any order: (n,) numbers, and words by their column."""

    seqs: NDArray[np.int64]
    created_us: NDArray[np.int64]
    turns: NDArray[np.int64]
    sizes: NDArray[np.uint8]
    marks: NDArray[np.uint8]
    words: dict[str, WordColumn]


def storable(text: str) -> str:
    """Return text that UTF-8 can hold: lone surrogates become question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def microseconds(moment: datetime) -> int:
    """Return the microseconds from 1970 to an aware time."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def words_of(words: Sequence[str]) -> WordColumn:
    """Return n words as a column that numbers each of them; equal words keep places of their own."""
    return words, np.arange(len(words), dtype=np.int32)


class _Table(NamedTuple):
    """The arrays by name, and how many of their rows count: what one question sees."""

    arrays: dict[str, Any]
    size: int

    def rows(self, seqs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of each sequence number, -1 where there is none or it is gone."""
        present_seqs = self.arrays["seqs"][: self.size]
        if not len(present_seqs):
            return np.full(len(seqs), -1, np.int64)
        rows = np.minimum(np.searchsorted(present_seqs, seqs), len(present_seqs) - 1)
        # A number that is outdated stands nowhere: the search for it ends at its neighbour.
        rows[(present_seqs[rows] != seqs) | self.arrays["gone"][rows]] = -1
        return rows

    def values(self, name: str, rows: NDArray[Any]) -> NDArray[Any]:
        """Return a column's values, `NOBODY` for codes and 0 for numbers where a row is -1."""
        nothing = np.asarray(NOBODY if name in _CODES else 0, _TYPES[name])
        if not self.size:
            return np.full(len(rows), nothing)
        return np.where(rows >= 0, self.arrays[name][rows], nothing)

    def follow(self, name: str, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the rows before or after these; -1 stays -1."""
        if not self.size:
            return np.full(len(rows), -1, np.int64)
        return np.where(rows >= 0, self.arrays[name][rows], -1)


class Columns:
    """The columns of one store. One thread writes, any number read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Numbers stand for words, so that a whole column is compared at once.
        self._codes: dict[str, dict[str, int]] = {name: {"": NOBODY} for name in _WORD_COLUMNS}
        self._names_by_word: dict[str, list[str]] = {}
        self._names_read = 0
        self._latest: dict[object, list[tuple[float, float]]] = {}
        self._table = _Table({name: np.empty(0, kind) for name, kind in _TYPES.items()}, 0)

    @classmethod
    def build(cls, batches: Iterable[Batch]) -> Columns:
        """Return the columns of all rows that `batches` bring, in whatever order they come."""
        columns = cls()
        parts = [columns._encoded(batch) for batch in batches if len(batch.seqs)]
        if parts:
            merged = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
            order = np.argsort(merged["seqs"], kind="stable")
            table = columns._extended({name: values[order] for name, values in merged.items()})
            _link(table, np.arange(table.size, dtype=np.int32))
            columns._table = table
        return columns

    def __len__(self) -> int:
        arrays, count = self._table
        return int(count - arrays["gone"][:count].sum())

    def add(self, batch: Batch) -> None:
        """Add rows, whose sequence numbers are higher than all before, and link them. Rows with lower
        numbers are there already and are left out."""
        with self._lock:
            part = self._encoded(batch)
            order = np.argsort(part["seqs"], kind="stable")
            arrays, start = self._table
            last_seq = int(arrays["seqs"][start - 1]) if start else 0
            # A batch that is applied again, after a crash, brings nothing new.
            order = order[part["seqs"][order] > last_seq]
            if not len(order):
                return
            table = self._extended({name: values[order] for name, values in part.items()})
            _link_sessions(table, np.arange(start, table.size, dtype=np.int32))
            self._table, self._latest = table, {}

    def remove(self, seqs: NDArray[np.int64]) -> None:
        """Leave these rows out from now on.

        Args:
            seqs: (n,) int64; those that are not here are of no matter.
        """
        with self._lock:
            rows = self._table.rows(np.asarray(seqs, np.int64))
            rows = rows[rows >= 0]
            if len(rows):
                # In place: a search that is under way may still see them, and the journal drops
                # them.
                self._table.arrays["gone"][rows] = True
                _link_sessions(self._table, rows.astype(np.int32))
                self._latest = {}

    # -- asking -----------------------------------------------------------------------------------

    def around(self, seqs: Sequence[int], spread: Sequence[int] = ()) -> Around:
        """Return what stands around memories, by ascending sequence number.

        Args:
            seqs: the memories; those that are not here yet come back without surroundings.
            spread: those of them whose neighbours come along: the one before and the two after.

        Returns:
            A row for each of `seqs` and of the neighbours of `spread`, each once, ascending by
            `seqs`. A memory that is not here has -1 for its codes and 0 for everything else.
        """
        # One look at it: a writer may put another table in its place meanwhile.
        table = self._table
        sought = np.unique(np.asarray(seqs, np.int64))
        if len(spread):
            rows = table.rows(np.asarray(spread, np.int64))
            # What answers a question mostly comes after it, so two of those come along.
            after_rows = table.follow("after", rows)
            near = [table.follow("before", rows), after_rows, table.follow("after", after_rows)]
            sought = np.union1d(sought, table.values("seqs", np.concatenate(near)))
            sought = sought[sought > 0]
        rows = table.rows(sought)
        before_rows = table.follow("before", rows)
        return Around(
            seqs=sought,
            before=table.values("seqs", before_rows),
            before2=table.values("seqs", table.follow("before", before_rows)),
            after=table.values("seqs", table.follow("after", rows)),
            session=table.values("session", rows),
            speaker=table.values("speaker", rows),
            kind=table.values("kind", rows),
            days=table.values("days", rows),
            size=table.values("sizes", rows),
            marks=table.values("marks", rows),
        )

    def codes(self, column: str, words: Iterable[str]) -> list[int]:
        """Return the codes that words have in a column.

        Args:
            column: `project`, `session`, `speaker` or `kind`.
            words: as they are stored.

        Returns:
            One number for each known word, in the order of `words`; unknown and empty ones have none.
            A code means something in these columns alone, and only while they live.
        """
        codes = self._codes[column]
        return [codes[word] for word in words if word and word in codes]

    def speakers(self, words: Iterable[str]) -> list[str]:
        """Return the speakers whose name, or its first word, is among these lower-case words.

        Returns:
            Names as they are stored, in the order of `words`; one word may bring several.
        """
        codes = self._codes["speaker"]
        # Names only ever grow in number: they are taken apart anew when there are more.
        if self._names_read != len(codes):
            self._names_by_word = {}
            for name in codes:
                for form in {name.lower(), *name.lower().split()[:1]}:
                    self._names_by_word.setdefault(form, []).append(name)
            self._names_read = len(codes)
        return [name for word in words if word for name in self._names_by_word.get(word, ())]

    def between(self, scope: Scope, start: float, end: float, k: int) -> list[int]:
        """Return the newest memories of a scope's projects and kinds that were made in a time.

        Args:
            scope: its projects and kinds count, nothing else of it.
            start: from when on, in days since 1970.
            end: until before when, in days since 1970.
            k: how many at most.

        Returns:
            Sequence numbers, the newest memory first.
        """
        arrays, count = table = self._table
        days = arrays["days"][:count]
        inside = (days >= start) & (days < end) & self._in_projects(table, scope)
        rows = np.flatnonzero(inside & self._of_kinds(table, scope))
        newest = rows[np.argsort(-days[rows], kind="stable")[:k]]
        return [int(seq) for seq in arrays["seqs"][newest]]

    def within(self, scope: Scope) -> NDArray[np.int64] | None:
        """Return the memories of a scope, where the columns know all that limits it.

        Returns:
            (n,) int64 sequence numbers, ascending; None for a scope of tags, sessions, collections, entities
            or states: only projects, kinds and times are here for every memory.
        """
        elsewhere = (scope.tags, scope.sessions, scope.collections, scope.without, scope.entities)
        if any(elsewhere) or scope.is_by_state:
            return None
        arrays, count = table = self._table
        inside = self._in_projects(table, scope) & self._of_kinds(table, scope)
        for at, is_in in ((scope.since, np.greater_equal), (scope.until, np.less)):
            if at is not None:
                inside &= is_in(arrays["days"][:count], microseconds(at) / _DAY_US)
        return np.asarray(arrays["seqs"][:count][inside])

    def latest_sessions(self, scope: Scope, count: int, but: str = "") -> list[tuple[float, float]]:
        """Return when the last sessions of a scope's projects began and ended.

        Args:
            scope: its projects count, nothing else of it.
            count: how many sessions at most.
            but: a session that is left out.

        Returns:
            (start, end) in days since 1970, the session that ended last first.
        """
        hidden = self._codes["session"].get(but, NOBODY)
        key, spans = (scope.projects, count, hidden), self._latest
        if key not in spans:
            # All rows are looked at, and each prompt of a session asks the same.
            spans[key] = self._spans(scope, count, hidden)
        return spans[key]

    def _spans(self, scope: Scope, count: int, hidden: int) -> list[tuple[float, float]]:
        arrays, size = table = self._table
        sessions = arrays["session"][:size]
        inside = self._in_projects(table, scope)
        rows = np.flatnonzero(inside & (sessions != NOBODY) & (sessions != hidden))
        if not len(rows):
            return []
        codes, days = sessions[rows], arrays["days"][rows]
        # By code: two passes over the rows, however many sessions there are.
        ends = np.full(int(codes.max()) + 1, -np.inf)
        np.maximum.at(ends, codes, days)
        starts = np.full(len(ends), np.inf)
        np.minimum.at(starts, codes, days)
        newest = [
            code for code in np.argsort(-ends, kind="stable")[:count] if starts[code] < np.inf
        ]
        return [(float(starts[code]), float(ends[code])) for code in newest]

    # -- small parts ------------------------------------------------------------------------------

    def _in_projects(self, table: _Table, scope: Scope) -> NDArray[np.bool_]:
        alive = ~table.arrays["gone"][: table.size]
        if scope.projects is None:
            return np.asarray(alive)
        codes = self.codes("project", scope.projects)
        if GLOBAL_PROJECT in scope.projects:
            codes.append(NOBODY)
        return np.asarray(alive & np.isin(table.arrays["project"][: table.size], codes))

    def _of_kinds(self, table: _Table, scope: Scope) -> NDArray[np.bool_]:
        """Return which rows are of a scope's kinds: all of them where it names none."""
        if not scope.kinds:
            return np.ones(table.size, bool)
        codes = self.codes("kind", map(storable, scope.kinds))
        return np.asarray(np.isin(table.arrays["kind"][: table.size], codes))

    def _encoded(self, batch: Batch) -> dict[str, Any]:
        """Return a batch with numbers for words."""
        part: dict[str, Any] = {
            "seqs": np.asarray(batch.seqs, np.int64),
            "turns": np.asarray(batch.turns, np.int64),
            "days": np.asarray(batch.created_us, np.float64) / _DAY_US,
            "sizes": np.asarray(batch.sizes, np.uint8),
            "marks": np.asarray(batch.marks, np.uint8),
        }
        for name in _WORD_COLUMNS:
            numbers = self._codes[name]
            # "" is there from the beginning as NOBODY, so that the next code is one less.
            distinct, places = batch.words[name]
            codes = [numbers.setdefault(word or "", len(numbers) - 1) for word in distinct]
            part[name] = np.array(codes, np.int32)[places]
        # An idea or a topic stands beside the talk, not between two turns of it.
        part["session"][(part["marks"] & Mark.ASIDE) != 0] = NOBODY
        return part

    def _extended(self, part: dict[str, Any]) -> _Table:
        """Return the table with more rows at its end, which are not linked yet."""
        arrays, start = self._table
        count = start + len(part["seqs"])
        if count > len(arrays["seqs"]):
            # With some room to spare: copying everything for each batch would be quadratic.
            room = max(count, int(1.2 * start), 256)
            arrays = {name: grown(array, room) for name, array in arrays.items()}
        # These rows lie beyond what any search sees, so they can be written in place.
        for name, values in part.items():
            arrays[name][start:count] = values
        for name in ("before", "after"):
            arrays[name][start:count] = -1
        arrays["gone"][start:count] = False
        return _Table(arrays, count)


def _link_sessions(table: _Table, rows: NDArray[np.int32]) -> None:
    """Link anew all rows of the sessions that these rows belong to."""
    column = table.arrays["session"][: table.size]
    sessions = np.unique(column[rows])
    sessions = sessions[sessions != NOBODY]
    if len(sessions):
        _link(table, np.flatnonzero(np.isin(column, sessions)).astype(np.int32))


def _link(table: _Table, rows: NDArray[np.int32]) -> None:
    """Give each of these rows the one before and the one after it in its session. All rows of the
    sessions concerned must be among them."""
    arrays = table.arrays
    session, project = arrays["session"], arrays["project"]
    rows = rows[(session[rows] != NOBODY) & ~arrays["gone"][rows]]
    # Within a turn what was stored first stands first: sequence numbers ascend with the rows.
    rows = rows[np.lexsort((rows, arrays["turns"][rows], session[rows], project[rows]))]
    if not len(rows):
        return
    earlier, later = rows[:-1], rows[1:]
    same_session = (session[earlier] == session[later]) & (project[earlier] == project[later])
    arrays["before"][later] = np.where(same_session, earlier, -1)
    arrays["after"][earlier] = np.where(same_session, later, -1)
    arrays["before"][rows[0]] = arrays["after"][rows[-1]] = -1
