"""What a review says of what waits, and of what was decided."""

from __future__ import annotations

from vector_memory.cli.answers import Row

DONE = {
    "confirmed": "Confirmed", "kept": "Kept", "dropped": "Dropped", "raised": "Raised", "edited": "Edited",
    "settled": "Settled",
}  # fmt: skip
"""What was decided, "settled" which of two holds."""
WHY = {
    "suspicious": "looks like instructions",
    "contradiction": "disagrees with an older one",
    "unanswered": "said often, and in no memory",
    "core": "used in every project: CORE?",
    "duplicate": "says nearly what an older one says",
    "decision": "decided",
    "new": "new",
}


def why(item: Row) -> str:
    """Return why an item waits: as what it is proposed, and what looks odd in it."""
    proposed = item.row("proposed")
    weights = [proposed.text(name) for name in ("kind", "priority", "collection")]
    weights.append("for all projects" if proposed.flag("global") else "")
    weight = ", ".join(filter(None, weights))
    parts = [f"proposed as {weight}"] if weight else []
    parts += item.row("suspicious").texts("reasons")
    return "; ".join(parts) or WHY.get(item.text("reason"), item.text("reason"))
