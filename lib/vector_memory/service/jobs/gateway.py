"""memory-gateway: whether the gateway is well. This version has none, and says so."""

from __future__ import annotations

from vector_memory.journal.job_rows import WAITS
from vector_memory.service.base.context import Context
from vector_memory.service.jobs.step import Step, Turn


def step(ctx: Context, turn: Turn) -> Step:
    """Tell how the gateway is."""
    return Step(
        {"running": False}, message="No gateway runs: this version has none.", outcome=WAITS
    )
