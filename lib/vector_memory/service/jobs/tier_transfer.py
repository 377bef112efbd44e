"""tier-transfer: memories move between the tiers, some at a time; the one place where jobs meet the tiers."""

from __future__ import annotations

from collections.abc import Sequence

from vector_memory.model import Tier
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.jobs.step import Step, Turn
from vector_memory.service.upkeep.tiers import AT_ONCE, transfer


def step(ctx: Context, turn: Turn) -> Step:
    """Look at the next memories, until every store is done. How far it came stands in the state, so that a run
    that is cut off goes on there.

    Returns:
        What it did, and where the next step begins.
    """
    # A dry run looks at all at once: it notes nothing that it could go on from.
    limit = 1 + 2 * sum(shelf.journal.count() for shelf in ctx.all_shelves())
    done = transfer(
        ctx, now=turn.now, limit=limit if turn.dry_run else AT_ONCE, dry_run=turn.dry_run
    )
    report = {"looked_at": done.looked_at, "moved": sum(done.moved.values()), **done.moved}
    return Step(report, {} if done.complete or turn.dry_run else {"again": True})


def to_cold(ctx: Context, shelf: Shelf, ids: Sequence[str]) -> int:
    """Put memories into the cold tier, from which they come back when they are used; return how many."""
    with shelf.storing:
        moved = shelf.journal.move_to_tiers(dict.fromkeys(ids, Tier.COLD))
    ctx.notify()
    return len(moved)
