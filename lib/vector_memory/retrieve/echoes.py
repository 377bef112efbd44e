"""Topics and summaries say again what passages say: they give way where a part of them was found."""

from __future__ import annotations

from collections.abc import Sequence

from vector_memory.model import DERIVED, Memory
from vector_memory.retrieve.search import Hit


def without_echoes(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits without topics and summaries of which a part was found too: a prompt has no room for
    the same thing twice, and the passage says it verbatim."""
    said = {
        (hit.memory.source.session, hit.memory.source.turn)
        for hit in hits
        if hit.memory.kind not in DERIVED
    }
    return [hit for hit in hits if not _repeats(hit.memory, said)]


def _repeats(memory: Memory, said: set[tuple[str, int]]) -> bool:
    if memory.kind not in DERIVED:
        return False
    first, last = memory.extra.get("turns") or (memory.source.turn, memory.source.turn)
    return any(session == memory.source.session and first <= turn <= last for session, turn in said)
