"""How long recall, remember and each hook took, of the last thousand times, beside what they may take.

To count costs an append in memory. What is new is written when nobody waits, and at the daemon's end.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vector_memory.system.json_in import Record

if TYPE_CHECKING:
    from vector_memory.journal.state import State

KEPT = 1_000
"""Times of one kind that are kept, the last ones."""
LEAST_JUDGED = 20
"""Of fewer times nothing is said to be missed."""
WRITE_EVERY_S = 600.0
NAME = "timings"
"""The state's note of them, in tenths of a millisecond."""
_TENTHS_IN_S, _TENTHS_IN_MS = 10_000, 10
_HOOK_MS, _START_MS, _OBSERVER_MS = 250, 1_500, 2_000
TARGETS_MS = {
    "recall": 500,
    "remember": 1_000,
    "SessionStart": _START_MS,
    "UserPromptSubmit": _HOOK_MS,
    "PreToolUse": _OBSERVER_MS,
    "PostToolUse": _OBSERVER_MS,
    "PostToolUseFailure": _OBSERVER_MS,
    "PreCompact": _HOOK_MS,
    "Stop": _HOOK_MS,
    "SubagentStop": _HOOK_MS,
    "SessionEnd": _HOOK_MS,
}
"""Within what time 95 of 100 are to be answered, in milliseconds, by the verb's or the hook's name."""


@dataclass(frozen=True)
class Slo:
    """How long the last `count` of a kind took, in milliseconds, and whether that is within the target; None
    where there are too few to say."""

    count: int
    p50_ms: float
    p95_ms: float
    target_ms: int
    met: bool | None


class Timings:
    """Times that are not written yet.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._written_at = clock()
        self._new: dict[str, deque[int]] = {name: deque(maxlen=KEPT) for name in TARGETS_MS}

    def add(self, name: str, took_s: float) -> None:
        """Count one answer; what has no target is left out."""
        if name in self._new:
            self._new[name].append(round(took_s * _TENTHS_IN_S))

    def report(self, state: State) -> dict[str, Slo]:
        """Return how long each kind took that ever came, by its name."""
        return {name: _slo(name, times) for name, times in self._all_times(state).items() if times}

    def write(self, state: State, now: bool = False) -> None:
        """Write what is new, once in a while, or now."""
        is_new = any(self._new.values())
        if is_new and (now or self._clock() - self._written_at >= WRITE_EVERY_S):
            state.set_cursor(NAME, self._all_times(state))
            for times in self._new.values():
                times.clear()
            self._written_at = self._clock()

    def _all_times(self, state: State) -> dict[str, list[float]]:
        written = state.cursor(NAME) or Record()
        return {name: [*written.numbers(name), *times][-KEPT:] for name, times in self._new.items()}


def _slo(name: str, times: Sequence[float]) -> Slo:
    ordered, target = sorted(times), TARGETS_MS[name]
    p95 = _percentile(ordered, 0.95)
    met = None if len(ordered) < LEAST_JUDGED else p95 <= target
    return Slo(len(ordered), _percentile(ordered, 0.5), p95, target, met)


def _percentile(ordered: Sequence[float], share: float) -> float:
    """Return the time, in milliseconds, within which a share of them was answered."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] / _TENTHS_IN_MS
