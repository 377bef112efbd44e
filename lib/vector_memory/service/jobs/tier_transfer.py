"""tier-transfer: memories move between hot, warm, long-term and cold by `aging.tier`, some at a time; the one place
where jobs meet the tiers. What becomes cold leaves the index and stays in the journal; nothing is deleted.

active-pruning: the same, and it tells which collections have grown beyond what is looked through with ease."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from vector_memory import aging
from vector_memory.model import DERIVED, Memory, Scope, Status, Tier
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.jobs import paging
from vector_memory.service.jobs.step import Entry, JobRun, Step

AT_ONCE = 500
"""Memories that one transaction moves at most: nobody waits for a longer one."""


def step(ctx: Context, run: JobRun) -> Step:
    """Look at the next memories of every store that can be written, and put those elsewhere that belong there. What is
    looked at twice, since the daemon was killed in between, is moved once.

    Returns:
        What it did, and where the next step begins.
    """
    page = paging.page_at(ctx, run.cursor, AT_ONCE, in_tiers=True)
    if page is None:
        return Step({"looked_at": 0, "moved": 0})
    moves = _move_to_tiers(ctx, page.shelf, page.memories, run)
    report = {"looked_at": len(page.memories), "moved": moves.total(), **moves}
    is_noted = moves and not run.dry_run
    return Step(report, page.cursor, Entry("tiers", (), dict(moves)) if is_noted else None)


def _move_to_tiers(
    ctx: Context, shelf: Shelf, memories: Sequence[Memory], run: JobRun
) -> Counter[str]:
    """Put memories into their tiers, and count from which to which; in a dry run only count."""
    summarized_ids = _summarized_ids(shelf, memories)
    tiers = {
        memory.id: Tier.COLD if memory.id in summarized_ids else aging.tier(memory, run.now)
        for memory in memories
    }
    moves = {
        memory.id: tiers[memory.id] for memory in memories if tiers[memory.id] is not memory.tier
    }
    if moves and not run.dry_run:
        # Memories that were used or changed since they were read wait for the next time.
        with shelf.storing:
            current = shelf.journal.by_ids(list(moves))
            unchanged = {memory.id for memory in memories if current.get(memory.id) == memory}
            moves = {id: tier for id, tier in moves.items() if id in unchanged}
            shelf.journal.move_to_tiers(moves)
        if Tier.COLD in moves.values():
            ctx.notify()
    return Counter(
        f"{memory.tier} to {moves[memory.id]}" for memory in memories if memory.id in moves
    )


def _summarized_ids(shelf: Shelf, memories: Sequence[Memory]) -> set[str]:
    """Return the ids of memories that gave way to a summary or a topic."""
    successors = {
        memory.id: memory.superseded_by for memory in memories if memory.status is Status.SUPERSEDED
    }
    heirs = shelf.journal.by_ids(list(set(successors.values())))
    return {id for id, heir in successors.items() if heir in heirs and heirs[heir].kind in DERIVED}


def to_cold(ctx: Context, shelf: Shelf, ids: Sequence[str]) -> int:
    """Put memories into the cold tier, from which they come back when they are used; return how many."""
    with shelf.storing:
        moved = shelf.journal.move_to_tiers(dict.fromkeys(ids, Tier.COLD))
    ctx.notify()
    return len(moved)


# -- active-pruning --


SOFT_SIZE = 1_000
"""Memories of one collection in one project from which on compaction begins, and jobs tell of it."""


def prune(ctx: Context, run: JobRun) -> Step:
    """Do what `step` does, and name the collections that hold more than the soft size.

    Returns:
        What it did, and where the next step begins.
    """
    done = step(ctx, run)
    if run.cursor:
        return done
    crowded = [entry for shelf in ctx.all_shelves() for entry in over_soft_size(shelf)]
    return replace(done, report={**done.report, "over_soft_size": crowded})


def over_soft_size(shelf: Shelf) -> list[dict[str, object]]:
    """Return the collections of a store's projects that hold more than the soft size."""
    return [
        {"project": project, "collection": collection, "memories": n}
        for project in shelf.journal.count_by("project", Scope())
        for collection, n in shelf.journal.count_by(
            "collection", Scope(projects=(project,))
        ).items()
        if n > SOFT_SIZE
    ]
