"""What later changed the lines that an exchange wrote: the exchange whose edits took them away. Whoever is shown the
earlier exchange has to be shown the later one, in whatever words it was asked for ("15 minutes then").

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
from vector_memory.service.memory.passages import TurnReader
from vector_memory.service.memory.taken_back import (
    LEAD,
    corrections,
    prompt_of,
    statements_of,
    talk_of,
)
from vector_memory.text import analysis, days

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_AT_ONCE = 2_000
"""Changed rows that are looked through while somebody waits: some milliseconds."""
MOST_STEPS = 30
"""How many changes of a line are followed, one after the other; where there are more, its last one is not known."""
MOST_LOOKED_AT = 20
"""How many exchanges are read, the newest first, to find one that speaks of the same: a line may be changed back and
forth a thousand times."""
MOST_FOLLOWED = 8
"""Beyond a later exchange that wrote more lines nothing is followed: of a large edit any line may have been changed for
another reason."""
SHARED_TERMS = 2
"""Terms that what was said later shares with a memory: a line may be changed for another reason than what it says."""


_LIFTED = "User, then, "
"""What stands before the day on which a rule was lifted."""


class Later(NamedTuple):
    """The first passage of an exchange that corrected or changed a memory, what stands before its words, and what the
    memory says."""

    memory: Memory
    lead: str
    said: str

    @property
    def lifts(self) -> bool:
        """Whether it lifted a rule, rather than correcting or changing what was said."""
        return self.lead.startswith(_LIFTED)


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
        if self.lines is None or not (line_marks := bytes_of(packed)):
            return []
        taken_marks, seqs = self.lines
        marks = _numbers(line_marks)
        pairs = zip(
            taken_marks.searchsorted(marks), taken_marks.searchsorted(marks, "right"), strict=True
        )
        return sorted({int(seq) for start, end in pairs for seq in seqs[start:end]})

    def add(self, rows: Sequence[tuple[str, int, object]]) -> None:
        """Add what passages tell: the id, the number and the marks of each."""
        import numpy as np

        marks_by_passage = [(seq, bytes_of(marks)) for _, seq, marks in rows]
        marks = _numbers(b"".join(packed for _, packed in marks_by_passage))
        if not len(marks):
            return
        counts = [len(packed) // BYTES for _, packed in marks_by_passage]
        seqs = np.repeat(np.array([seq for seq, _ in marks_by_passage], np.int64), counts)
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
    # The question's limits on kinds, words and times do not hold for what changed a memory.
    scope = replace(asker.scope, kinds=(), tags=(), sessions=(), collections=(), since=None, entities=(), tiers=(), priorities=(), origins=(), words=())  # fmt: skip
    said_text = "\n".join(_spoken_texts([memory]))
    changes = [
        Later(correction, LEAD, said_text)
        for correction in corrections(read, memory)
        if scope.holds(correction)
    ]
    rewriting = rewritten(ctx, asker.shelves[place], read, memory, scope)
    if rewriting and all(rewriting.id != change.memory.id for change in changes):
        who = "User" if prompt_of([rewriting]) else "Assistant"
        day = days.local_time(rewriting.created_at).date()
        changes.append(Later(rewriting, f"Changed since, {day}, {who}: ", said_text))
    if lifted := _lifting_passage(asker.shelves[place], memory, scope):
        changes.append(
            Later(lifted, f"{_LIFTED}{days.local_time(lifted.created_at).date()}: ", said_text)
        )
    # A passage without any words is not mentioned.
    return [change for change in changes if statements_of(change.memory)]


def last_words(later: Sequence[Later]) -> list[Later]:
    """Return what is told of a memory's later words where there is room for little: the last one that corrected or changed
    it, and what lifted it."""
    changes = [word for word in later if not word.lifts]
    return [*changes[-1:], *(word for word in later if word.lifts)]


def _lifting_passage(shelf: Shelf, memory: Memory, scope: Scope) -> Memory | None:
    if memory.origin is not Origin.USER or memory.kind not in BINDING or not memory.is_captured:
        return None
    from vector_memory.service.memory import lifted_rules

    return lifted_rules.lifting(shelf, memory, scope)


def rewritten(ctx: Context, shelf: Shelf, read: TurnReader, memory: Memory, scope: Scope) -> Memory | None:  # fmt: skip
    """Return the beginning of the last exchange that changed lines which a memory's exchange wrote, and speaks of the
    same; None for none."""
    talk = talk_of(read(memory)) if memory.is_captured else []
    terms = _terms([memory]) if talk else set()
    newest: Memory | None = None
    for _ in range(MOST_STEPS):
        later = _newest_change(ctx, shelf, read, talk[0], terms, scope) if talk else []
        if not later:
            return newest
        newest = later[0]
        is_followed = len(bytes_of(newest.extra.get(WROTE))) <= BYTES * MOST_FOLLOWED
        talk = later if is_followed else []
    return None


def _newest_change(
    ctx: Context, shelf: Shelf, read: TurnReader, passage: Memory, terms: set[str], scope: Scope
) -> list[Memory]:
    """Return the passages of the newest exchange that took lines away and has enough of some terms; [] for none."""
    if not (written_marks := passage.extra.get(WROTE)):
        return []
    candidates = shelf.journal.by_seqs(_lines_taken(ctx, shelf).of(written_marks)).values()
    later = [
        candidate
        for candidate in candidates
        if _is_after(candidate, passage) and scope.holds(candidate)
    ]
    later.sort(key=lambda candidate: (candidate.created_at, candidate.seq), reverse=True)
    for candidate in later[:MOST_LOOKED_AT]:
        talk = talk_of(read(candidate))
        if talk and talk[0].id == candidate.id and len(terms & _terms(talk)) >= SHARED_TERMS:
            return talk
    return []


def _terms(memories: Sequence[Memory]) -> set[str]:
    """Return what memories say as terms."""
    return {term for text in _spoken_texts(memories) for term in analysis.analyse(text)}


def _spoken_texts(memories: Sequence[Memory]) -> list[str]:
    """Return what memories say, without who says it and what was done."""
    return [voice.text for memory in memories for voice in voices(memory.text) if voice.who != DONE]


def _is_after(other: Memory, memory: Memory) -> bool:
    """Whether another exchange of a project came after a memory's."""
    when, own_when = (other.created_at, other.source.turn), (memory.created_at, memory.source.turn)
    # A copy of a session under another name has the same words at the same time.
    return other.project == memory.project and when > own_when and other.text != memory.text


def _lines_taken(ctx: Context, shelf: Shelf, may_wait: bool = False) -> LinesTaken:
    """Return which lines the exchanges of a store took away; of what has changed since the last time alone the rows
    are read. Where that is much, it is read when nobody waits."""
    lines_taken = ctx.running.session(TOOK_AWAY, shelf.journal.store_id, LinesTaken)
    reached = shelf.journal.given_seq()
    if reached - lines_taken.reached > MOST_AT_ONCE and not may_wait:
        ctx.later(lambda: _lines_taken(ctx, shelf, may_wait=True))
        return lines_taken
    with lines_taken.lock:
        if reached < lines_taken.reached:
            # A backup was restored: its numbers are others.
            lines_taken.reached, lines_taken.lines = 0, None
        if reached != lines_taken.reached:
            lines_taken.add(shelf.journal.with_extra(TOOK_AWAY, lines_taken.reached))
            lines_taken.reached = reached
    return lines_taken
