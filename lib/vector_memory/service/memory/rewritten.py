"""What became of what was made: the later exchange whose edits took away lines that an earlier one's had written. Who is
told the one has to be told the other, in whatever words it was asked for ("15 minutes then").

Few reversals are said as such: of eight of an invented project none was known by its words, and six by their edits.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from vector_memory.index.edited_lines import BYTES, bytes_of
from vector_memory.index.voices import DONE, voices
from vector_memory.model import BINDING, TOOK_AWAY, WROTE, Memory, Origin, Scope
from vector_memory.service.base.asker import Asker
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory.corrected import LEAD, corrections, prompt_of, spoken, talk_of
from vector_memory.service.memory.passages import TurnReader
from vector_memory.text import analysis, days

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_AT_ONCE = 2_000
"""Changed rows that are looked through while somebody waits: some milliseconds."""
MOST_STEPS = 30
"""How often a line is followed that was changed again; whose end is further is not known."""
MOST_LOOKED_AT = 20
"""Exchanges that are read to know whether one of them speaks of the same, the newest ones: a line may be changed a
thousand times to and fro."""
MOST_FOLLOWED = 8
"""Lines that an exchange wrote at most, for what changed these to be what became of those whose place they took: of a
larger edit any line may have been changed for something else."""
SHARED_TERMS = 2
"""Terms that what was said later shares with a memory: a line may be changed for another reason than what it says."""


MOST_BESIDE = 2
"""Of what became of a memory, told beside it in a line: the last, and what that one may not stand in for, a correction
before what lifted a rule."""


class Later(NamedTuple):
    """The beginning of an exchange that corrected or changed something, how its words are led in, and what was said
    before."""

    memory: Memory
    lead: str
    said: str


@dataclass
class LinesTaken:
    """Which lines the exchanges of a store took away, up to a sequence number.

    Attributes:
        lines: their marks (n,), ascending, and the numbers of the passages that tell of them (n,); None for none.
    """

    reached: int = 0
    lines: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, packed: object) -> list[int]:
        """Return the numbers of the passages whose exchanges took away one of some lines, each once."""
        if self.lines is None or not (asked := bytes_of(packed)):
            return []
        known, seqs = self.lines
        marks = _numbers(asked)
        pairs = zip(known.searchsorted(marks), known.searchsorted(marks, "right"), strict=True)
        return sorted({int(seq) for start, end in pairs for seq in seqs[start:end]})

    def add(self, rows: Sequence[tuple[str, int, object]]) -> None:
        """Add what passages tell: the id, the number and the marks of each."""
        import numpy as np

        taken = [(seq, bytes_of(marks)) for _, seq, marks in rows]
        marks = _numbers(b"".join(packed for _, packed in taken))
        if not len(marks):
            return
        counts = [len(packed) // BYTES for _, packed in taken]
        seqs = np.repeat(np.array([seq for seq, _ in taken], np.int64), counts)
        order = marks.argsort(kind="stable")
        marks, seqs = marks[order], seqs[order]
        if self.lines is not None:
            places = self.lines[0].searchsorted(marks)
            marks = np.insert(self.lines[0], places, marks)
            seqs = np.insert(self.lines[1], places, seqs)
        self.lines = marks, seqs


def _numbers(packed: bytes) -> NDArray[np.int64]:
    """Return marks that stand one behind the other as numbers (n,), in their order."""
    import numpy as np

    digits = np.frombuffer(packed, np.uint8).reshape(-1, BYTES).astype(np.int64)
    return digits @ (256 ** np.arange(BYTES - 1, -1, -1, dtype=np.int64))


def later_words(
    ctx: Context, asker: Asker, place: int, read: TurnReader, memory: Memory
) -> list[Later]:
    """Return what corrected a memory right after it was said, what changed since what its exchange made, and what lifted
    a rule of the user's, as far as who asks may be given it.

    Args:
        place: that of the memory's store among the asker's.
        read: reads the store's turns.
    """
    # What was asked for by its kind, its words or its time was changed by what is none of it.
    scope = replace(asker.scope, kinds=(), tags=(), sessions=(), collections=(), since=None, entities=(), tiers=(), priorities=(), origins=(), words=())  # fmt: skip
    said = "\n".join(_said([memory]))
    told = [Later(one, LEAD, said) for one in corrections(read, memory) if scope.holds(one)]
    later = rewritten(ctx, asker.shelves[place], read, memory, scope)
    if later and all(later.id != one.memory.id for one in told):
        who = "User" if prompt_of([later]) else "Assistant"
        day = days.local(later.created_at).date()
        told.append(Later(later, f"Changed since, {day}, {who}: ", said))
    if lifted := _lifting(asker.shelves[place], memory, scope):
        told.append(Later(lifted, f"User, then, {days.local(lifted.created_at).date()}: ", said))
    # Of what has no words it is not told that there was something.
    return [one for one in told if spoken(one.memory)]


def _lifting(shelf: Shelf, memory: Memory, scope: Scope) -> Memory | None:
    if memory.origin is not Origin.USER or memory.kind not in BINDING or not memory.is_captured:
        return None
    from vector_memory.service.memory import lifted_rules

    return lifted_rules.lifting(shelf, memory, scope)


def rewritten(ctx: Context, shelf: Shelf, read: TurnReader, memory: Memory, scope: Scope) -> Memory | None:  # fmt: skip
    """Return the beginning of the last exchange that changed lines which a memory's exchange wrote, and speaks of the
    same; None for none."""
    talk = talk_of(read(memory)) if memory.is_captured else []
    terms = _terms([memory]) if talk else set()
    last: Memory | None = None
    for _ in range(MOST_STEPS):
        later = _newest_after(ctx, shelf, read, talk[0], terms, scope) if talk else []
        if not later:
            return last
        last = later[0]
        is_followed = len(bytes_of(last.extra.get(WROTE))) <= BYTES * MOST_FOLLOWED
        talk = later if is_followed else []
    return None


def _newest_after(
    ctx: Context, shelf: Shelf, read: TurnReader, first: Memory, terms: set[str], scope: Scope
) -> list[Memory]:
    """Return the passages of the newest exchange that took lines away and has enough of some terms; [] for none."""
    if not (wrote := first.extra.get(WROTE)):
        return []
    changed = shelf.journal.by_seqs(_taken_in(ctx, shelf).of(wrote)).values()
    newer = [one for one in changed if _is_after(one, first) and scope.holds(one)]
    newer.sort(key=lambda one: (one.created_at, one.seq), reverse=True)
    for one in newer[:MOST_LOOKED_AT]:
        talk = talk_of(read(one))
        if talk and talk[0].id == one.id and len(terms & _terms(talk)) >= SHARED_TERMS:
            return talk
    return []


def _terms(memories: Sequence[Memory]) -> set[str]:
    """Return what memories say as terms."""
    return {term for text in _said(memories) for term in analysis.analyse(text)}


def _said(memories: Sequence[Memory]) -> list[str]:
    """Return what memories say, without who says it and what was done."""
    return [voice.text for memory in memories for voice in voices(memory.text) if voice.who != DONE]


def _is_after(other: Memory, memory: Memory) -> bool:
    """Whether another exchange of a project came after a memory's."""
    when, own_when = (other.created_at, other.source.turn), (memory.created_at, memory.source.turn)
    # A copy of a session under another name has the same words at the same time.
    return other.project == memory.project and when > own_when and other.text != memory.text


def _taken_in(ctx: Context, shelf: Shelf, may_wait: bool = False) -> LinesTaken:
    """Return which lines the exchanges of a store took away; of what has changed since the last time alone the rows
    are read. Where that is much, it is read when nobody waits."""
    store = ctx.running.of(TOOK_AWAY, shelf.journal.store_id, LinesTaken)
    reached = shelf.journal.given_seq()
    if reached - store.reached > MOST_AT_ONCE and not may_wait:
        ctx.later(lambda: _taken_in(ctx, shelf, may_wait=True))
        return store
    with store.lock:
        if reached < store.reached:
            # A backup was restored: its numbers are others.
            store.reached, store.lines = 0, None
        if reached != store.reached:
            store.add(shelf.journal.with_extra(TOOK_AWAY, store.reached))
            store.reached = reached
    return store
