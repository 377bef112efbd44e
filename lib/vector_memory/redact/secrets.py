"""All scanners for secrets, in the order in which they must run."""

from __future__ import annotations

from vector_memory.redact.blocks import redact_keys, redact_private
from vector_memory.redact.pairs import redact_pairs
from vector_memory.redact.places import redact_places
from vector_memory.redact.shapes import redact_shapes

# What the user marked comes first, blocks before the lines in them, names before bare shapes
# would hide what they name.
_SCANNERS = (redact_private, redact_keys, redact_shapes, redact_places, redact_pairs)


def redact_secrets(text: str) -> tuple[str, int]:
    """Run every scanner once over normalised text; return the text and how many it replaced."""
    total = 0
    for scan in _SCANNERS:
        text, count = scan(text)
        total += count
    return text, total
