"""memory-compaction: where a collection of a project has grown beyond the soft size, old memories that are
close to each other and name the same thing get a note that says all of them in short; they themselves move to
the cold tier, where words find them, and from which they come back."""

from __future__ import annotations

from datetime import datetime, timedelta

from vector_memory.index.tools import clip
from vector_memory.model import Memory, Origin, Scope
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.edit import prune_candidates
from vector_memory.service.jobs import derived, paging, tier_transfer
from vector_memory.service.jobs.derived import clusters
from vector_memory.service.jobs.step import Entry, JobRun, Step

AT_ONCE = 100
OLD = timedelta(days=30)
LEAST, LINE_CHARS = 4, 160
HOW = "compacted"


def step(ctx: Context, run: JobRun) -> Step:
    """Look for clusters on a page, and write a note for each.

    Returns:
        What it did, and where the next step begins; as for all jobs.
    """
    full_collections = run.cursor.get("full") or [
        [entry["project"], entry["collection"]]
        for shelf in ctx.all_shelves()
        for entry in tier_transfer.over_soft_size(shelf)
    ]
    if not isinstance(full_collections, list) or not full_collections:
        return Step({"clusters": 0}, message="No collection is beyond its soft size.")
    projects, collections = zip(*full_collections, strict=True)
    scope = Scope(projects=projects, collections=collections, until=run.now - OLD)
    page = paging.page_at(ctx, run.cursor, AT_ONCE, scope)
    if page is None:
        return Step({"clusters": 0})
    next_cursor = {**page.cursor, "full": full_collections} if page.cursor else {}
    memories = [
        memory
        for memory in page.memories
        if [memory.project, memory.collection] in full_collections
    ]
    groups = clusters(
        ctx, page.shelf, memories, lambda memory: _may_be_compacted(memory, run.now), LEAST
    )
    ids = tuple(memory.id for members in groups for memory in members)
    report = {"clusters": len(groups), "members": len(ids)}
    if not groups or run.dry_run:
        return Step(report, next_cursor)
    for members in groups:
        _compact(ctx, page.shelf, members, run.now)
    report |= {"compacted": len(ids), "notes": len(groups)}
    return Step(report, next_cursor, Entry("compact", ids, {"clusters": len(groups)}))


def _may_be_compacted(memory: Memory, now: datetime) -> bool:
    return (
        memory.origin is not Origin.USER
        and prune_candidates.may_go(memory)
        and memory.created_at <= now - OLD
        and bool(memory.entities)
        and derived.TAG not in memory.tags
    )


def _compact(ctx: Context, shelf: Shelf, members: list[Memory], now: datetime) -> None:
    """Write the note about some memories, and put these into the cold tier. Both may be done twice: the note of the same
    members has the same id."""
    members = sorted(members, key=lambda memory: memory.created_at)
    lines = [
        f"- {memory.created_at:%Y-%m-%d} {clip(memory.text, LINE_CHARS)}" for memory in members
    ]
    note = derived.derive(HOW, "\n".join(lines), members, now, {"memories": len(members)})
    if not derived.is_known(shelf, note):
        shelf.journal.add([note])
    derived.link(shelf, note)
    tier_transfer.to_cold(ctx, shelf, [memory.id for memory in members])
