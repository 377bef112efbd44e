"""How large a request may be in what it holds, beside its bytes."""

from __future__ import annotations

from typing import Any

from vector_memory.errors import BadInputError

MOST_DEPTH = 32
MOST_FIELDS = 200_000
"""Values in a request, those within others included."""


def require_small(request: dict[str, object]) -> None:
    """Make sure that a request is neither deep nor made of endlessly many values: what reads it later
    may go down into it by calling itself.

    Raises:
        BadInputError: it is not.
    """
    fields = 0
    level: list[Any] = [request]
    for _ in range(MOST_DEPTH):
        below: list[Any] = []
        for holder in level:
            fields += len(holder)
            if fields > MOST_FIELDS:
                raise BadInputError(
                    f"The request holds more than {MOST_FIELDS:,} values.", "Split it."
                )
            values = holder.values() if isinstance(holder, dict) else holder
            below += [value for value in values if isinstance(value, (dict, list))]
        if not below:
            return
        level = below
    raise BadInputError(f"The request is nested more than {MOST_DEPTH} deep.", "Make it flat.")
