"""Whether something is said otherwise in memory: a text that is about to be relied on, or a memory."""

from __future__ import annotations

from typing import Any

from vector_memory import redact
from vector_memory.model import Memory, Origin, Relation
from vector_memory.service.base import request_fields
from vector_memory.service.base.context import Context, new_id
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory import placement
from vector_memory.service.memory.lookup import is_open, lookup, project_names
from vector_memory.service.memory.neighbours import neighbours
from vector_memory.service.memory.views import memory_json

MAX_CHARS = 20_000


def check(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Return the memories that speak against a text or a memory, and those that say the same. Nothing is
    stored.

    Raises:
        NotFoundError: no memory's id begins so.
        BadInputError: there is neither a text nor an id.
        UnsafeTextError: the redactor could not handle the text.
    """
    ctx.embedding.wait(3.0)
    if request.get("id"):
        shelf, memory = lookup(ctx, request_fields.text_of(request, "id", 64))
        pairs = [(shelf, memory)]
    else:
        text = redact.clean(request_fields.text_of(request, "text", MAX_CHARS)).text
        place = request_fields.place_of(ctx, request)
        project = place.id if place else ""
        draft = Memory(
            new_id(), text, ctx.now(), project=project, origin=Origin.ASSISTANT, confidence=0.7
        )
        pairs = [(shelf, draft) for shelf in ctx.shelves_of(place)[:1]]
    found = [told for shelf, memory in pairs for told in _against(ctx, shelf, memory)]
    return {
        "contradictions": [one for one in found if one["relation"] == "contradicts"],
        "agreements": [one for one in found if one["relation"] == "same"],
    }


def _against(ctx: Context, shelf: Shelf, memory: Memory) -> list[dict[str, Any]]:
    names = project_names([shelf])
    vector = placement.vector_of(ctx, memory)
    told: dict[str, dict[str, Any]] = {}
    for near in neighbours(ctx, shelf, memory, vector):
        if not is_open(near.memory):
            continue
        relation, reason = _relation(memory, near)
        if relation:
            told[near.memory.id] = {
                **memory_json(near.memory, names),
                "relation": relation,
                "reason": reason,
            }
    for other in _linked(shelf, memory):
        if is_open(other):
            shown = {**memory_json(other, names), "relation": "contradicts", "reason": "linked"}
            told.setdefault(other.id, shown)
    return list(told.values())


def _relation(memory: Memory, near: Any) -> tuple[str, str]:
    if placement.says_same(memory, near):
        return "same", ""
    tie = placement.tie_of(memory, near)
    if tie is None or tie.relation not in (Relation.CONTRADICTS, Relation.SUPERSEDES):
        return "", ""
    return "contradicts", tie.reason


def _linked(shelf: Shelf, memory: Memory) -> list[Memory]:
    ids = [
        one.from_id if one.to_id == memory.id else one.to_id
        for one in shelf.journal.links_of([memory.id])
        if one.relation is Relation.CONTRADICTS
    ]
    return list(shelf.journal.by_ids(ids).values())
