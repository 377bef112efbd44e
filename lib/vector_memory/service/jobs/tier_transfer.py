"""tier-transfer, and the one place where jobs meet the tiers: what moves memories between them is
`service/upkeep/tiers.py: transfer`, and `Journal.move_to_tiers` puts single ones into the cold tier. Where
this version has neither, jobs tell so and move nothing."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

from vector_memory.journal.job_rows import WAITS
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.jobs.step import Step, Turn
from vector_memory.system.json_in import Record

TIERS = "vector_memory.service.upkeep.tiers"
AT_ONCE = 2_000
NO_TIERS = "There are no tiers yet: nothing is moved."
Transfer = Callable[..., object]


def step(ctx: Context, turn: Turn) -> Step:
    """Move some memories; the transfer keeps its own place, and says when it has come through all."""
    transfer = _transfer()
    if transfer is None:
        return Step(message=NO_TIERS, outcome=WAITS)
    most = 2 * sum(shelf.journal.count() for shelf in ctx.all_shelves()) + 1
    limit = most if turn.dry_run else AT_ONCE
    done = Record(messages.to_json(transfer(ctx, now=turn.now, limit=limit, dry_run=turn.dry_run)))
    report = {"looked_at": done.number("looked_at"), **done.part("moved")}
    is_over = turn.dry_run or done.get("complete") is True
    return Step(report, {} if is_over else {"again": True})


def _transfer() -> Transfer | None:
    if importlib.util.find_spec(TIERS) is None:
        return None
    transfer: Transfer = importlib.import_module(TIERS).transfer
    return transfer


def has_cold(shelf: Shelf) -> bool:
    """Whether memories of a store can be put into the cold tier."""
    return hasattr(shelf.journal, "move_to_tiers")


def to_cold(ctx: Context, shelf: Shelf, ids: Sequence[str]) -> int:
    """Put memories into the cold tier, from which they come back when they are used; return how many."""
    from vector_memory import model

    journal: Any = shelf.journal
    tier: Any = getattr(model, "Tier")("cold")  # noqa: B009
    moved = journal.move_to_tiers(dict.fromkeys(ids, tier))
    ctx.notify()
    return len(moved)
