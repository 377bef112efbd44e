"""What stands near a memory that is about to be stored, with how near it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vector_memory.lifecycle.dedup import text_key
from vector_memory.model import OF_TALK, Memory, Scope
from vector_memory.retrieve.search import holds_at
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.text import analysis

if TYPE_CHECKING:
    from vector_memory.model import Vector

NEAREST = 8
JUST_STORED = 64
"""How many memories that the index has not reached yet are looked at: what was stored a moment ago
is what is most likely said again."""


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
        cosines = {seq: float(score) for seq, score in shelf.nearest(vector, scope, NEAREST)}
    by_seq = shelf.journal.by_seqs(list(cosines))
    others = _just_stored(shelf, draft)
    if not cosines:
        seqs = [seq for seq, _ in shelf.matching(analysis.query_terms(draft.text), scope, NEAREST)]
        others = {**others, **shelf.journal.by_seqs(seqs)}
    others = {seq: memory for seq, memory in others.items() if seq not in by_seq}
    if vector is not None and others:
        cosines.update(_cosines(ctx, shelf, others, vector))
    by_seq.update(others)
    near = [
        Neighbour(memory, cosines.get(seq))
        for seq, memory in by_seq.items()
        if _counts(ctx, memory, draft)
    ]
    return sorted(near, key=lambda n: -1.0 if n.cosine is None else -2.0 - n.cosine)


def _just_stored(shelf: Shelf, draft: Memory) -> dict[int, Memory]:
    """Return the project's newest memories that the index does not know yet."""
    reached = shelf.index.reached() if shelf.index is not None else 0
    last = shelf.journal.last_seq()
    if last <= reached:
        return {}
    seqs = range(max(reached, last - JUST_STORED) + 1, last + 1)
    newest = shelf.journal.by_seqs(list(seqs))
    return {seq: memory for seq, memory in newest.items() if memory.project == draft.project}


def _cosines(
    ctx: Context, shelf: Shelf, others: dict[int, Memory], vector: Vector
) -> dict[int, float]:
    """Return the cosines of those whose vectors are in the cache."""
    keys = {seq: text_key(memory.embedded) for seq, memory in others.items()}
    cached = shelf.journal.get_vectors(list(keys.values()), ctx.embedding.model)
    return {seq: float(cached[key] @ vector) for seq, key in keys.items() if key in cached}


def _counts(ctx: Context, memory: Memory, draft: Memory) -> bool:
    return (
        memory.id != draft.id
        and not memory.proposed.get("held")
        and memory.kind not in OF_TALK
        and holds_at(memory, ctx.now())
    )
