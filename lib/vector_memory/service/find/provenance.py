"""Where a memory comes from, what was done with it, why a question finds what it finds, and what a session
was shown."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from vector_memory.errors import BadInputError
from vector_memory.model import Memory, Status
from vector_memory.service.base import messages, reach
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import by_ids, project_names
from vector_memory.service.edit.remember import REQUESTED_IN
from vector_memory.service.memory import links
from vector_memory.service.memory.confidence import VERIFIED
from vector_memory.service.memory.history import history_of
from vector_memory.service.memory.links import IdRequest, LinkView
from vector_memory.service.memory.lookup import answer, is_open, lookup
from vector_memory.service.memory.views import (
    HistoryView,
    HitView,
    MemoryView,
    extended,
    hit_view,
    memory_view,
)

MOST_ENTRIES = 20_000
"""Of the audit log, so many of the last entries are looked through."""
MOST_SHOWN = 200
MODEL_WAIT_S = 3.0


class EntryView(messages.Answer):
    """An entry of the audit log: what was done with a memory, when, and by whom."""

    at: datetime
    action: str
    actor: str


class ProvenanceAnswer(messages.Answer):
    """Where a memory comes from.

    Attributes:
        said_in: the session in which it was said, "" where that is not known.
        verified: how it was confirmed or refuted.
        history: what was merged into it and what it was before.
        links: its links, each with the memory at its other end.
        audit: what was done with it, the newest first.
    """

    memory: MemoryView
    said_in: str
    verified: Any
    stored_at: datetime | None
    history: HistoryView
    links: list[LinkView]
    audit: list[EntryView]


def provenance(ctx: Context, request: IdRequest) -> ProvenanceAnswer:
    """Return where a memory comes from.

    Raises:
        NotFoundError: no memory's id begins so.
    """
    shelf, memory = lookup(ctx, request.id)
    return ProvenanceAnswer(
        memory=memory_view(memory, project_names([shelf])),
        said_in=str(memory.extra.get(REQUESTED_IN) or memory.source.session),
        verified=memory.extra.get(VERIFIED) or None,
        stored_at=memory.stored_at,
        history=history_of(shelf, memory),
        links=links.links(ctx, IdRequest(id=memory.id)).links,
        audit=_entries_of(ctx, memory),
    )


class TraceRequest(messages.Filter):
    """Why does a question (`query`) find what it finds, or what was done with a memory (`id`)?"""

    id: str = messages.maybe_text(64)
    query: str = messages.maybe_text()
    k: int = messages.number(5, 1, 50)


class TraceAnswer(messages.Answer, kw_only=True):
    """What a question finds, or what was done with a memory.

    Attributes:
        threshold: the relevance from which on hooks give a hit unasked.
    """

    hits: list[HitView]
    threshold: float | None = messages.spare()
    audit: list[EntryView]


def trace(ctx: Context, request: TraceRequest) -> TraceAnswer:
    """Return why a question finds what it finds, with each hit's breakdown, or what was done with a memory.
    It counts as no use of them.

    Raises:
        BadInputError: neither is given.
        NotFoundError: no memory's id begins so.
    """
    if request.id:
        _, memory = lookup(ctx, request.id)
        return TraceAnswer(hits=[], audit=_entries_of(ctx, memory))
    if not request.query:
        raise BadInputError("Trace what?", "Give a query, or a memory's id.")
    asker = messages.asker_of(ctx, request)
    ctx.embedding.wait(MODEL_WAIT_S)
    hits = answer(ctx, request.query, asker, request.k, allowed=is_open, cold=True).hits
    names = asker.names
    views = [hit_view(hit, names) for hit in hits]
    return TraceAnswer(hits=views, threshold=ctx.settings.threshold, audit=[])


class SessionRecalledRequest(messages.Request):
    """What was a session given: the one named, else the project's last one."""

    session: str = messages.word()
    k: int = messages.number(50, 1, MOST_SHOWN)


class ShownView(MemoryView, kw_only=True):
    """A memory, with when it was given to a session."""

    shown_at: datetime


class SessionRecalledAnswer(messages.Answer):
    """What a session was given, the newest first, and how many memories that were in all."""

    session: str
    memories: list[ShownView]
    total: int


def session_recalled(ctx: Context, request: SessionRecalledRequest) -> SessionRecalledAnswer:
    """Return what a session was given by itself, the newest first, with when.

    Raises:
        BadInputError: no session is known.
    """
    place, session = messages.place_of(ctx, request), request.session
    if not session and place is not None:
        session = ctx.state.latest_session(place.id)
    if not session:
        raise BadInputError("No session is known here.", "Name a session's id.")
    shown_at = ctx.state.shown_at(session)
    shelves = ctx.all_shelves()
    memories = [
        memory
        for memory in by_ids(shelves, shown_at).values()
        if memory.status is not Status.FORGOTTEN and reach.holds(memory)
    ]
    names = project_names(shelves)
    newest = sorted(memories, key=lambda memory: shown_at[memory.id], reverse=True)
    views = [
        extended(ShownView, memory_view(memory, names), shown_at=shown_at[memory.id])
        for memory in newest[: request.k]
    ]
    return SessionRecalledAnswer(session, views, len(memories))


def _entries_of(ctx: Context, memory: Memory) -> list[EntryView]:
    """Return the entries of the audit log that name a memory, newest first."""
    return [
        EntryView(entry.at, entry.action, entry.actor)
        for entry in ctx.state.audit_entries(MOST_ENTRIES)
        if memory.id in entry.ids
    ][:20]
