"""`evolution`: what was so and is no more, and what speaks against each other still."""

from __future__ import annotations

from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.memory.history import history_of
from vector_memory.service.memory.views import StageView


class EvolutionRequest(messages.Filter):
    """The `k` chains of memories that gave way one to another whose last step was latest."""

    k: int = messages.number(50, 1, 500)


class ChainView(messages.Answer):
    """Memories that gave way one to another, the oldest first, and the same as a sentence."""

    project: str
    kind: str
    stages: list[StageView]
    summary: str


class EvolutionAnswer(messages.Answer):
    """Chains, the one with the latest step first."""

    chains: list[ChainView]


def evolution(ctx: Context, request: EvolutionRequest) -> EvolutionAnswer:
    """Return what gave way to what. A chain of which nothing but one memory is left is none."""
    asker = messages.asker_of(ctx, request)
    names = asker.names
    chains: list[ChainView] = []
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
            project = names[memory.project]
            chains.append(ChainView(project, memory.kind, told.chain, told.summary))
    return EvolutionAnswer(chains)
