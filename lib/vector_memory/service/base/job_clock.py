"""What the daemon knows of its jobs between two looks at the state: while none is due, a comparison of times
tells so."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import datetime


@dataclass
class JobClock:
    """When the next job is due.

    Attributes:
        looked_at: when the state was looked at last, None for at once again.
        next_at: when the next job was due then, None for none.
        begun: jobs whose run this process began or took up.
        told: what the last runs of this process reported, words of memories among it, which the state does not
            hold: by job.
        lock: held by who runs one: one at a time.
    """

    looked_at: datetime | None = None
    next_at: datetime | None = None
    begun: set[str] = field(default_factory=set)
    told: dict[str, dict[str, object]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
