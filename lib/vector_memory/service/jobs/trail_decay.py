"""stigmergy-decay: trails that have evaporated go. A project in which work goes on draws its trails anew by
itself; this is for those in which nothing happens any more."""

from __future__ import annotations

from datetime import datetime, timezone
from functools import partial

from vector_memory.model import TRAILS, Memory, Scope
from vector_memory.observe.learning import trails
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.jobs import expiry, paging
from vector_memory.service.jobs.step import Step, Turn


def step(ctx: Context, turn: Turn) -> Step:
    """Drop the next trails below the strength from which on one is told."""

    def evaporated(shelf: Shelf, k: int) -> list[str]:
        found = shelf.journal.iter_memories(Scope(collections=(TRAILS,)))
        return [memory.id for memory in found if _is_gone(memory, turn.now)][:k]

    rule = paging.Rule("evaporated", "evaporate", evaporated, partial(expiry.remove, ctx))
    return paging.swept(ctx, turn, (rule,))


def _is_gone(memory: Memory, now: datetime) -> bool:
    """Whether a trail has evaporated; a record that cannot be read is left to who draws trails."""
    strength, at = memory.extra.get("strength"), memory.extra.get("at")
    if not isinstance(strength, (int, float)) or not isinstance(at, str):
        return False
    try:
        drawn = datetime.fromisoformat(at).astimezone(timezone.utc)
    except ValueError:
        return False
    return trails.evaporated(strength, drawn, now) < trails.FLOOR
