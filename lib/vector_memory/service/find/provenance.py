"""Where a memory comes from, what was done with it, why a question finds what it finds, and what a session
was shown."""

from __future__ import annotations

from typing import Any

from vector_memory.errors import BadInputError
from vector_memory.model import Memory, Status
from vector_memory.service.base import request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.base.messages import Asker, to_json
from vector_memory.service.edit.remember import SAID_IN
from vector_memory.service.memory import links
from vector_memory.service.memory.confidence import VERIFIED
from vector_memory.service.memory.history import history_of
from vector_memory.service.memory.lookup import find, is_open, lookup, project_names
from vector_memory.service.memory.views import hit_json, memory_json

MOST_ENTRIES = 20_000
"""Of the audit log, so many of the last entries are looked through."""
MOST_SHOWN = 200


def provenance(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Return where a memory comes from: session, lines, what was merged into it, what it was before, how
    it was verified, its links, and what was done with it.

    Raises:
        NotFoundError: no memory's id begins so.
    """
    shelf, memory = lookup(ctx, request_fields.text_of(request, "id", 64))
    return {
        "memory": memory_json(memory, project_names([shelf])),
        "said_in": str(memory.extra.get(SAID_IN) or memory.source.session),
        "verified": memory.extra.get(VERIFIED) or None,
        "stored_at": memory.stored_at.isoformat() if memory.stored_at else None,
        "history": to_json(history_of(shelf, memory)),
        "links": to_json(links.links(ctx, links.LinksRequest(id=memory.id)).links),
        "audit": _entries_of(ctx, memory),
    }


def trace(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Return why a question (`query`) finds what it finds, with each hit's breakdown, or what was done
    with a memory (`id`). It counts as no use of them.

    Raises:
        BadInputError: neither is given.
        NotFoundError: no memory's id begins so.
    """
    if request.get("id"):
        _, memory = lookup(ctx, request_fields.text_of(request, "id", 64))
        return {"hits": [], "audit": _entries_of(ctx, memory)}
    if not request.get("query"):
        raise BadInputError("Trace what?", "Give a query, or a memory's id.")
    k = request_fields.number_of(request, "k", 5, 1, 50)
    scope, place = request_fields.scope_asked(ctx, request)
    shelves = request_fields.shelves_asked(ctx, request, place)
    ctx.embedding.wait(3.0)
    asker = Asker(place, shelves, scope)
    hits = find(ctx, request_fields.text_of(request, "query"), asker, k, allowed=is_open)
    names = project_names(shelves)
    told = [{**hit_json(hit, names), "relevance": round(hit.relevance, 4)} for hit in hits]
    return {"hits": told, "threshold": ctx.settings.threshold, "audit": []}


def session_recalled(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Return what a session was given by itself, the newest first, with when; of the project's last session
    where none is named.

    Raises:
        BadInputError: no session is known.
    """
    place = request_fields.place_of(ctx, request)
    session = str(request.get("session") or "")
    if not session and place is not None:
        session = ctx.state.latest_session(place.id)
    if not session:
        raise BadInputError("No session is known here.", "Name a session's id.")
    k = request_fields.number_of(request, "k", 50, 1, MOST_SHOWN)
    at = ctx.state.shown_at(session)
    shelves = ctx.all_shelves()
    found = {
        id: memory
        for shelf in shelves
        for id, memory in shelf.journal.by_ids(list(at)).items()
        if memory.status is not Status.FORGOTTEN
    }
    names = project_names(shelves)
    newest = sorted(found.values(), key=lambda one: at[one.id], reverse=True)
    return {
        "session": session,
        "memories": [
            {**memory_json(one, names), "shown_at": at[one.id].isoformat()} for one in newest[:k]
        ],
        "total": len(found),
    }


def _entries_of(ctx: Context, memory: Memory) -> list[dict[str, Any]]:
    """Return the entries of the audit log that name a memory, newest first."""
    return [
        {"at": one["at"].isoformat(), "action": one["action"], "actor": one["actor"]}
        for one in ctx.state.audit_entries(MOST_ENTRIES)
        if memory.id in one["ids"]
    ][:20]
