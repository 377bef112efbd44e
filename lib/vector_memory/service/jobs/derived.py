"""What jobs derive from memories: proposed, linked to every source, and gone when its sources are gone. It
binds nobody before the user has confirmed it (`vector-memory review`), and what the user dropped is not
proposed again: its id is made of its sources."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime

from vector_memory import redact
from vector_memory.errors import BadInputError
from vector_memory.model import Link, Memory, Origin, Relation, Scope, Status
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.jobs.step import Turn
from vector_memory.service.memory import proposals

TAG = "derived"
SOURCES, EVIDENCE = "derived_from", "evidence"
"""In `extra`: the ids of what it was made of, and counts that speak for it."""


def id_of(how: str, project: str, names: Sequence[str]) -> str:
    """Return the id of what is derived in one way from sources: the same at any time.

    Args:
        names: of the sources.
    """
    name = "\0".join((how, project, *sorted(names))).encode("utf-8", "replace")
    return hashlib.blake2b(name, digest_size=16).hexdigest()


def made(
    how: str, text: str, sources: Sequence[Memory], now: datetime, evidence: Mapping[str, object]
) -> Memory:
    """Return a memory that is derived from others, not stored yet.

    Args:
        how: the way in which it was derived; its tag beside `TAG`.
    """
    ids = [source.id for source in sources]
    return Memory(
        id_of(how, sources[0].project, ids),
        redact.clean(text).text,
        now,
        project=sources[0].project,
        origin=Origin.JOB,
        tags=(TAG, how),
        extra={SOURCES: ids, EVIDENCE: dict(evidence)},
    )


def is_known(shelf: Shelf, memory: Memory) -> bool:
    """Whether something was derived before, whatever became of it."""
    return memory.id in shelf.journal.by_ids([memory.id])


def propose(ctx: Context, shelf: Shelf, memory: Memory, asks: Mapping[str, object]) -> bool:
    """Put what was derived before the user; return whether it is new.

    Args:
        asks: what it is proposed as, such as its `kind`.
    """
    if is_known(shelf, memory):
        return False
    try:
        stored = proposals.put(ctx, shelf, proposals.proposed(memory, asks))
    except BadInputError:
        # Too many wait already: it is found again the next time.
        return False
    link(shelf, stored)
    return stored.id == memory.id


def hint(turn: Turn, new: int) -> str:
    """Return what a run that proposed something says of it; "" where it did not.

    Args:
        new: what its last step proposed.
    """
    count = turn.report.number("proposed") + new
    return f"{count} are proposed: `vector-memory review`." if count else ""


def link(shelf: Shelf, memory: Memory) -> None:
    """Link what was derived to its sources."""
    ids = [str(id) for id in memory.extra.get(SOURCES, ())]
    there = shelf.journal.by_ids(ids)
    shelf.journal.link_all([Link(memory.id, id, Relation.BUILDS_ON) for id in ids if id in there])


def orphans(shelf: Shelf, k: int) -> list[str]:
    """Return the ids of at most k derived memories of which no source is left."""
    found = []
    for memory in shelf.journal.iter_memories(Scope(tags=(TAG,))):
        ids = [str(id) for id in memory.extra.get(SOURCES, ())]
        known = shelf.journal.by_ids(ids).values()
        is_left = any(source.status is not Status.FORGOTTEN for source in known)
        # What the user confirmed is the user's word.
        if memory.origin is Origin.JOB and ids and not is_left:
            found.append(memory.id)
    return found[:k]
