"""What became of what was made: the later exchange whose edits took away lines that an earlier one's had written. Who is
told the one has to be told the other, in whatever words it was asked for ("15 minutes then").

Few reversals are said as such: of eight of an invented project none was known by its words, and six by their edits.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from vector_memory.index.edited_lines import marks_in
from vector_memory.index.voices import DONE, voices
from vector_memory.model import TOOK_AWAY, WROTE, Memory
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory.corrected import LEAD, corrections, prompt_of, talk_of
from vector_memory.service.memory.passages import TurnReader
from vector_memory.text import analysis, days

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_AT_ONCE = 20_000
"""Changed rows that are looked through while somebody waits: some milliseconds."""
MOST_STEPS = 4
"""How often a line is followed that was changed again."""
SHARED_TERMS = 2
"""Terms that what was said later shares with a memory: a line may be changed for another reason than what it says."""


@dataclass
class LinesTaken:
    """Which lines the exchanges of a store took away, up to a sequence number.

    Attributes:
        lines: their marks (n,), ascending, and the numbers of the passages that tell of them (n,); None for none.
    """

    reached: int = 0
    lines: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, marks: Sequence[int]) -> list[int]:
        """Return the numbers of the passages whose exchanges took away one of some lines, each once."""
        if self.lines is None:
            return []
        known, seqs = self.lines
        starts, ends = (known.searchsorted(marks, side) for side in ("left", "right"))
        pairs = zip(starts, ends, strict=True)
        return sorted({int(seq) for start, end in pairs for seq in seqs[start:end]})

    def add(self, rows: Sequence[tuple[str, int, str]]) -> None:
        """Add what rows tell: the id, the number and the `extra`, as JSON, of each."""
        import numpy as np

        pairs = [(mark, seq) for _, seq, extra in rows for mark in marks_in(json.loads(extra).get(TOOK_AWAY))]  # fmt: skip
        if pairs:
            new = np.array(pairs, np.int64).T
            both = new if self.lines is None else np.hstack([np.stack(self.lines), new])
            order = both[0].argsort(kind="stable")
            self.lines = both[0][order], both[1][order]


class Later(NamedTuple):
    """The beginning of an exchange that corrected or changed something, and how its words are led in."""

    memory: Memory
    lead: str


def later_words(ctx: Context, shelf: Shelf, read: TurnReader, memory: Memory) -> list[Later]:
    """Return what corrected a memory right after it was said, and what changed since what its exchange made."""
    told = [Later(one, LEAD) for one in corrections(read, memory)]
    later = rewritten(ctx, shelf, read, memory)
    if later and all(later.id != one.memory.id for one in told):
        who = "User" if prompt_of([later]) else "Assistant"
        told.append(Later(later, f"Changed since, {days.local(later.created_at).date()}, {who}: "))
    return told


def rewritten(ctx: Context, shelf: Shelf, read: TurnReader, memory: Memory) -> Memory | None:
    """Return the beginning of the last exchange that changed lines which a memory's exchange wrote, and speaks of the
    same; None for none."""
    talk = talk_of(read(memory)) if memory.is_captured else []
    terms = _terms([memory]) if talk else set()
    last: Memory | None = None
    for _ in range(MOST_STEPS):
        marks = marks_in(talk[0].extra.get(WROTE)) if talk else []
        later = _newest_after(talk[0], marks, ctx, shelf, read, terms) if marks else []
        if not later:
            break
        talk, last = later, later[0]
    return last


def _newest_after(
    first: Memory,
    marks: Sequence[int],
    ctx: Context,
    shelf: Shelf,
    read: TurnReader,
    terms: set[str],
) -> list[Memory]:
    """Return the passages of the newest exchange that took lines away and has enough of some terms; [] for none."""
    changed = shelf.journal.by_seqs(_taken_in(ctx, shelf).of(marks)).values()
    newer = [one for one in changed if _is_after(one, first)]
    for one in sorted(newer, key=lambda one: (one.created_at, one.seq), reverse=True):
        talk = talk_of(read(one))
        if talk and len(terms & _terms(talk)) >= SHARED_TERMS:
            return talk
    return []


def _terms(memories: Sequence[Memory]) -> set[str]:
    """Return what memories say as terms, without who says it and what was done."""
    said = (voice.text for memory in memories for voice in voices(memory.text) if voice.who != DONE)  # fmt: skip
    return {term for text in said for term in analysis.analyse(text)}


def _is_after(other: Memory, memory: Memory) -> bool:
    """Whether another exchange of a project came after a memory's."""
    turn, own = (other.source.session, other.source.turn), (memory.source.session, memory.source.turn)  # fmt: skip
    is_other = other.project == memory.project and turn != own
    return is_other and other.created_at >= memory.created_at


def _taken_in(ctx: Context, shelf: Shelf, may_wait: bool = False) -> LinesTaken:
    """Return which lines the exchanges of a store took away; of what has changed since the last time alone the rows
    are read. Where that is much, it is read when nobody waits."""
    store = ctx.running.of(TOOK_AWAY, shelf.journal.store_id, LinesTaken)
    reached = shelf.journal.given_seq()
    if reached - store.reached > MOST_AT_ONCE and not may_wait:
        ctx.later(lambda: _taken_in(ctx, shelf, may_wait=True))
        return store
    with store.lock:
        if reached != store.reached:
            store.add(shelf.journal.with_extra(TOOK_AWAY, store.reached))
            store.reached = reached
    return store
