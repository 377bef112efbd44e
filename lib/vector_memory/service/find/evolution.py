"""`evolution`: chains of memories that gave way one to another."""

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
    """Return what gave way to what. A chain of which only one memory is left does not count."""
    asker = messages.asker_of(ctx, request)
    names = asker.names
    chains: list[ChainView] = []
    visited_ids: set[str] = set()
    superseded = [
        (shelf, memory)
        for shelf in asker.shelves
        for memory in shelf.journal.last_replaced(asker.scope, request.k)
        if not (request.is_agent and memory.is_held)
    ]
    superseded.sort(key=lambda pair: pair[1].valid_until or pair[1].created_at, reverse=True)
    for shelf, memory in superseded[: request.k]:
        if memory.id in visited_ids:
            continue
        chain = history_of(shelf, memory)
        visited_ids |= {stage.id for stage in chain.chain}
        if len(chain.chain) > 1:
            project = names[memory.project]
            chains.append(ChainView(project, memory.kind, chain.chain, chain.summary))
    return EvolutionAnswer(chains)
