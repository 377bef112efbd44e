"""What hangs on a memory or a file: links, what speaks of the same files and names, newer decisions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from vector_memory.errors import BadInputError
from vector_memory.model import DECISION, DERIVED, PASSAGE, QUIET, Memory, Scope
from vector_memory.service.base import request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.base.messages import to_json
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory import links as linking
from vector_memory.service.memory.lookup import is_open, lookup, project_names
from vector_memory.service.memory.views import memory_json

MOST_LOOKED_AT = 5_000
SPECIFIC = ("file:", "concept:", "person:")


def impact(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Return what a change of a memory (`id`) or a file (`file`) concerns.

    Raises:
        BadInputError: neither is named.
        NotFoundError: no memory's id begins so.
    """
    k = request_fields.number_of(request, "k", 10, 1, 100)
    if request.get("id"):
        shelf, memory = lookup(ctx, request_fields.text_of(request, "id", 64))
        scope = Scope(projects=(memory.project,))
        about = [memory_json(memory, project_names([shelf]))]
        related = _sharing([shelf], scope, memory)
        links = to_json(linking.links(ctx, linking.LinksRequest(id=memory.id)).links)
        since = memory.created_at
    elif request.get("file"):
        path = os.path.normpath(request_fields.text_of(request, "file", 4_096))
        scope, place = request_fields.scope_asked(ctx, request)
        shelves = request_fields.shelves_asked(ctx, request, place)
        related = [(one, [path]) for one in _looked_at(shelves, scope) if _names(one, path)]
        about, links, since = [], [], None
        shelf = shelves[0]
    else:
        raise BadInputError("The impact of what?", "Name a memory's id or a file.")
    names = project_names([shelf])
    newer = [
        one
        for one, _ in related
        if one.kind == DECISION and (since is None or one.created_at > since)
    ]
    return {
        "about": about,
        "links": links,
        "related": [
            {**memory_json(one, names), "shares": shares}
            for one, shares in related[:k]
            if one not in newer[:k]
        ],
        "newer_decisions": [memory_json(one, names) for one in newer[:k]],
        "total": len(related),
    }


def _looked_at(shelves: Sequence[Shelf], scope: Scope) -> list[Memory]:
    found = [
        one
        for shelf in shelves
        for one in shelf.journal.iter_memories(scope, newest_first=True, limit=MOST_LOOKED_AT)
        if is_open(one) and one.collection not in QUIET and one.kind not in DERIVED
    ]
    # What was drawn from talk says in a line what the talk says in many.
    return sorted(found, key=lambda one: one.kind == PASSAGE)


def _sharing(
    shelves: Sequence[Shelf], scope: Scope, memory: Memory
) -> list[tuple[Memory, list[str]]]:
    """Return the memories that name what a memory names, those first that share most."""
    own = {*memory.files, *(one for one in memory.entities if one.startswith(SPECIFIC))}
    found = []
    for one in _looked_at(shelves, scope):
        shared = own & {*one.files, *one.entities}
        if one.id != memory.id and shared:
            found.append((one, sorted(shared)))
    return sorted(found, key=lambda pair: -len(pair[1]))


def _names(memory: Memory, path: str) -> bool:
    """Whether a memory is about a file, or names it by its last parts."""
    named = [*memory.files, *(e[5:] for e in memory.entities if e.startswith("file:"))]
    return any(_is_one(os.path.normpath(one), path) for one in named) or path in memory.text


def _is_one(one: str, other: str) -> bool:
    return one == other or one.endswith(os.sep + other) or other.endswith(os.sep + one)
