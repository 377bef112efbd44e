"""What a later session said of the same thing: of two memories that are much alike the newer one mostly says how it is
now, whether or not it says that it ends the older one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vector_memory.model import DERIVED, Memory
from vector_memory.retrieve.candidates import CandidateSource

SAME_THING = 0.55
"""The cosine from which on what a later session said is of the same thing, and told in the place of what it was before:
of 114 hits that misled 52 had something so like them, of 358 that helped 20."""


class ShelvedMemory(NamedTuple):
    """A memory that was weighed, and the place of its shelf."""

    shelf: int
    memory: Memory


class Newer(NamedTuple):
    """The memory of a later session that is most like another, and how much: the cosine of their vectors."""

    memory: Memory
    likeness: float


def newer_of(
    hits: Sequence[ShelvedMemory],
    weighed: Sequence[ShelvedMemory],
    shelves: Sequence[CandidateSource],
) -> dict[str, Newer]:
    """Return what is newer than hits among all that was found, by the hits' ids; nothing for what has nothing newer,
    or no vector.

    Topics and summaries are never the newer one: they only say again what was said.
    """
    if not (speaking := [item for item in weighed if item.memory.kind not in DERIVED]):
        return {}
    import numpy as np

    newer: dict[str, Newer] = {}
    for place, shelf in enumerate(shelves):
        # Vectors of two stores may be of two models.
        hit_memories = [hit.memory for hit in hits if hit.shelf == place]
        other_memories = [item.memory for item in speaking if item.shelf == place]
        if not (hit_memories and other_memories):
            continue
        seqs = np.unique(
            np.array([memory.seq for memory in [*hit_memories, *other_memories]], np.int64)
        )
        vectors = shelf.vectors(seqs)
        if vectors is None:
            continue
        hit_vectors, other_vectors = (
            vectors[seqs.searchsorted([memory.seq for memory in part])]
            for part in (hit_memories, other_memories)
        )
        cosines = hit_vectors @ other_vectors.T
        for memory, likenesses in zip(hit_memories, cosines, strict=True):
            later = [
                Newer(other, float(likeness))
                for other, likeness in zip(other_memories, likenesses, strict=True)
                if likeness > 0 and _is_later(other, memory)
            ]
            if later:
                newer[memory.id] = max(later, key=lambda candidate: candidate.likeness)
    return newer


def _is_later(other: Memory, memory: Memory) -> bool:
    return other.created_at > memory.created_at and other.source.session != memory.source.session
