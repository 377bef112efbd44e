"""Which memories the asker may be given. It is set once, where a request comes in, and kept to wherever a memory is
looked up by its id or reached from another one, whatever the verb."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from contextvars import ContextVar

from vector_memory.errors import BadInputError
from vector_memory.model import Memory, Scope, Sensitivity
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context

EVERYTHING = Scope()
_reach: ContextVar[Scope] = ContextVar("reach", default=EVERYTHING)


def of_request(ctx: Context, request: messages.Request) -> Scope:
    """Return what a request may be answered of: up to its own ceiling, under its own laws, in its own project where
    it is limited to that; to an agent nothing that is restricted, and nothing above the ceiling of a contract.

    Raises:
        BadInputError: its project is no folder's path.
    """
    place = messages.place_of(ctx, request) if request.is_agent or request.only_project else None
    projects = (place.id,) if place and request.only_project else None
    return messages.limited(ctx, request, place, Scope(projects))


@contextlib.contextmanager
def within(scope: Scope) -> Iterator[None]:
    """Limit what is looked up in this block to a scope.

    Returns:
        A block for `with`.
    """
    token = _reach.set(scope)
    try:
        yield
    finally:
        _reach.reset(token)


def holds(memory: Memory) -> bool:
    """Whether who asks may be given a memory."""
    return _reach.get().holds(memory)


def everything() -> Scope:
    """Return all that who asks may be given."""
    return _reach.get()


def levels_withheld() -> tuple[Sensitivity, ...]:
    """Return the levels of which who asks may be given nothing."""
    levels = _reach.get().levels
    return tuple(level for level in Sensitivity if levels and level not in levels)


def visible(memories: Iterable[Memory]) -> list[Memory]:
    """Return those of some memories that who asks may be given."""
    return [memory for memory in memories if holds(memory)]


def require_all(memories: Iterable[Memory]) -> None:
    """Make sure that who asks may be given all of some memories, before they are shown or go.

    Raises:
        BadInputError: one may not.
    """
    if not all(map(holds, memories)):
        raise BadInputError("With it would go what you may not be given.", "Ask the user.")
