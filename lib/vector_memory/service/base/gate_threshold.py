"""The gate's threshold, as it has moved by what this user uses."""

from __future__ import annotations

from vector_memory.journal.use_labels import KEPT_FOR, UseCount
from vector_memory.service.base.context import Context

BOUND = 0.1
"""How far it moves at most, either way."""
LEAST_SHOWN = 30
"""Nothing moves before so many notes were shown."""
USUAL = 0.22
"""The share of the notes that sessions use at which the threshold stays where it is: that of the real sessions of
`benchmarks/relevance.py`."""
PRIOR_SHOWN = 60
"""As many notes, used as usual, are added to those that were shown: a few change little."""


def least_worth(ctx: Context) -> float:
    """Return from what worth on the gate lets a note pass, 0 … 1."""
    if not ctx.settings.adapt_threshold:
        return ctx.settings.threshold
    if ctx.gate_move is None:
        ctx.gate_move = move(ctx.state.gate_uses(ctx.now() - KEPT_FOR))
    return min(1.0, max(0.0, ctx.settings.threshold + ctx.gate_move))


def reconsider(ctx: Context) -> None:
    """Have the move worked out anew: more is known of what was used."""
    ctx.gate_move = None


def move(uses: UseCount) -> float:
    """Return by how much the threshold moves, -`BOUND` … `BOUND`: up where less is used than usual, down
    where more is, in proportion to how much."""
    if uses.shown < LEAST_SHOWN:
        return 0.0
    share = (uses.used + USUAL * PRIOR_SHOWN) / (uses.shown + PRIOR_SHOWN)
    return round(max(-BOUND, min(BOUND, BOUND * (1.0 - share / USUAL))), 3)
