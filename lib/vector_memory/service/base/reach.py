"""What of all memories the one who asks may be given. It is said once, where a request comes in, and kept to wherever a
memory is looked up by its id or reached from another one, whatever the verb."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass

from vector_memory.model import DERIVED, Memory, Scope, Sensitivity, levels_up_to
from vector_memory.service.base import messages
from vector_memory.service.base.asker import levels_for_agents
from vector_memory.service.base.context import Context


@dataclass(frozen=True)
class Reach:
    """What may be given.

    Attributes:
        with_derived: what was made of whole sessions, too. It may hold words of what is above a ceiling.
    """

    scope: Scope = Scope()
    with_derived: bool = True

    def holds(self, memory: Memory) -> bool:
        """Whether a memory may be given."""
        return self.scope.holds(memory) and (self.with_derived or memory.kind not in DERIVED)


EVERYTHING = Reach()
_reach: ContextVar[Reach] = ContextVar("reach", default=EVERYTHING)


def of_request(ctx: Context, request: messages.Request) -> Reach:
    """Return what a request may be answered of: up to its own ceiling, under its own laws, in its own project where
    it is limited to that; to an agent nothing that is restricted, and nothing above the ceiling of a contract.

    Raises:
        BadInputError: its project is no folder's path.
    """
    is_limited = request.is_agent or request.only_project
    place = messages.place_of(ctx, request) if is_limited else None
    levels = levels_up_to(request.ceiling)
    if request.is_agent:
        folder = place.root if place else str(request.cwd or "")
        agreed = levels_for_agents(ctx, folder)[-1:]
        levels = levels_up_to(request.ceiling, Sensitivity.CONFIDENTIAL, *agreed)
    projects = (place.id,) if place and request.only_project else None
    scope = Scope(projects, levels=levels, laws=request.jurisdictions)
    return Reach(scope, not (request.ceiling or request.jurisdictions))


@contextlib.contextmanager
def within(reach: Reach) -> Iterator[None]:
    """Let what is looked up in this block be within a reach."""
    before = _reach.set(reach)
    try:
        yield
    finally:
        _reach.reset(before)


def holds(memory: Memory) -> bool:
    """Whether who asks may be given a memory."""
    return _reach.get().holds(memory)


def kept(memories: Iterable[Memory]) -> list[Memory]:
    """Return those of some memories that who asks may be given."""
    return [one for one in memories if holds(one)]
