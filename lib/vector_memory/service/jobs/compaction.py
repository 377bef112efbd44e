"""memory-compaction: where a collection of a project has grown beyond the soft size, old memories that are
close to each other and name the same thing get a note that says all of them in short; they themselves move to
the cold tier, where words find them, and from which they come back."""

from __future__ import annotations

from datetime import datetime, timedelta

from vector_memory.index.tools import clip
from vector_memory.model import Memory, Origin, Scope
from vector_memory.service.base.context import Context
from vector_memory.service.edit import prune_candidates
from vector_memory.service.jobs import derived, paging, tier_transfer
from vector_memory.service.jobs.derived import clusters
from vector_memory.service.jobs.step import Entry, JobRun, Step

AT_ONCE = 100
OLD = timedelta(days=30)
LEAST, LINE_CHARS = 4, 160
HOW = "compacted"


def step(ctx: Context, run: JobRun) -> Step:
    """Look for clusters on a page; write the notes of the clusters that the step before found.

    Returns:
        What it did, and where the next step begins; as for all jobs.
    """
    due, store = run.cursor.get("clusters"), run.cursor.text("of")
    if isinstance(due, list) and due:
        done = _compact(ctx, store, [str(id) for id in due[0]], run.now)
        rest = {**run.cursor, "clusters": due[1:]}
        is_last = not due[1:] and not run.cursor.text("store")
        return Step(done, {} if is_last else rest)
    full = run.cursor.get("full") or [
        [each["project"], each["collection"]]
        for shelf in ctx.all_shelves()
        for each in tier_transfer.over_soft_size(shelf)
    ]
    if not isinstance(full, list) or not full:
        return Step({"clusters": 0}, message="No collection is beyond its soft size.")
    projects, collections = zip(*full, strict=True)
    scope = Scope(projects=projects, collections=collections, until=run.now - OLD)
    page = paging.page(ctx, run.cursor, AT_ONCE, scope)
    if page is None:
        return Step({"clusters": 0})
    following = {**page.cursor, "full": full} if page.cursor else {}
    memories = [memory for memory in page.memories if [memory.project, memory.collection] in full]
    groups = clusters(
        ctx, page.shelf, memories, lambda memory: _may_be_compacted(memory, run.now), LEAST
    )
    report = {"clusters": len(groups), "members": sum(map(len, groups))}
    if groups and not run.dry_run:
        going = [[memory.id for memory in members] for members in groups]
        entry = Entry("compact", tuple(id for ids in going for id in ids), {"clusters": len(going)})
        return Step(report, {**following, "clusters": going, "of": page.shelf.folder}, entry)
    return Step(report, following)


def _may_be_compacted(memory: Memory, now: datetime) -> bool:
    return (
        memory.origin is not Origin.USER
        and prune_candidates.may_go(memory)
        and memory.created_at <= now - OLD
        and bool(memory.entities)
        and derived.TAG not in memory.tags
    )


def _compact(ctx: Context, store: str, ids: list[str], now: datetime) -> dict[str, object]:
    """Write the note about some memories, and put these into the cold tier; both bear to be done twice."""
    shelf = next((shelf for shelf in ctx.all_shelves() if shelf.folder == store), None)
    by_id = shelf.journal.by_ids(ids) if shelf is not None else {}
    members = [by_id[id] for id in ids if id in by_id and by_id[id].text]
    if shelf is None or len(members) < LEAST:
        return {"compacted": 0}
    members.sort(key=lambda memory: memory.created_at)
    lines = [
        f"- {memory.created_at:%Y-%m-%d} {clip(memory.text, LINE_CHARS)}" for memory in members
    ]
    note = derived.made(HOW, "\n".join(lines), members, now, {"memories": len(members)})
    if not derived.is_known(shelf, note):
        shelf.journal.add([note])
    derived.link(shelf, note)
    tier_transfer.to_cold(ctx, shelf, ids)
    return {"compacted": len(members), "notes": 1}
