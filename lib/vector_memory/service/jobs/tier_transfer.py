"""tier-transfer, and the one place where jobs meet the tiers: what moves memories between them is
`service/upkeep/tiers.py: transfer`, and `Journal.move_to_tiers` puts single ones into the cold tier. Where
this version has neither, jobs tell so and move nothing."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vector_memory.journal.job_rows import OK, WAITS
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.jobs.step import Step, Turn

TIERS = "vector_memory.service.upkeep.tiers"
AT_ONCE = 500
NO_TIERS = "There are no tiers yet: nothing is moved."
Transfer = Callable[..., object]


def step(ctx: Context, turn: Turn) -> Step:
    """Move the next memories, as long as any are moved."""
    transfer = _transfer()
    if transfer is None:
        return Step(message=NO_TIERS, outcome=WAITS)
    report: Mapping[str, object] = messages.to_json(
        transfer(ctx, now=turn.now, limit=AT_ONCE, dry_run=turn.dry_run)
    )
    again = report.get("moved") and not turn.dry_run
    return Step(report, {"again": True} if again else {}, outcome=OK)


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
