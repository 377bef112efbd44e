"""active-pruning: every memory of every collection is looked at, and what is doubted and was not used for long
moves to the cold tier, from which it comes back when it is used. Nothing is deleted, and what the user said,
what is protected and talk as it was said stay where they are."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from vector_memory import aging
from vector_memory.model import COLLECTIONS, Memory, Origin, Scope, Tier
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.edit import prune_candidates
from vector_memory.service.jobs import paging, tier_transfer
from vector_memory.service.jobs.step import Entry, JobRun, Step

AT_ONCE = 1_000
SOFT_SIZE = 1_000
"""Memories of one collection in one project from which on compaction begins, and jobs tell of it."""


def step(ctx: Context, run: JobRun) -> Step:
    """Look at a page of memories, and move what may go. What is looked at twice is moved once.

    Returns:
        What it did, and where the next step begins.
    """
    page = paging.page(ctx, run.cursor, AT_ONCE)
    if page is None:
        return Step({"scanned": 0})
    low = [memory.id for memory in page.memories if is_low_unused(memory, run.now)]
    scanned = Counter({name: run.report.part("collections").number(name) for name in COLLECTIONS})
    scanned.update(memory.collection for memory in page.memories)
    report: dict[str, object] = {"scanned": len(page.memories), "low_unused": len(low)}
    report["collections"] = {name: n for name, n in scanned.items() if n}
    if not page.cursor.get("seq"):
        report["over_soft_size"] = over_soft_size(page.shelf)
    if not page.cursor:
        report |= _coverage(ctx, run, len(page.memories))
    if low and not run.dry_run:
        report["demoted"] = tier_transfer.to_cold(ctx, page.shelf, low)
        return Step(report, page.cursor, Entry("demote", tuple(low), {}))
    return Step(report, page.cursor)


def is_low_unused(memory: Memory, now: datetime) -> bool:
    """Whether a memory is doubted and was not used for long, and may go."""
    if memory.origin is Origin.USER or not prune_candidates.may_go(memory):
        return False
    return memory.tier is not Tier.COLD and aging.tier(memory, now) is Tier.COLD


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


def _coverage(ctx: Context, run: JobRun, last: int) -> dict[str, object]:
    """Return what share of all memories was looked at, in percent."""
    there = sum(shelf.journal.count() for shelf in ctx.all_shelves())
    seen = run.report.number("scanned") + last
    return {"coverage": f"{min(100.0, 100 * seen / max(1, there)):.0f} %"}
