"""What could go: memories that are out of date, doubted, never used, or said twice. Only listed here;
`edit_forget.forget` forgets by ids."""

from __future__ import annotations

from datetime import datetime, timedelta

from vector_memory import aging
from vector_memory.model import (
    COLLECTIONS,
    OF_TALK,
    QUIET,
    Memory,
    Priority,
    Progress,
    Retention,
)
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.edit import consolidate
from vector_memory.service.memory import agent_rights
from vector_memory.service.memory.views import MemoryView, extended, memory_view

UNUSED_DAYS = 180
LOW_CONFIDENCE = 0.3
MOST_LOOKED_AT = 20_000
REASONS = ("expired", "outdated", "doubted", "unused", "duplicate")


class PruneRequest(messages.Filter):
    """Memories that could be forgotten are wanted, `k` of them at most.

    Attributes:
        unused_days: after how many days a memory could go that was never used.
    """

    k: int = messages.number(20, 1, 500)
    unused_days: int = messages.number(UNUSED_DAYS, 1, 100_000)


class CandidateView(MemoryView, kw_only=True):
    """A memory that could be forgotten, and why: one of `REASONS`."""

    why: str


class PruneAnswer(messages.Answer):
    """Memories that could be forgotten, and how many there are in all."""

    memories: list[CandidateView]
    total: int


def prune(ctx: Context, request: PruneRequest, progress: Progress) -> PruneAnswer:
    """Return memories that could be forgotten, each with why, those first that surely say nothing more.

    Talk as it was said is never proposed, nor what is important, protected, or the user's own rule.
    """
    asker = messages.asker_of(ctx, request)
    now, unused_time = ctx.now(), timedelta(days=request.unused_days)
    candidates: dict[str, tuple[str, Memory]] = {}
    for shelf in asker.shelves:
        for memory in shelf.journal.iter_memories(asker.scope, limit=MOST_LOOKED_AT):
            if reason := reason_to_go(memory, now, unused_time):
                candidates[memory.id] = (reason, memory)
    for group in consolidate.find_groups(ctx, asker, progress):
        for duplicate in group.members[1:] if group.same else ():
            if may_go(duplicate):
                candidates.setdefault(duplicate.id, ("duplicate", duplicate))
    ordered = sorted(candidates.values(), key=lambda pair: _rank(*pair))
    names = asker.names
    views = [
        extended(CandidateView, memory_view(memory, names), why=reason)
        for reason, memory in ordered[: request.k]
    ]
    return PruneAnswer(views, len(ordered))


def _rank(reason: str, memory: Memory) -> tuple[int, datetime, str]:
    """Return the sort key of a candidate: the surest reason first, then the oldest."""
    return REASONS.index(reason), memory.created_at, memory.id


def reason_to_go(memory: Memory, now: datetime, unused_time: timedelta) -> str:
    """Return why a memory could go, "" where nothing speaks for it."""
    if not may_go(memory):
        return ""
    if memory.expires_at is not None and memory.expires_at <= now:
        return "expired"
    if memory.valid_until is not None and memory.valid_until <= now:
        return "outdated"
    if aging.confidence(memory, now) < LOW_CONFIDENCE:
        return "doubted"
    return "unused" if not memory.uses and aging.last_use(memory) <= now - unused_time else ""


def may_go(memory: Memory) -> bool:
    """Return whether a memory may be pruned at all: not what the user said or set."""
    rule = COLLECTIONS.get(memory.collection)
    return not (
        memory.kind in OF_TALK
        or memory.collection in QUIET
        or memory.priority in (Priority.CORE, Priority.HIGH)
        or (rule is not None and rule.retention is Retention.PROTECTED)
        or agent_rights.is_the_users(memory)
        or memory.is_held
    )
