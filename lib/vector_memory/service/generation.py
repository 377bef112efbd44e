"""What a language model adds to a recall that is asked for, where the user switched it on. It never
takes part in what prompts get by themselves, and what fails or is used up leaves recall as it is."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from vector_memory.errors import BadInputError, GenerationError
from vector_memory.generate import registry
from vector_memory.model import Generator
from vector_memory.retrieve import hyde, rerank
from vector_memory.retrieve.query import Query
from vector_memory.retrieve.search import Hit
from vector_memory.service.context import Context

if TYPE_CHECKING:
    from vector_memory.model import Vector

log = logging.getLogger(__name__)
_lock = threading.Lock()


def widening(ctx: Context) -> Callable[[Query], Vector | None]:
    """Return what makes a query's vector lean towards a hypothetical answer; without one it is the
    question's own."""

    def embed(query: Query) -> Vector | None:
        vector = ctx.embedding.query(query.embedded)
        if vector is None:
            return None
        note = hyde.hypothetical(written(ctx, hyde.prompt_for(query.text), hyde.MAX_TOKENS))
        other = ctx.embedding.query(note) if note else None
        return vector if other is None else hyde.combined(vector, other)

    return embed


def reordered(ctx: Context, question: str, hits: Sequence[Hit]) -> list[Hit]:
    """Return hits in the order that a model gives the first of them, or as they were."""
    if len(hits) < 2:
        return list(hits)
    first = list(hits[: rerank.MOST])
    prompt = rerank.prompt_for(question, [hit.memory.text for hit in first])
    answer = written(ctx, prompt, rerank.MAX_TOKENS)
    return [first[place] for place in rerank.order(answer, len(first))] + list(hits[rerank.MOST :])


def written(ctx: Context, prompt: str, max_tokens: int) -> str:
    """Return what the model writes; "" where it is off, fails, or was asked often enough today.

    The cap holds across restarts: every call is counted before it is made, and written at once.
    """
    if not ctx.settings.generation_backend or not _allowed(ctx):
        return ""
    try:
        generator: Generator = registry.create(ctx.settings)
        return generator.complete(prompt, max_tokens, ctx.settings.generation_timeout_s)
    except (GenerationError, BadInputError) as error:
        log.warning("recall goes on without a model: %s", error)
        ctx.count("generation_failures")
        return ""


def _allowed(ctx: Context) -> bool:
    name = f"generation_calls_{ctx.local_now():%Y-%m-%d}"
    with _lock:
        if ctx.state.counters().get(name, 0) >= ctx.settings.generation_daily_calls:
            ctx.count("generation_refused")
            return False
        ctx.count(name)
        ctx.state.flush()
        return True
