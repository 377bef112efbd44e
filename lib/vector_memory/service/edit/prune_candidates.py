"""What could go: memories that are out of date, doubted, never used, or said twice. Only listed here;
`change.forget` forgets by ids."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from vector_memory.model import (
    COLLECTIONS,
    DERIVED,
    PASSAGE,
    QUIET,
    Memory,
    Priority,
    Progress,
    Retention,
)
from vector_memory.service.base import request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.edit import consolidate
from vector_memory.service.memory import agent_rights
from vector_memory.service.memory.lookup import project_names
from vector_memory.service.memory.views import memory_json

UNUSED_DAYS = 180
LOW_CONFIDENCE = 0.3
MOST_LOOKED_AT = 20_000
REASONS = ("expired", "outdated", "doubted", "unused", "duplicate")


def prune(ctx: Context, request: request_fields.Request, progress: Progress) -> dict[str, Any]:
    """Return memories that could be forgotten, each with why, those first that surely say nothing more.

    Talk as it was said is never proposed, nor what is important, protected, or the user's own rule.

    Args:
        request: the scope, `k` at most, and `unused_days` after which what was never used is.
    """
    k = request_fields.number_of(request, "k", 20, 1, 500)
    days = request_fields.number_of(request, "unused_days", UNUSED_DAYS, 1, 100_000)
    scope, place = request_fields.scope_asked(ctx, request)
    shelves = request_fields.shelves_asked(ctx, request, place)
    now = ctx.now()
    found: dict[str, tuple[str, Memory]] = {}
    for shelf in shelves:
        for memory in shelf.journal.iter_memories(scope, limit=MOST_LOOKED_AT):
            reason = _reason(memory, now, timedelta(days=days))
            if reason:
                found[memory.id] = (reason, memory)
    for group in consolidate.find_groups(ctx, request, progress):
        for twin in group.members[1:] if group.same else ():
            if _may_go(twin):
                found.setdefault(twin.id, ("duplicate", twin))
    ordered = sorted(
        found.values(), key=lambda one: (REASONS.index(one[0]), one[1].created_at, one[1].id)
    )
    names = project_names(shelves)
    return {
        "memories": [
            {**memory_json(memory, names), "why": reason} for reason, memory in ordered[:k]
        ],
        "total": len(ordered),
    }


def _reason(memory: Memory, now: datetime, unused: timedelta) -> str:
    """Return why a memory could go, "" where nothing speaks for it."""
    if not _may_go(memory):
        return ""
    if memory.expires_at is not None and memory.expires_at <= now:
        return "expired"
    if memory.valid_until is not None and memory.valid_until <= now:
        return "outdated"
    if memory.confidence < LOW_CONFIDENCE:
        return "doubted"
    last = max(filter(None, (memory.created_at, memory.stored_at, memory.last_used_at)))
    return "unused" if not memory.uses and last <= now - unused else ""


def _may_go(memory: Memory) -> bool:
    rule = COLLECTIONS.get(memory.collection)
    return not (
        memory.kind in (PASSAGE, *DERIVED)
        or memory.collection in QUIET
        or memory.priority in (Priority.CORE, Priority.HIGH)
        or (rule is not None and rule.retention is Retention.PROTECTED)
        or agent_rights.is_the_users(memory)
        or memory.is_held
    )
