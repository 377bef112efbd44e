"""Kinds, tags and priorities for memories that have none, by rules; shown first, then put on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from vector_memory.index import entities
from vector_memory.index.topics import summaries
from vector_memory.model import DERIVED, PASSAGE, QUIET, Memory, Priority, unique
from vector_memory.service.base import request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory import agent_rights, trust_marks
from vector_memory.service.memory.lookup import lookup, project_names
from vector_memory.service.memory.views import memory_json
from vector_memory.text import priorities
from vector_memory.text.harmless import without_marked

MOST_LOOKED_AT = 2_000
MOST_TAGS = 3
PLAIN = "note"
TAGGED = ("technology", "project")


def organize(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Return what could be said of memories: of the newest without it, or of those of `ids`, which get it
    where `apply` is set.

    Raises:
        NotFoundError: no memory's id begins so.
    """
    k = request_fields.number_of(request, "k", 20, 1, 200)
    ids = request_fields.words_of(request, "ids")
    chosen = [lookup(ctx, one) for one in ids] if ids else _plain(ctx, request, k)
    told: list[dict[str, Any]] = []
    for shelf, memory in chosen:
        suggested = _suggested(memory)
        if not suggested:
            continue
        applied = bool(request.get("apply")) and bool(ids)
        if applied:
            memory = _apply(ctx, request, shelf, memory, suggested)
        told.append({**memory_json(memory, project_names([shelf])), "suggested": suggested})
    if request.get("apply") and ids and told:
        changed = [str(one["id"]) for one in told]
        ctx.drop_snapshots()
        ctx.notify()
        ctx.state.audit("edit", request_fields.actor_of(request), changed, {"by": "rules"})
    return {"memories": told, "applied": len(told) if request.get("apply") and ids else 0}


def _plain(ctx: Context, request: request_fields.Request, k: int) -> list[tuple[Shelf, Memory]]:
    scope, place = request_fields.scope_asked(ctx, request)
    found = [
        (shelf, one)
        for shelf in request_fields.shelves_asked(ctx, request, place)
        for one in shelf.journal.iter_memories(scope, newest_first=True, limit=MOST_LOOKED_AT)
        if one.kind not in (PASSAGE, *DERIVED)
        and one.collection not in QUIET
        and not one.is_held
        and not agent_rights.is_the_users(one)
        and _suggested(one)
    ]
    return found[:k]


def _suggested(memory: Memory) -> dict[str, Any]:
    """Return `kind`, `tags` and `priority` that a memory could have and has not."""
    if agent_rights.is_the_users(memory):
        return {}
    found: dict[str, Any] = {}
    said = without_marked(memory.text)
    kind = summaries.intent_of(said)
    if memory.kind == PLAIN and kind:
        found["kind"] = kind
    named = [one.partition(":") for one in entities.entities(memory.text, memory.files)]
    tags = [name for sort, _, name in named if sort in TAGGED][:MOST_TAGS]
    if not memory.tags and tags:
        found["tags"] = tags
    priority = priorities.suggest(said, without_marked(memory.title))
    # Nobody's words become a core rule because they sound like one.
    if memory.priority is Priority.NORMAL and priority is not Priority.NORMAL and memory.trust:
        found["priority"] = Priority.HIGH.value
    return found


def _apply(
    ctx: Context,
    request: request_fields.Request,
    shelf: Shelf,
    memory: Memory,
    suggested: dict[str, Any],
) -> Memory:
    changed = replace(
        memory,
        kind=suggested.get("kind", memory.kind),
        tags=unique((*memory.tags, *suggested.get("tags", ()))),
        priority=Priority(suggested.get("priority", memory.priority)),
        updated_at=ctx.now(),
    )
    if request_fields.is_agent(request) and changed.weight != memory.weight:
        # Weight is the user's to give; the rest of what the rules suggest stands.
        changed = replace(changed, kind=memory.kind, priority=memory.priority)
    if memory.is_foreign or memory.is_suspicious:
        changed = trust_marks.as_information(changed)
    return shelf.journal.update(changed)
