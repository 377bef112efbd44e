"""How deep a request may be nested. How many values it may hold, `json_in.load` sees to."""

from __future__ import annotations

from typing import Any

from vector_memory.errors import BadInputError

MOST_DEPTH = 32


def require_shallow(request: dict[str, object]) -> None:
    """Make sure that a request is not deep: what reads it later may go down into it by calling itself.

    Raises:
        BadInputError: it is.
    """
    level: list[Any] = [request]
    for _ in range(MOST_DEPTH):
        members = [
            member
            for holder in level
            for member in (holder.values() if isinstance(holder, dict) else holder)
        ]
        level = [member for member in members if isinstance(member, (dict, list))]
        if not level:
            return
    raise BadInputError(f"The request is nested more than {MOST_DEPTH} deep.", "Make it flat.")
