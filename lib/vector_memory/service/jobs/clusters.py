"""Memories that are close to each other and name the same thing."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from vector_memory.lifecycle.dedup import text_key
from vector_memory.model import Memory
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory.neighbours import neighbours

CLOSE, MOST = 0.75, 12


def clusters(
    ctx: Context,
    shelf: Shelf,
    memories: Iterable[Memory],
    fits: Callable[[Memory], bool],
    least: int,
) -> list[list[Memory]]:
    """Return groups of at least so many memories without a common member, each with the one first that the others
    are near.

    Args:
        fits: whether a memory may be a member.
    """
    taken: set[str] = set()
    groups = []
    fit = [memory for memory in memories if fits(memory)]
    keys = {memory.id: text_key(memory.embedded) for memory in fit}
    vectors = shelf.journal.get_vectors(list(keys.values()), ctx.embedding.model)
    for memory in fit:
        vector = vectors.get(keys[memory.id])
        if memory.id in taken or vector is None:
            continue
        members = [memory] + [
            near.memory
            for near in neighbours(ctx, shelf, memory, vector)
            if near.cosine is not None
            and near.cosine >= CLOSE
            and near.memory.id not in taken
            and near.memory.collection == memory.collection
            and not set(near.memory.entities).isdisjoint(memory.entities)
            and fits(near.memory)
        ]
        if len(members) >= least:
            taken |= {member.id for member in members}
            groups.append(members[:MOST])
    return groups
