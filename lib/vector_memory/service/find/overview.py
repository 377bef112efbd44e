"""A project at a glance: what matters there, what is open, what was decided last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vector_memory.errors import NotFoundError
from vector_memory.model import DECISION, GLOBAL_PROJECT, Memory, Priority, Scope
from vector_memory.service.base import request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory.lookup import is_open, name_in, project_names
from vector_memory.service.memory.views import memory_json

CURRENT = "current"
MOST_IMPORTANT = 500


def important(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Return the memories of a priority (CORE or HIGH) of a project and of the user, newest first."""
    k = request_fields.number_of(request, "k", 20, 1, 200)
    wanted = request_fields.priority_of(request) or Priority.CORE
    scope, place = request_fields.scope_asked(ctx, request)
    shelves = request_fields.shelves_asked(ctx, request, place)
    found = [
        one
        for shelf in shelves
        for one in shelf.journal.important(scope, MOST_IMPORTANT)
        if one.priority is wanted
    ]
    return {"memories": _told(ctx, shelves, found, k), "total": len(found)}


def overview(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Return a project's figures, what matters in it, what is open and what was decided last.

    Args:
        request: `id` is a project's id or name, or `current` for the one that is asked from.

    Raises:
        NotFoundError: no such project is known.
    """
    k = request_fields.number_of(request, "k", 5, 1, 50)
    wanted = request_fields.text_of(request, "id", 300)
    place = request_fields.place_of(ctx, request)
    shelves = ctx.all_shelves()
    names = project_names(shelves)
    if wanted == CURRENT and place is not None:
        project, names = place.id, {**names, place.id: place.name}
    else:
        project = _project(names, wanted)
    scope = Scope(projects=(project,))
    journals = [shelf.journal for shelf in shelves]
    decided = [one for journal in journals for one in journal.recent(scope, k, (DECISION,))]
    return {
        "project_id": project,
        "name": name_in(names, project),
        "total": sum(journal.count(scope) for journal in journals),
        "important": _told(ctx, shelves, [m for j in journals for m in j.important(scope, k)], k),
        "open": _told(ctx, shelves, [m for j in journals for m in j.open_items(scope, k)], k),
        "decided": _told(ctx, shelves, decided, k),
    }


def _project(names: dict[str, str], wanted: str) -> str:
    for id, name in names.items():
        if id != GLOBAL_PROJECT and wanted in (id, name):
            return id
    raise NotFoundError(f"There is no project {wanted!r}.", "memory://stats names the projects.")


def _told(
    ctx: Context, shelves: Sequence[Shelf], found: Sequence[Memory], k: int
) -> list[dict[str, Any]]:
    now, names = ctx.now(), project_names(shelves)
    living = [
        one for one in found if is_open(one) and (one.expires_at is None or one.expires_at > now)
    ]
    living.sort(key=lambda one: one.created_at, reverse=True)
    return [memory_json(one, names) for one in living[:k]]
