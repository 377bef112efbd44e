"""`evolution`: what was so and is no more, and what speaks against each other still."""

from __future__ import annotations

from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.memory.history import history_of


class EvolutionRequest(messages.Filter):
    """The `k` chains of memories that gave way one to another whose last step was latest."""

    k: int = messages.number(50, 1, 500)


def evolution(ctx: Context, request: EvolutionRequest) -> dict[str, object]:
    """Return what gave way to what: `chains`, the one with the latest step first, each with its `project`, its `kind`,
    its memories, the oldest first (`stages`), and the same as a sentence (`summary`). A chain of which nothing but one
    memory is left is none."""
    asker = messages.asker_of(ctx, request)
    names = asker.names
    chains: list[dict[str, object]] = []
    seen: set[str] = set()
    old = [
        (shelf, memory)
        for shelf in asker.shelves
        for memory in shelf.journal.gave_way(asker.scope, request.k)
        if not (request.is_agent and memory.is_held)
    ]
    old.sort(key=lambda one: one[1].valid_until or one[1].created_at, reverse=True)
    for shelf, memory in old[: request.k]:
        if memory.id in seen:
            continue
        told = history_of(shelf, memory)
        seen |= {stage.id for stage in told.chain}
        if len(told.chain) > 1:
            head = {"project": names[memory.project], "kind": memory.kind}
            chains.append({**head, "stages": told.chain, "summary": told.summary})
    return {"chains": chains}
