"""memory-organize: what says the same becomes one, what weighs too little moves to the cold tier, and the
indexes are optimised. Every memory that is new or changed since the last time is compared with its neighbours,
never all with all."""

from __future__ import annotations

from vector_memory.model import ignore_progress
from vector_memory.service.base.context import Context
from vector_memory.service.edit import consolidate
from vector_memory.service.jobs import paging, tier_transfer
from vector_memory.service.jobs.step import JobRun, Step, in_turn

AT_ONCE = 50


def step(ctx: Context, run: JobRun) -> Step:
    """Merge a page of memories; behind the last page let the tiers move what they would, and optimise what needs it.

    Returns:
        What it did, and where the next step begins.
    """
    return in_turn(ctx, run, (_merge_page, tier_transfer.step, _optimize))


def _merge_page(ctx: Context, run: JobRun) -> Step:
    # How far each store was compared, in this run or an earlier one.
    reached = {**run.before.part("reached"), **run.report.part("reached")}
    page = paging.page_at(ctx, run.cursor, AT_ONCE, start_seqs=run.before.part("reached"))
    if page is None:
        return Step({"reached": reached})
    counts = {"compared": len(page.memories), "merged": 0, "groups": 0}
    memories = [memory for memory in page.memories if consolidate.may_be_one(memory)]
    for group in consolidate.groups_among(ctx, page.shelf, memories, ignore_progress):
        counts["groups"] += group.same
        if group.same and not run.dry_run and page.shelf.journal.writable:
            counts["merged"] += consolidate.merge(ctx, "job", group)
    # What is merged gets a new number, and is compared again the next time: it finds nothing then.
    if page.memories:
        reached[page.shelf.folder] = page.memories[-1].seq
    return Step({**counts, "reached": reached}, page.cursor)


def _optimize(ctx: Context, run: JobRun) -> Step:
    optimized = 0
    for shelf in ctx.opened_shelves():
        index = shelf.index
        if index is not None and index.lexical_ready and index.needs_optimize() and not run.dry_run:
            with shelf.following:
                index.optimize()
            optimized += 1
    return Step({"optimized": optimized})
