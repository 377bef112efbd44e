"""The conditions under which procedures come, by the ids of their memories: kept in memory, and level with the
stores. Nothing heavy is imported: a daemon's start looks whether hooks of tool calls have to ask."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from vector_memory.model import PROCEDURE, TRIGGERS, Memory, Origin, Status
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf

COLLECTION = "procedures"
FILE, COMMAND, ERROR, TERM = CONDITIONS = ("file", "command", "error", "term")
AT_TOOLS = (FILE, COMMAND)
"""Conditions for which hooks have to ask about tool calls."""
MOST_AT_ONCE = 20_000
"""Changed rows that are looked through while a hook waits: some milliseconds."""


@dataclass
class StoreConditions:
    """The conditions of one store's memories, by their ids, up to a sequence number."""

    reached: int = 0
    conditions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def asks_at_tools(self) -> bool:
        return any(
            trigger.partition(":")[0] in AT_TOOLS
            for triggers in self.conditions.values()
            for trigger in triggers
        )


def asks_at_tools(ctx: Context) -> bool:
    """Whether some procedure waits for a file or a command; kept in mind for those who ask at each call."""
    stores = [conditions_in(ctx, shelf, may_wait=True) for shelf in ctx.opened_shelves()]
    ctx.has_tool_procedures = any(store.asks_at_tools for store in stores)
    return ctx.has_tool_procedures


def conditions_in(ctx: Context, shelf: Shelf, may_wait: bool = False) -> StoreConditions:
    """Return the conditions in a store. Only rows that have changed since the last call are read; where these are
    many, later, when nobody waits."""
    store = ctx.running.session("triggers", shelf.journal.store_id, StoreConditions)
    reached = shelf.journal.given_seq()
    if reached == store.reached:
        return store
    if reached - store.reached > MOST_AT_ONCE and not may_wait:
        ctx.later(lambda: conditions_in(ctx, shelf, may_wait=True))
        return store
    with store.lock:
        had_tool_conditions = store.asks_at_tools
        if reached < store.reached:
            # A backup was restored: its numbers are others.
            store.reached, store.conditions = 0, {}
        if reached != store.reached:
            new = (id for id, *_ in shelf.journal.with_extra(TRIGGERS, store.reached))
            changed = shelf.journal.by_ids([*store.conditions, *new], store.reached)
            # What waits for the user's word costs no call of a tool anything: an agent may store as much of it as it likes.
            store.conditions = {
                **{id: kept for id, kept in store.conditions.items() if id not in changed},
                **{
                    id: tuple(map(str, memory.extra[TRIGGERS]))
                    for id, memory in changed.items()
                    if waits_for_condition(memory)
                },
            }
            store.reached = reached
        if store.asks_at_tools != had_tool_conditions:
            ctx.has_tool_procedures = True
            ctx.later(ctx.publish)
    return store


def waits_for_condition(memory: Memory) -> bool:
    """Whether a memory comes when its condition holds: it has one, and is somebody's word who may say how something is
    done."""
    triggers = memory.extra.get(TRIGGERS)
    is_procedure = memory.kind == PROCEDURE or memory.collection == COLLECTION
    return (
        memory.status is Status.ACTIVE
        and isinstance(triggers, list)
        and bool(triggers)
        and not memory.is_held
        and memory.trust > 0
        and (is_procedure or memory.origin is Origin.USER)
    )
