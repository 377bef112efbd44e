"""hippocampal-consolidation: one cycle a night in five phases. What came since the last one is counted
(replay), what is due of sessions is made (extraction), ideas are compared and what two sessions say is
proposed as a fact (integration), what was derived from memories that are gone goes too (pruning), and what
moves is moved (reorganization)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from vector_memory.errors import BadInputError
from vector_memory.service.base.context import Context
from vector_memory.service.jobs import derived, expiry, paging, tier_transfer
from vector_memory.service.jobs.step import (
    PHASES,
    Entry,
    JobRun,
    Step,
    Work,
    counts_of,
    in_turn,
    with_step,
)


def step(ctx: Context, run: JobRun) -> Step:
    """Do the next step of the phase that a cycle is in.

    Returns:
        What it did, and where the next step begins.
    """
    phases_wanted = run.cursor.words(PHASES)
    works = [work for phase, work in STEPS if not phases_wanted or phase in phases_wanted]
    if not works:
        phases = ", ".join(dict.fromkeys(phase for phase, _ in STEPS))
        raise BadInputError("There is no such phase.", f"Phases: {phases}.")
    result = in_turn(ctx, run, works)
    if result.cursor:
        return replace(result, cursor={PHASES: phases_wanted, **result.cursor})
    counts = counts_of(with_step(run.report, result.report))
    # A cycle without replay passes on how far the last replay came.
    reached = run.report.get("reached") or run.before.part("reached")
    return Step({"reached": reached, **result.report}, {}, Entry("consolidate", (), counts))


def _replay(ctx: Context, run: JobRun) -> Step:
    before = run.before.part("reached")
    shelves = ctx.all_shelves()
    new = sum(shelf.journal.count_after(before.number(shelf.folder)) for shelf in shelves)
    return Step(
        {"new": new, "reached": {shelf.folder: shelf.journal.last_seq() for shelf in shelves}}
    )


def _extraction(ctx: Context, run: JobRun) -> Step:
    from vector_memory.service.capture import deferred

    if run.dry_run:
        return Step(
            {"sessions_due": len(ctx.state.due_keys("topics")) + len(ctx.state.due_keys("summary"))}
        )
    finished = deferred.finish_some(ctx)
    return Step({"sessions_made": finished}, {"again": True} if finished else {})


def _weaving(ctx: Context, run: JobRun) -> Step:
    from vector_memory.service.capture.link_ideas import weave

    if run.dry_run:
        return Step()
    writable = [shelf for shelf in ctx.all_shelves() if shelf.journal.writable]
    compared = sum(weave(ctx, shelf) for shelf in writable)
    return Step({"compared": compared}, {"again": True} if compared else {})


def _pruning(ctx: Context, run: JobRun) -> Step:
    rule = paging.Rule("orphans", "expire", derived.orphans, partial(expiry.remove, ctx))
    return paging.swept(ctx, run, (rule,))


STEPS: tuple[tuple[str, Work], ...] = (
    ("replay", _replay), ("extraction", _extraction), ("integration", _weaving),
    ("integration", derived.facts), ("pruning", _pruning), ("reorganization", tier_transfer.step),
)  # fmt: skip
"""What a cycle does, in its order, each with its phase."""
