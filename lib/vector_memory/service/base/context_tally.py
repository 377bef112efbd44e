"""How many tokens a session was given unasked, by compartment, and the one cap over all of them."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING

from vector_memory.service.base.shown_notes import FAILURE, PROMPT, START

if TYPE_CHECKING:
    from vector_memory.service.base.context import Context

SEARCH, GUIDANCE = "search", "guidance"
PARTS = (START, PROMPT, SEARCH, FAILURE, GUIDANCE)


class Counted:
    """Tokens of a block that is about to be shown, and the compartment they count for: `GUIDANCE` for any that
    is none of `PARTS`."""

    __slots__ = ("part", "tokens")

    def __init__(self, part: str, tokens: int) -> None:
        self.part = part if part in PARTS else GUIDANCE
        self.tokens = tokens


class Tally:
    """What one session was given since the daemon runs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: Counter[str] = Counter()

    def take(self, counted: Counted, most: int) -> bool:
        """Count a block; return whether it may be shown.

        Args:
            most: tokens at most in all, 0 for any number.
        """
        with self._lock:
            if most and sum(self._taken.values()) + counted.tokens > most:
                return False
            self._taken[counted.part] += counted.tokens
            return True

    def taken(self) -> dict[str, int]:
        """Return the tokens of each compartment."""
        with self._lock:
            return dict(self._taken)


def tally(ctx: Context, session: str) -> Tally:
    """Return a session's tally."""
    return ctx.running.of("tally", session, Tally)


def take(ctx: Context, session: str, counted: Counted) -> bool:
    """Count a block that is about to be shown; return whether the session may still be given it."""
    if tally(ctx, session).take(counted, ctx.settings.session_tokens):
        return True
    ctx.count("context_capped")
    return False
