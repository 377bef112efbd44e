"""What an agent would have bind the user waits for the user's word: stored as the agent's information and held
back, listed by `review`, and then made to count, kept as it is, or forgotten."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vector_memory.errors import BadInputError
from vector_memory.lifecycle.dedup import text_key
from vector_memory.model import PROPOSED, Memory, Origin, Scope
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory import trust_marks
from vector_memory.system.json_in import Record

MOST_WAITING = 200
"""Proposals of one store at once: more than that nobody reads."""
WAITING = "proposals"
"""The state's note of projects in which something may wait, so that a session's start need not look."""


def wanted(memory: Memory, is_global: bool = False) -> dict[str, object]:
    """Return what an agent would have a memory count as that only the user gives it, {} for nothing."""
    return {**memory.weight, **({"global": True} if is_global else {})}


def proposed(memory: Memory, asks: Mapping[str, object], **more: Any) -> Memory:
    """Return a memory as information that is held back, with what it is proposed as."""
    plain = trust_marks.as_information(memory)
    return replace(plain, extra={**plain.extra, PROPOSED: {**asks, **more, "held": True}})


def suggested(memory: Memory, asks: Mapping[str, object]) -> Memory:
    """Return a memory that stays what it is, with what it is proposed as."""
    return replace(memory, extra={**memory.extra, PROPOSED: {**asks, "held": False}})


def allowed(is_agent: bool, memory: Memory, changed: Memory) -> Memory:
    """Return a changed memory, or, where an agent gives it weight, the memory as it was, with that as a
    proposal.

    Args:
        is_agent: whether an agent changes it.
    """
    had = memory.weight
    asks = {name: value for name, value in changed.weight.items() if had.get(name) != value}
    moved = changed.collection != memory.collection
    is_binding = changed.collection in trust_marks.BINDING_COLLECTIONS
    if moved and memory.origin is not Origin.ASSISTANT and is_binding:
        # As a learning the user's words would be the user's lesson.
        asks["collection"] = changed.collection
    return suggested(memory, asks) if asks and is_agent else changed


def put(ctx: Context, shelf: Shelf, draft: Memory) -> Memory:
    """Store a proposal, once. Nothing that is there gives way to it, or is changed by it.

    Raises:
        BadInputError: too many wait already.

    Returns:
        The proposal as it is stored.
    """
    with shelf.storing:
        waiting = _of(shelf, Scope())
        key = text_key(draft.text), draft.project
        for memory in waiting:
            is_same = (text_key(memory.text), memory.project) == key
            if is_same and memory.proposed == draft.proposed:
                return memory
        if len(waiting) >= MOST_WAITING:
            raise BadInputError(
                f"{MOST_WAITING} proposals wait for the user already.",
                "Ask the user to look at them: `vector-memory review`.",
            )
        memory = shelf.journal.add([draft])[0]
    note(ctx, memory.project)
    ctx.notify()
    return memory


def note(ctx: Context, project: str) -> None:
    """Note that something waits in a project."""
    noted = (ctx.state.cursor(WAITING) or Record()).words("projects")
    if project not in noted:
        ctx.state.set_cursor(WAITING, {"projects": [*noted, project]})


def waiting(ctx: Context, shelves: list[Shelf], projects: tuple[str, ...]) -> int:
    """Return how many proposals wait for the user in some projects."""
    noted = (ctx.state.cursor(WAITING) or Record()).words("projects")
    if not set(noted) & set(projects):
        return 0
    count = sum(len(_of(shelf, Scope(projects=projects))) for shelf in shelves)
    if not count:
        ctx.state.set_cursor(WAITING, {"projects": [id for id in noted if id not in projects]})
    return count


def _of(shelf: Shelf, scope: Scope) -> list[Memory]:
    return [memory for memory in shelf.journal.held(scope) if memory.proposed]
