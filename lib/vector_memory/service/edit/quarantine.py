"""What hooks hold back: listed, and let go. Forgetting it is `change.forget`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from vector_memory.errors import BadInputError
from vector_memory.model import SUSPICION
from vector_memory.service.base import request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.memory.lookup import lookup, project_names
from vector_memory.service.memory.views import memory_json


def held(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Return the memories that no hook brings, newest first, each with why."""
    k = request_fields.number_of(request, "k", 100, 1, 100_000)
    scope, place = request_fields.scope_asked(ctx, request)
    shelves = request_fields.shelves_asked(ctx, request, place)
    found = [
        one for shelf in shelves for one in shelf.journal.held(scope) if one.suspicion.get("held")
    ]
    found.sort(key=lambda one: one.created_at, reverse=True)
    names = project_names(shelves)
    return {"memories": [memory_json(one, names) for one in found[:k]], "total": len(found)}


def release(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Let hooks bring memories again, without a warning: the user has read them. Whose words they are
    stays known, and so they bind nobody.

    Raises:
        BadInputError: no id is given, or one is of a memory that is not held back.
        NotFoundError: there is none of an id.
    """
    request_fields.require_user(request, "releases what is held back")
    ids = request_fields.words_of(request, "ids")
    if not ids:
        raise BadInputError("Release what?", "`vector-memory quarantine` shows ids.")
    chosen = [lookup(ctx, prefix) for prefix in ids]
    for _, memory in chosen:
        if not memory.suspicion.get("held"):
            raise BadInputError(
                f"Memory {memory.id[:12]} is not held back.",
                "`vector-memory quarantine` shows ids.",
            )
    for shelf, memory in chosen:
        told = {name: value for name, value in memory.suspicion.items() if name != "held"}
        extra = {**memory.extra, SUSPICION: {**told, "released": True}}
        shelf.journal.update(replace(memory, extra=extra, updated_at=ctx.now()))
    released = [memory.id for _, memory in chosen]
    ctx.drop_snapshots()
    ctx.notify()
    ctx.state.audit("release", "user", released, {})
    return {"released": released}
