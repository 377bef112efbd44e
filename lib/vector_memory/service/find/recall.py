"""Recall that is asked for: `recall`, `list`, `get`."""

from __future__ import annotations

from typing import Any

from vector_memory.model import DERIVED, Memory
from vector_memory.retrieve import rerank
from vector_memory.retrieve.echoes import without_echoes
from vector_memory.retrieve.topics import topics
from vector_memory.service.base import model_help, request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory.history import history_of
from vector_memory.service.memory.lookup import (
    find,
    hit_json,
    is_open,
    lookup,
    memory_json,
    project_names,
    surroundings,
    touch,
)
from vector_memory.service.memory.passages import in_context
from vector_memory.text.harmless import with_old_marked

MAX_K = 1_000
MAX_AROUND = 10
MODEL_WAIT_S = 3.0
MOST_ECHOES = 8
"""How many topics and summaries may stand before a hit whose part they are."""


def recall(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Answer a question with hits, best first.

    Waits for a model that is still loading: whoever asks on purpose wants the whole answer.
    """
    text = request_fields.text_of(request, "query")
    k = request_fields.number_of(request, "k", 10, 1, MAX_K)
    around = request_fields.number_of(request, "context", 0, 0, MAX_AROUND)
    scope, place = request_fields.scope_asked(ctx, request)
    shelves = request_fields.shelves_asked(ctx, request, place)
    ctx.embedding.wait(MODEL_WAIT_S)
    wanted = max(k, rerank.MOST) if ctx.settings.rerank else k
    allowed = is_open if request_fields.is_agent(request) else None
    hits = find(ctx, text, scope, shelves, wanted + MOST_ECHOES, place, True, allowed)
    hits = (hits if set(scope.kinds) & set(DERIVED) else without_echoes(hits))[:wanted]
    if ctx.settings.rerank:
        hits = model_help.reordered(ctx, text, hits)[:k]
    touch(ctx, shelves, hits)
    ctx.audit("recall", request_fields.actor_of(request), [hit.memory.id for hit in hits])
    if request.get("for_session"):
        # It stands in the session from now on: no hook says it again.
        given = [hit.memory.id for hit in hits]
        ctx.state.add_shown(str(request["for_session"]), given, ctx.now())
    names = project_names(shelves)
    answer: dict[str, Any] = {
        "hits": [hit_json(hit, names) for hit in hits],
        "mode": "full" if all(_by_meaning(shelf) for shelf in shelves) else "lexical",
    }
    for hit, shown in zip(hits, answer["hits"], strict=True):
        shelf = shelves[hit.shelf]
        shown["text"] = with_old_marked(in_context(shelf, hit.memory))
        if around:
            shown |= surroundings(shelf, hit.memory, around)
        if request.get("history") and (told := history_of(shelf, hit.memory))["summary"]:
            shown["history"] = told
    if request.get("by_topic"):
        answer["topics"] = [
            {"topic": topic.name, "ids": [hits[place].memory.id for place in topic.places]}
            for topic in topics(hits)
        ]
    return answer


def _by_meaning(shelf: Shelf) -> bool:
    """Whether a store answers by meaning too, and not by words alone."""
    return shelf.index is not None and shelf.index.vectors_ready


def list_memories(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Return memories newest first, with how many there are in all."""
    k = request_fields.number_of(request, "k", 20, 1, 100_000)
    offset = request_fields.number_of(request, "offset", 0, 0, 100_000_000)
    scope, place = request_fields.scope_asked(ctx, request)
    scope = request_fields.listed(scope)
    shelves = request_fields.shelves_asked(ctx, request, place)
    newest: list[Memory] = []
    for shelf in shelves:
        newest.extend(shelf.journal.iter_memories(scope, newest_first=True, limit=offset + k))
    newest.sort(key=lambda memory: memory.created_at, reverse=True)
    names = project_names(shelves)
    left_out = ctx.unopened(place) if place or request.get("all_projects") else {}
    return {
        "memories": [memory_json(memory, names) for memory in newest[offset : offset + k]],
        "total": sum(shelf.journal.count(scope) for shelf in shelves),
        "unopened": {at: str(error) for at, error in left_out.items()},
    }


def get(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Return one memory by its id or the beginning of it."""
    shelf, memory = lookup(ctx, request_fields.text_of(request, "id", 64))
    return {"memory": memory_json(memory, project_names([shelf]))}


def entities(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Return what memories are about by name, the commonest first."""
    k = request_fields.number_of(request, "k", 50, 1, 10_000)
    scope, place = request_fields.scope_asked(ctx, request)
    counts: dict[str, int] = {}
    for shelf in request_fields.shelves_asked(ctx, request, place):
        for name, n in shelf.journal.count_entities(scope, k).items():
            counts[name] = counts.get(name, 0) + n
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:k]
    return {
        "entities": [
            {"kind": kind, "name": name, "memories": n}
            for (kind, _, name), n in ((entity.partition(":"), n) for entity, n in ordered)
        ]
    }


def history(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Return the chain of memories that gave way to one another, oldest first, by one of them."""
    return history_of(*lookup(ctx, request_fields.text_of(request, "id", 64)))
