"""Moving memories from one store to another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vector_memory.journal import writes
from vector_memory.journal.links_and_projects import put_links
from vector_memory.journal.rows import text_hash
from vector_memory.journal.scopes import condition, parts
from vector_memory.model import Memory, Scope, Status, Tier

if TYPE_CHECKING:
    from vector_memory.journal.journal import Journal


def move(source: Journal, scope: Scope, target: Journal) -> int:
    """Copy a scope's memories of every status into `target`, then purge them in `source`. Damaged ones
    stay where they are.

    The copies are committed before anything is purged, and rows that the target has are left as
    they are: after a crash, moving again completes it.

    Returns:
        How many were moved, with links, usage and vectors.
    """
    limits, values = condition(scope)
    # Nobody adds to a memory between its copying and its purging.
    with source.connections.writes_paused():
        sql = f"SELECT m.seq FROM memories m WHERE {limits} ORDER BY m.seq"
        seqs = [row[0] for row in source.connections.rows(sql, values)]
        ids = [id for part in parts(seqs) for id in _copy_memories(source, part, target)]
        # Only now: links go over when both of their ends are there.
        _copy_links(source, ids, target)
        moved = 0
        for batch in parts(ids):
            with source.connections.writing() as connection:
                moved += writes.purge(connection, batch)
        if moved:
            source.scrub()
    return moved


def _copy_memories(source: Journal, seqs: Sequence[int], target: Journal) -> list[str]:
    """Copy memories with their usage and their vectors; return their ids."""
    by_seq = source.by_seqs(seqs, tuple(Status))
    memories = [by_seq[seq] for seq in seqs if seq in by_seq]
    with target.connections.writing() as connection:
        writes.insert(connection, memories, source.now(), "INSERT OR IGNORE")
        target.restore_uses(memories)
        for memory in memories:
            if memory.tier is not Tier.HOT:
                writes.place(connection, memory.id, memory.tier)
    _copy_vectors(source, memories, target)
    return [memory.id for memory in memories]


def _copy_vectors(source: Journal, memories: Sequence[Memory], target: Journal) -> None:
    """Copy every model's vectors of these texts, as they are."""
    hashes = list({text_hash(memory.embedded) for memory in memories if memory.text})
    for name in source.models():
        cached = source.get_vectors(hashes, name)
        if cached:
            target.put_vectors(name, list(cached), list(cached.values()))


def _copy_links(source: Journal, ids: Sequence[str], target: Journal) -> None:
    """Copy the links whose two ends are now in the target."""
    copied_ids = set(ids)
    for part in parts(ids):
        links = source.links_of(part)
        inside = [link for link in links if link.from_id in copied_ids and link.to_id in copied_ids]
        with target.connections.writing() as connection:
            put_links(connection, inside)
