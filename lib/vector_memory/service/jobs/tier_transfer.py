"""tier-transfer: memories move between hot, warm, long-term and cold by `aging.tier`, some at a time; the one place
where jobs meet the tiers. What becomes cold leaves the index and stays in the journal; nothing is deleted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from vector_memory import aging
from vector_memory.model import DERIVED, Memory, Status, Tier
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.jobs.step import Entry, JobRun, Step

AT_ONCE = 500
"""Memories that one transaction moves at most: nobody waits for a longer one."""


def step(ctx: Context, run: JobRun) -> Step:
    """Look at the next memories of every store that can be written, and put those elsewhere that belong there. What is
    looked at twice, since the daemon was killed in between, is moved once.

    Returns:
        What it did, and where the next step begins.
    """
    shelves = {shelf.folder: shelf for shelf in ctx.all_shelves() if shelf.journal.writable}
    folders = list(shelves)
    store = run.cursor.text("store") or (*folders, "")[0]
    if store not in shelves:
        return Step({"looked_at": 0, "moved": 0})
    some = shelves[store].journal.after(run.cursor.number("seq"), AT_ONCE)
    moved = _moved(ctx, shelves[store], some, run)
    report = {"looked_at": len(some), "moved": moved.total(), **moved}
    following = folders[folders.index(store) + 1 :][:1]
    cursor: dict[str, object] = {"store": following[0]} if following else {}
    if len(some) == AT_ONCE:
        cursor = {"store": store, "seq": some[-1].seq}
    is_told = moved and not run.dry_run
    return Step(report, cursor, Entry("tiers", (), dict(moved)) if is_told else None)


def _moved(ctx: Context, shelf: Shelf, memories: Sequence[Memory], run: JobRun) -> Counter[str]:
    """Put memories into their tiers, and count from which to which; in a dry run only count."""
    summed_up = _summed_up(shelf, memories)
    to = {
        memory.id: Tier.COLD if memory.id in summed_up else aging.tier(memory, run.now)
        for memory in memories
    }
    going = {memory.id: to[memory.id] for memory in memories if to[memory.id] is not memory.tier}
    if going and not run.dry_run:
        # What was used or changed since it was read is judged the next time.
        with shelf.storing:
            current = shelf.journal.by_ids(list(going))
            same = {memory.id for memory in memories if current.get(memory.id) == memory}
            going = {id: tier for id, tier in going.items() if id in same}
            shelf.journal.move_to_tiers(going)
        if Tier.COLD in going.values():
            ctx.notify()
    return Counter(
        f"{memory.tier} to {going[memory.id]}" for memory in memories if memory.id in going
    )


def _summed_up(shelf: Shelf, memories: Sequence[Memory]) -> set[str]:
    """Return the ids of those that gave way to a summary or a topic, which says what they said."""
    gone = {
        memory.id: memory.superseded_by for memory in memories if memory.status is Status.SUPERSEDED
    }
    heirs = shelf.journal.by_ids(list(set(gone.values())))
    return {id for id, heir in gone.items() if heir in heirs and heirs[heir].kind in DERIVED}


def to_cold(ctx: Context, shelf: Shelf, ids: Sequence[str]) -> int:
    """Put memories into the cold tier, from which they come back when they are used; return how many."""
    with shelf.storing:
        moved = shelf.journal.move_to_tiers(dict.fromkeys(ids, Tier.COLD))
    ctx.notify()
    return len(moved)
