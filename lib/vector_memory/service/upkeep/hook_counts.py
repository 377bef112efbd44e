"""What hooks counted that no daemon answered: words in a small file, a line each."""

from __future__ import annotations

import os
from collections import Counter

from vector_memory.service.base.context import Context

FILE = "counts"
NAMES = (
    "hooks_late",
    "hooks_failed",
    "hooks_without_daemon",
    "prompts_from_files",
    "starts_from_snapshot",
)
"""What may be counted so; `client.hook` and `client.fallback` write them."""


def drain(ctx: Context) -> None:
    """Add what hooks counted to the counters. A hook that has the file open just then is not counted."""
    path = os.path.join(ctx.home.run, FILE)
    taken = f"{path}.taken"
    if not os.path.exists(taken):
        # One that is there was left by a daemon that ended at this very point.
        try:
            os.rename(path, taken)
        except OSError:
            return
    try:
        with open(taken, encoding="ascii", errors="replace") as file:
            counts = Counter(line.strip() for line in file)
        os.unlink(taken)
    except OSError:
        return
    for name in NAMES:
        ctx.count(name, counts[name])
