"""Moving memories from one store to another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vector_memory.journal import links, reads, vectors, writes
from vector_memory.journal.rows import microseconds, text_hash
from vector_memory.model import Memory, Scope, Status

if TYPE_CHECKING:
    from vector_memory.journal.journal import Journal

CHUNK = 500


def move(source: Journal, scope: Scope, target: Journal) -> int:
    """Copy a scope's memories of every status into `target`, then purge them in `source`.

    The copies are committed before anything is purged, and rows that the target has are left as
    they are: after a crash, moving again completes it.

    Returns:
        How many were moved, with links, usage and vectors.
    """
    # Nobody adds to a memory between its copying and its purging.
    with source.connections.holding():
        with source.connections.reading() as connection:
            seqs = reads.ordered_seqs(connection, scope, tuple(Status), False, None, 0)
        for part in vectors.parts(sorted(seqs), CHUNK):
            _copy(source, part, target)
        # Only now: links go over when both of their ends are there.
        ids = _ids(source, seqs)
        _copy_links(source, ids, target)
        moved = 0
        for start in range(0, len(ids), CHUNK):
            with source.connections.writing() as connection:
                moved += writes.purge(connection, ids[start : start + CHUNK])
        if moved:
            source.scrub()
    return moved


def _copy(source: Journal, seqs: Sequence[int], target: Journal) -> None:
    with source.connections.reading() as connection:
        memories = list(reads.by_seqs(source.reader, connection, seqs, tuple(Status)).values())
    memories.sort(key=lambda memory: memory.seq)
    with target.connections.writing() as connection:
        writes.add_missing(connection, memories, source.now())
        connection.executemany(
            "INSERT OR IGNORE INTO usage SELECT seq, ?, ? FROM memories WHERE id = ?",
            [
                (memory.uses, microseconds(memory.last_used_at), memory.id)
                for memory in memories
                if memory.last_used_at
            ],
        )
    _copy_vectors(source, memories, target)


def _copy_vectors(source: Journal, memories: Sequence[Memory], target: Journal) -> None:
    """Copy every model's vectors of these texts, as they are."""
    hashes = list({text_hash(memory.embedded) for memory in memories if memory.text})
    for name in source.models():
        found = source.get_vectors(hashes, name)
        if found:
            target.put_vectors(name, list(found), list(found.values()))


def _copy_links(source: Journal, ids: Sequence[str], target: Journal) -> None:
    """Copy the links whose two ends are now in the target."""
    there = set(ids)
    for start in range(0, len(ids), CHUNK):
        found = source.links_of(ids[start : start + CHUNK])
        inside = [link for link in found if link.from_id in there and link.to_id in there]
        with target.connections.writing() as connection:
            links.put(connection, inside)


def _ids(source: Journal, seqs: Sequence[int]) -> list[str]:
    """Return the ids of those rows that can be read; damaged ones stay where they are."""
    found: list[str] = []
    for part in vectors.parts(seqs, CHUNK):
        with source.connections.reading() as connection:
            memories = reads.by_seqs(source.reader, connection, part, tuple(Status))
        found.extend(memory.id for memory in memories.values())
    return found
