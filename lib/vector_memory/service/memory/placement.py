"""Where a new memory goes: beside what is there, linked to it, in its place, or into it; and the memories
closest to it, which decide that."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from vector_memory.errors import OvertakenError, VectorMemoryError
from vector_memory.lifecycle import answers, dedup
from vector_memory.lifecycle.dedup import Outcome, text_key
from vector_memory.model import BINDING, OF_TALK, Link, Memory, Origin, Relation, Scope
from vector_memory.retrieve.search import holds_at
from vector_memory.service.base import reach
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory import merging, trust_marks
from vector_memory.text import analysis

if TYPE_CHECKING:
    from vector_memory.model import Vector

MOST_LINKS = 3
"""How many memories a new one is linked to, or takes the place of, at most."""
MOST_ASKED = 2
ASKED_COSINE = 0.3
"""Of how many close ones who stores a memory is asked whether they still hold, and how near these must be: among
freely worded statements the one that ends is one of the two nearest in nine of ten cases."""
QUESTIONS = ("question",)
TODOS = ("todo", "problem")


class Tie(NamedTuple):
    """What a new memory is to a stored one: how both are linked, and by which words."""

    other: Memory
    relation: Relation
    reason: str = ""
    weight: float = 1.0

    @property
    def why(self) -> str:
        """Why the stored one gives way to the new one, where it does."""
        return f"contradicted: the newer says {self.reason}"


class Placed(NamedTuple):
    """A memory as it is stored now, and what was done: `stored`, `merged`, `superseded`, `linked`, or
    `unchanged` where it was there before. `ties` are the memories concerned, the first the most; `near` are others
    close to it, of which only a reader knows whether they hold still."""

    memory: Memory
    action: str
    ties: tuple[Tie, ...] = ()
    near: tuple[Memory, ...] = ()


MOST_OVERTAKEN = 3
"""How often a memory that changes while it is merged with is read again."""
_ORDER = (Relation.SUPERSEDES, Relation.ANSWERS, Relation.CONTRADICTS, Relation.RELATES_TO)
_RELATIONS = {
    Outcome.SUPERSEDES: Relation.SUPERSEDES,
    Outcome.CONTRADICTS: Relation.CONTRADICTS,
    Outcome.RELATED: Relation.RELATES_TO,
    Outcome.SAME: Relation.RELATES_TO,
}


def place(ctx: Context, shelf: Shelf, draft: Memory, vector: Vector | None) -> Placed:
    """Store a memory, or merge it into the one that says the same.

    A memory gives way only to one that says so. What differs in a number or a negation is linked as
    contradicting, and both stay.

    Returns:
        The memory that is stored, whether it is new, and what it contradicts.
    """
    draft = trust_marks.with_trust_marks(draft)
    with shelf.storing:
        placed = _place_draft(ctx, shelf, draft, lambda: neighbours(ctx, shelf, draft, vector))
        if vector is not None and placed.memory.embedded == draft.embedded:
            # The follower finds it there and does not embed the text again.
            key = dedup.text_key(draft.embedded)
            shelf.journal.put_vectors(ctx.embedding.model, [key], [vector])
    if placed.action != "unchanged":
        ctx.notify()
    return placed


def put(ctx: Context, shelf: Shelf, draft: Memory) -> Placed:
    """Store a memory, or merge it into one of equal text, without a look at any other.

    Returns:
        The memory that is stored, and whether it is new.
    """
    with shelf.storing:
        placed = _place_draft(ctx, shelf, draft, lambda: ())
    if placed.action != "unchanged":
        ctx.notify()
    return placed


def _place_draft(
    ctx: Context, shelf: Shelf, draft: Memory, read_neighbours: Callable[[], Sequence[Neighbour]]
) -> Placed:
    """Store a draft, once however often it is asked for, or merge it into the memory that says the same. Where that is
    changed or forgotten meanwhile, both are compared again.

    Args:
        read_neighbours: returns the memories near the draft.
    """
    if stored := shelf.journal.by_ids([draft.id]):
        return Placed(stored[draft.id], "unchanged")
    for _ in range(MOST_OVERTAKEN):
        with contextlib.suppress(OvertakenError):
            near = read_neighbours()
            return _merge_draft(ctx, shelf, draft, near) or _add_draft(ctx, shelf, draft, near)
    return _add_draft(ctx, shelf, draft, read_neighbours())


def vector_of(ctx: Context, draft: Memory) -> Vector | None:
    """Return the vector by which a memory is stored, None where there is no model now, or one that may
    not be told it."""
    if not ctx.embedding.may_embed(draft):
        return None
    try:
        vector: Vector = ctx.embedding.documents([draft.embedded])[0]
    except VectorMemoryError:
        return None
    return vector


def _merge_draft(
    ctx: Context, shelf: Shelf, draft: Memory, near: Sequence[Neighbour]
) -> Placed | None:
    """Merge a draft into the memory that says the same; return None without one."""
    for other in _twins(shelf, draft, near):
        if merging.knows(other, draft.id):
            return Placed(other, "unchanged")
        # A memory that holds no more takes nothing in: what is said again does hold.
        is_one = holds_at(other, ctx.now()) and merging.may_merge(other, draft)
        if is_one and _may_reveal(other, draft):
            stored = shelf.journal.update(merging.merge(other, draft, ctx.now()))
            return Placed(stored, "merged", (Tie(other, Relation.RELATES_TO),))
    return None


def _may_reveal(other: Memory, draft: Memory) -> bool:
    """Whether who stores a draft is told nothing by the id of another memory in the place of its own: it may be given
    the other one, or neither."""
    return reach.holds(other) or not reach.holds(draft)


def _twins(shelf: Shelf, draft: Memory, near: Sequence[Neighbour]) -> list[Memory]:
    """Return the memories that say the same as a draft, or took it in before, best first."""
    equal = shelf.journal.find_by_hash(dedup.text_key(draft.embedded), draft.project)
    same = [
        neighbour.memory
        for neighbour in near
        if merging.knows(neighbour.memory, draft.id) or says_same(draft, neighbour)
    ]
    return [equal, *same] if equal is not None else same


def says_same(draft: Memory, near: Neighbour) -> bool:
    """Whether a memory says what a neighbour says."""
    verdict = dedup.compare(draft.text, near.memory.text, near.cosine)
    return verdict.outcome is Outcome.SAME


def _add_draft(ctx: Context, shelf: Shelf, draft: Memory, near: Sequence[Neighbour]) -> Placed:
    """Store a draft, linked to what it belongs to."""
    # What matters most comes first.
    all_ties = [tie for neighbour in near if (tie := tie_of(draft, neighbour)) is not None]
    all_ties.sort(key=lambda tie: (_ORDER.index(tie.relation), -tie.weight))
    ties = tuple(all_ties[:MOST_LINKS])
    memory = shelf.journal.add([draft])[0]
    now = ctx.now()
    for tie in ties:
        if tie.relation is Relation.SUPERSEDES:
            shelf.journal.supersede(tie.other.id, memory.id, now, tie.why)
    shelf.journal.link_all(
        Link(memory.id, tie.other.id, tie.relation, tie.weight, now)
        for tie in ties
        if tie.relation is not Relation.SUPERSEDES
    )
    tied_ids = {tie.other.id for tie in ties}
    questionable = tuple(
        neighbour.memory
        for neighbour in near
        if neighbour.memory.id not in tied_ids and _may_end(draft, neighbour)
    )
    is_superseding = ties and ties[0].relation is Relation.SUPERSEDES
    action = "superseded" if is_superseding else "linked" if ties else "stored"
    return Placed(memory, action, ties, questionable)


def tie_of(draft: Memory, near: Neighbour) -> Tie | None:
    """Return what a memory is to an older neighbour, None for nothing."""
    other, cosine = near
    if _is_answer(draft, other, cosine):
        return Tie(other, Relation.ANSWERS)
    on_purpose = not (draft.is_captured or other.is_captured)
    verdict = dedup.compare(draft.text, other.text, cosine, are_short=on_purpose)
    if verdict.outcome is Outcome.NEW:
        return None
    relation = _RELATIONS[verdict.outcome]
    if relation is Relation.SUPERSEDES and not _may_replace(draft, other):
        relation = Relation.CONTRADICTS
    if relation is not Relation.RELATES_TO and not _both_assert(draft, other):
        relation = Relation.RELATES_TO
    if relation is Relation.CONTRADICTS and (_is_report(draft) or _is_report(other)):
        relation = Relation.RELATES_TO
    if relation is Relation.RELATES_TO and cosine is not None:
        return Tie(other, relation, verdict.reason, round(min(1.0, cosine), 3))
    return Tie(other, relation, verdict.reason)


def _may_end(draft: Memory, neighbour: Neighbour) -> bool:
    """Whether a memory may have ended what a neighbour says, in whatever words."""
    other, cosine = neighbour
    return (
        cosine is not None
        and cosine >= ASKED_COSINE
        and draft.kind not in TODOS
        and other.kind not in TODOS
        and _both_assert(draft, other)
        and not _is_report(other)
    )


def _is_answer(draft: Memory, other: Memory, cosine: float | None) -> bool:
    if draft.kind in (*QUESTIONS, *TODOS) or other.extra.get("done"):
        return False
    if draft.trust < min(other.trust, 1):
        # What is open stays open, whatever others write.
        return False
    if other.kind in QUESTIONS or (other.kind not in TODOS and other.text.rstrip().endswith("?")):
        return answers.answers_question(draft.text, other.text, cosine)
    return other.kind in TODOS and answers.says_done(draft.text, other.text, cosine)


def _both_assert(draft: Memory, other: Memory) -> bool:
    """Whether neither is a question, and not both are errands: those speak against nothing. "Buy eggs" leaves
    "buy milk" to be done."""
    if draft.kind in TODOS and other.kind in TODOS:
        return False
    return not any(
        memory.kind in QUESTIONS or memory.text.rstrip().endswith("?") for memory in (draft, other)
    )


def _is_report(memory: Memory) -> bool:
    """Whether it is what the assistant found or did in one session, and no rule: that was so at that moment, and
    speaks against nothing that is said at another."""
    is_rule = memory.origin is Origin.USER or memory.kind in BINDING
    return memory.is_captured and not is_rule


def _may_replace(draft: Memory, other: Memory) -> bool:
    """Whether a draft may take a memory's place: it is not the older of both, and not the word of one
    who is trusted less."""
    return draft.trust >= other.trust and draft.created_at >= other.created_at


NEAREST = 8
LOOKED_THROUGH = 64
"""How many memories of the index are compared with a new one, and among how many of the nearest they are looked for:
most of these are talk."""


class Neighbour(NamedTuple):
    """An active memory of the same project, and the cosine of both vectors; None where one of them
    has none."""

    memory: Memory
    cosine: float | None


def neighbours(ctx: Context, shelf: Shelf, draft: Memory, vector: Vector | None) -> list[Neighbour]:
    """Return what is near a draft, the nearest first: by its vector, and by its words where there is
    no vector or no index. Talk as it was is left out: it says of nothing that it holds."""
    scope = Scope(projects=(draft.project,))
    cosines: dict[int, float] = {}
    if vector is not None:
        cosines = {seq: float(score) for seq, score in shelf.nearest(vector, scope, LOOKED_THROUGH)}
    by_seq = shelf.journal.by_seqs(list(cosines))
    newest = shelf.just_stored(shelf.index.reached() if shelf.index is not None else 0)
    further = {seq: memory for seq, memory in newest.items() if memory.project == draft.project}
    if not cosines:
        seqs = [seq for seq, _ in shelf.matching(analysis.query_terms(draft.text), scope, NEAREST)]
        further = {**further, **shelf.journal.by_seqs(seqs)}
    further = {seq: memory for seq, memory in further.items() if seq not in by_seq}
    if vector is not None and further:
        cosines.update(_cosines(ctx, shelf, further, vector))
    by_seq.update(further)
    near = [
        Neighbour(memory, cosines.get(seq))
        for seq, memory in by_seq.items()
        if _may_count(ctx, memory, draft)
    ]
    near.sort(key=lambda neighbour: -1.0 if neighbour.cosine is None else -2.0 - neighbour.cosine)
    return [
        neighbour
        for rank, neighbour in enumerate(near)
        if rank < NEAREST or neighbour.memory.seq in further
    ]


def _cosines(
    ctx: Context, shelf: Shelf, memories: dict[int, Memory], vector: Vector
) -> dict[int, float]:
    """Return the cosines of those whose vectors are in the cache."""
    keys = {seq: text_key(memory.embedded) for seq, memory in memories.items()}
    cached = shelf.journal.get_vectors(list(keys.values()), ctx.embedding.model)
    return {seq: float(cached[key] @ vector) for seq, key in keys.items() if key in cached}


def _may_count(ctx: Context, memory: Memory, draft: Memory) -> bool:
    return (
        memory.id != draft.id
        and not memory.proposed.get("held")
        and memory.kind not in OF_TALK
        and holds_at(memory, ctx.now())
    )
