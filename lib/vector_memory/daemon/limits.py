"""How large a request may be in what it holds, beside its bytes."""

from __future__ import annotations

from typing import Any

from vector_memory.errors import BadInputError

MOST_DEPTH = 32
MOST_FIELDS = 200_000
"""Values in a request, those within others included."""


def require_small(request: dict[str, Any]) -> None:
    """Make sure that a request is neither deep nor made of endlessly many values: what reads it later
    may go down into it by calling itself.

    Raises:
        BadInputError: it is not.
    """
    fields, level = 0, [request]
    for _ in range(MOST_DEPTH):
        below: list[Any] = []
        for one in level:
            fields += len(one)
            if fields > MOST_FIELDS:
                raise BadInputError(
                    f"The request holds more than {MOST_FIELDS:,} values.", "Split it."
                )
            held = one.values() if isinstance(one, dict) else one
            below += [value for value in held if isinstance(value, (dict, list))]
        if not below:
            return
        level = below
    raise BadInputError(f"The request is nested more than {MOST_DEPTH} deep.", "Make it flat.")
