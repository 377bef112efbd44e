"""`topics`: sessions with the tree of what was talked about in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from vector_memory.errors import NotFoundError
from vector_memory.index.tools import clip
from vector_memory.model import TOPIC, Memory, Scope
from vector_memory.service.base import request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.capture import deferred
from vector_memory.service.memory.lookup import name_in, project_names

DEFAULT_SESSIONS = 8
LOOKED_AT = 3_000
"""Of the newest memories, so many are looked at for sessions."""
MOST_TITLES = 200


def outline(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Return sessions, the newest first, each with its topics in order.

    Raises:
        NotFoundError: there is no session whose id begins as asked.
    """
    k = request_fields.number_of(request, "k", DEFAULT_SESSIONS, 1, 1_000)
    wanted = str(request.get("session") or "").strip()
    if wanted:
        request = {**request, "all_projects": True}
    scope, place = request_fields.scope_asked(ctx, {**request, "session": None})
    scope = request_fields.listed(scope)
    shelves = request_fields.shelves_asked(ctx, request, place)
    names = project_names(shelves)
    newest = sorted(
        _sessions(shelves, scope, wanted), key=lambda one: one[1].created_at, reverse=True
    )
    if wanted and not newest:
        raise NotFoundError(f"There is no session {wanted!r}.", "`vector-memory topics` shows ids.")
    shown = newest[:k]
    deferred.finish(ctx, [one.source.session for _, one in shown])
    return {"sessions": [_session(*one, scope, names) for one in shown]}


def _sessions(shelves: Sequence[Shelf], scope: Scope, wanted: str) -> list[tuple[Shelf, Memory]]:
    """Return a store and the newest memory for each session."""
    found: dict[str, tuple[Shelf, Memory]] = {}
    for shelf in shelves:
        exact = Scope(sessions=(wanted,))
        known = bool(wanted) and shelf.journal.count(exact) > 0
        looked = shelf.journal.iter_memories(
            exact if known else scope, newest_first=True, limit=1 if known else LOOKED_AT
        )
        for one in looked:
            if one.source.session and one.source.session.startswith(wanted):
                found.setdefault(one.source.session, (shelf, one))
    return list(found.values())


def _session(shelf: Shelf, newest: Memory, scope: Scope, names: dict[str, str]) -> dict[str, Any]:
    """Return a session as programs see it: its topics, where there are none the titles of its turns."""
    # A session may have been in several projects, and sessions of several may have one name.
    own = replace(scope, sessions=(newest.source.session,))
    spans = list(shelf.journal.iter_memories(replace(own, kinds=(TOPIC,))))
    spans.sort(key=lambda one: (one.created_at, one.source.turn, int(one.extra.get("level", 1))))
    nodes = nested(spans) if spans else _titles(shelf, own)
    return {
        "session": newest.source.session,
        "project": name_in(names, newest.project),
        "path": newest.source.path,
        "started_at": nodes[0]["at"] if nodes else newest.created_at.isoformat(),
        "topics": nodes,
    }


def nested(memories: Sequence[Memory]) -> list[dict[str, Any]]:
    """Return topics in their order, each with its parts."""
    nodes = {one.id: node(one) for one in memories}
    roots: list[dict[str, Any]] = []
    for one in memories:
        parent = nodes.get(str(one.extra.get("parent") or ""))
        (parent["parts"] if parent else roots).append(nodes[one.id])
    return roots


def node(memory: Memory) -> dict[str, Any]:
    """Return one topic as programs see it."""
    source = memory.source
    return {
        "id": memory.id,
        "title": memory.title,
        "summary": memory.text[len(memory.title) :].strip() if memory.kind == TOPIC else "",
        "at": memory.created_at.isoformat(),
        "lines": [source.line_start, source.line_end],
        "turns": list(memory.extra.get("turns") or [source.turn, source.turn]),
        "files": list(memory.files),
        "parts": [],
    }


def _titles(shelf: Shelf, scope: Scope) -> list[dict[str, Any]]:
    """Return one title for each turn of a session that was stored before topics were."""
    turns: dict[int, Memory] = {}
    for one in shelf.journal.iter_memories(scope, limit=MOST_TITLES):
        turns.setdefault(one.source.turn or -len(turns), one)
    ordered = sorted(turns.values(), key=lambda one: (one.created_at, one.source.turn))
    return [{**node(one), "title": one.title or clip(one.text, 100)} for one in ordered]
