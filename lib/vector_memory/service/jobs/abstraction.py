"""hierarchical-abstraction, by rules alone: a preference that was said in three sessions is proposed as a
principle, a solution that came back in three sessions as a procedure, each linked to where it was said."""

from __future__ import annotations

from vector_memory.model import (
    IMPORTANT,
    PREFERENCE,
    PROCEDURE,
    SOLUTION,
    Memory,
    Priority,
    Scope,
)
from vector_memory.service.base.context import Context
from vector_memory.service.jobs import derived, paging
from vector_memory.service.jobs.step import Step, Turn
from vector_memory.service.memory.merging import sessions_of

AT_ONCE = 200
LEAST_SESSIONS = 3
HOW = "principle"
ASKS: dict[str, dict[str, object]] = {
    PREFERENCE: {"kind": PREFERENCE, "priority": Priority.HIGH.value},
    SOLUTION: {"kind": PROCEDURE, "collection": "procedures"},
}


def step(ctx: Context, turn: Turn) -> Step:
    """Propose what the memories of a page have come to."""
    return proposed(ctx, turn, HOW, LEAST_SESSIONS, ASKS, AT_ONCE)


def proposed(
    ctx: Context, turn: Turn, how: str, least: int, asks: dict[str, dict[str, object]], most: int
) -> Step:
    """Propose the memories of a page that were said in several sessions.

    Args:
        least: in how many sessions at least.
        asks: what they are proposed as, by their kind.
        most: how many of a run are proposed at most.
    """
    page = paging.page(ctx, turn.cursor, AT_ONCE, Scope(kinds=tuple(asks)))
    if page is None:
        return Step({"proposed": 0})
    told, new = [], 0
    for memory in page.memories:
        sessions = len(sessions_of(memory))
        if sessions < least or not _may_be_raised(memory):
            continue
        told.append({"id": memory.id, "text": str(memory.text), "sessions": sessions})
        if turn.dry_run or turn.report.number("proposed") + new >= most:
            continue
        draft = derived.made(how, str(memory.text), [memory], turn.now, {"sessions": sessions})
        new += derived.propose(ctx, page.shelf, draft, asks[memory.kind])
    report = {
        "looked_at": len(page.memories),
        "recurring": len(told),
        "proposed": new,
        "items": told,
    }
    return Step(report, page.cursor, message=derived.hint(turn, new))


def _may_be_raised(memory: Memory) -> bool:
    return not (
        memory.priority in IMPORTANT
        or memory.is_foreign
        or memory.is_suspicious
        or memory.is_held
        or derived.TAG in memory.tags
    )
