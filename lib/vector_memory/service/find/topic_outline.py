"""`topics`: sessions with the tree of what was talked about in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from datetime import datetime

from vector_memory.errors import NotFoundError
from vector_memory.index.tools import clip
from vector_memory.model import TOPIC, Memory, Scope
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import ProjectNames, Shelf
from vector_memory.service.capture import deferred

DEFAULT_SESSIONS = 8
LOOKED_AT = 3_000
"""Of the newest memories, so many are looked at for sessions."""
MOST_TITLES = 200


class OutlineRequest(messages.Filter):
    """The topics of the `k` newest sessions behind the first `offset`, or of those that are named: in whatever project,
    where the user asks."""

    k: int = messages.number(DEFAULT_SESSIONS, 1, 1_000)
    offset: int = messages.number(0, 0, 1_000_000)


class TopicNode(messages.Answer):
    """A topic of a session, or one of its turns where it has no topics.

    Attributes:
        lines: the first and the last line in the transcript.
        turns: the first and the last turn.
        parts: the topics that it is made of.
    """

    id: str
    title: str
    summary: str
    at: datetime
    lines: tuple[int, int]
    turns: list[int]
    files: tuple[str, ...]
    parts: list[TopicNode] = field(default_factory=list)


class SessionOutline(messages.Answer):
    """A session, its transcript's path, and what was talked about in it, in order."""

    session: str
    project: str
    path: str
    started_at: datetime
    topics: list[TopicNode]


class OutlineAnswer(messages.Answer):
    """Sessions, the newest first."""

    sessions: list[SessionOutline]


def outline(ctx: Context, request: OutlineRequest) -> OutlineAnswer:
    """Return sessions, the newest first, each with its topics in order.

    Raises:
        NotFoundError: there is no session of a name that is asked for.
    """
    session_ids = request.sessions
    is_anywhere = bool(session_ids) and not request.is_agent
    asker = messages.asker_of(ctx, replace(request, all_projects=True) if is_anywhere else request)
    scope = asker.scope.without_records
    names = asker.names
    newest = sorted(
        _sessions(asker.shelves, scope), key=lambda pair: pair[1].created_at, reverse=True
    )
    if session_ids and not newest:
        raise NotFoundError(
            f"There is no session {session_ids[0]!r}.", "`vector-memory topics` shows ids."
        )
    page = newest[request.offset : request.offset + request.k]
    deferred.finish(ctx, [memory.source.session for _, memory in page])
    return OutlineAnswer([_session(shelf, memory, scope, names) for shelf, memory in page])


def _sessions(shelves: Sequence[Shelf], scope: Scope) -> list[tuple[Shelf, Memory]]:
    """Return a store and the newest memory for each session."""
    newest: dict[str, tuple[Shelf, Memory]] = {}
    for shelf in shelves:
        for memory in shelf.journal.iter_memories(scope, newest_first=True, limit=LOOKED_AT):
            if session := memory.source.session:
                newest.setdefault(session, (shelf, memory))
    return list(newest.values())


def _session(shelf: Shelf, newest: Memory, scope: Scope, names: ProjectNames) -> SessionOutline:
    """Return a session as programs see it: its topics, where there are none the titles of its turns."""
    # A session may have been in several projects, and sessions of several may have one name.
    session_scope = replace(scope, sessions=(newest.source.session,))
    spans = list(shelf.journal.iter_memories(replace(session_scope, kinds=(TOPIC,))))
    spans.sort(
        key=lambda span: (span.created_at, span.source.turn, int(span.extra.get("level", 1)))
    )
    nodes = nested(spans) if spans else _titles(shelf, session_scope)
    return SessionOutline(
        session=newest.source.session,
        project=names[newest.project],
        path=newest.source.path,
        started_at=nodes[0].at if nodes else newest.created_at,
        topics=nodes,
    )


def nested(memories: Sequence[Memory]) -> list[TopicNode]:
    """Return topics in their order, each with its parts."""
    nodes = {memory.id: _node(memory, memory.title) for memory in memories}
    roots: list[TopicNode] = []
    for memory in memories:
        parent = nodes.get(str(memory.extra.get("parent") or ""))
        (parent.parts if parent else roots).append(nodes[memory.id])
    return roots


def _node(memory: Memory, title: str) -> TopicNode:
    source = memory.source
    return TopicNode(
        id=memory.id,
        title=title,
        summary=memory.text[len(memory.title) :].strip() if memory.kind == TOPIC else "",
        at=memory.created_at,
        lines=(source.line_start, source.line_end),
        turns=list(memory.extra.get("turns") or [source.turn, source.turn]),
        files=memory.files,
    )


def _titles(shelf: Shelf, scope: Scope) -> list[TopicNode]:
    """Return one title for each turn of a session that was stored before topics were."""
    turns: dict[int, Memory] = {}
    for memory in shelf.journal.iter_memories(scope, limit=MOST_TITLES):
        turns.setdefault(memory.source.turn or -len(turns), memory)
    ordered = sorted(turns.values(), key=lambda memory: (memory.created_at, memory.source.turn))
    return [_node(memory, memory.title or clip(memory.text, 100)) for memory in ordered]
