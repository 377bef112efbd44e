"""`resume`: where work stopped in a project, and what is open there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from itertools import chain, islice

from vector_memory.index.tools import clip
from vector_memory.index.units import REDACTED
from vector_memory.model import DERIVED, PASSAGE, TOPIC, Memory, Scope, unique
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import ProjectNames, Shelf
from vector_memory.service.capture import deferred
from vector_memory.service.find import topic_outline
from vector_memory.service.memory import last_session, proposals
from vector_memory.service.memory.last_session import SessionEnd
from vector_memory.service.memory.views import MemoryView, memory_view
from vector_memory.text import harmless

DECISION_KINDS = ("decision", "preference", "conclusion", "solution", "fix")
MOST_DECIDED, MOST_OPEN, MOST_EARLIER, MOST_FILES, MOST_LEFT = 5, 8, 3, 10, 5
SAME_CHARS = 60
ASKED_CHARS = 300
END_CHARS = 600
"""What is shown of the end of the last answer."""


class ResumeRequest(messages.Filter):
    """Where did work stop?

    Attributes:
        but: a session that is left out, such as the one that asks.
    """

    but: str = messages.word()


class LastSession(messages.Answer):
    """The session in which somebody worked last.

    Attributes:
        path: its transcript.
        topics: what it was about, in order.
        asked: what the user asked for last in it; `answered` is how the assistant's last words end.
        files: those that were touched last.
        branch: that of version control, "" where it is not known; `pull` is the number of the pull request that
            was named last, 0 for none.
        left: what it left to do or to answer, and nothing later takes up.
    """

    session: str
    project: str
    path: str
    started_at: datetime | None
    ended_at: datetime
    topics: list[str]
    asked: str
    answered: str
    files: tuple[str, ...]
    branch: str
    pull: int
    left: list[MemoryView]


class EarlierSession(messages.Answer):
    """A session before the last: when it ended, and what it was about."""

    session: str
    ended_at: datetime
    topics: list[str]


class ResumeAnswer(messages.Answer):
    """Where work stopped.

    Attributes:
        project: its name, "" where none is asked about.
        session: the last session, None where there is none.
        decided: what was decided in it, the newest first; what a language model found comes last.
        open: what is still to be done in the project.
    """

    project: str
    session: LastSession | None
    decided: list[MemoryView]
    earlier: list[EarlierSession]
    open: list[MemoryView]


def resume(ctx: Context, request: ResumeRequest) -> ResumeAnswer:
    """Return the last session of a project, what is open there, and the sessions before."""
    asker = messages.asker_of(ctx, request)
    place, scope = asker.place, asker.scope
    if place is not None:
        # Global memories are left out: they are no work of this project.
        scope = replace(scope, projects=(place.id,))
    names = asker.names
    newest = last_session.newest_of_sessions(asker.shelves, scope, request.but)
    sessions = list(islice(newest, MOST_EARLIER + 1 + last_session.MOST_EMPTY))
    view: LastSession | None = None
    decided: list[Memory] = []
    if sessions:
        ends = (last_session.end_of(shelf, scope, memory) for shelf, memory in sessions)
        # Where in no session anything was asked for, the newest is told as it is.
        position, end = next(((number, end) for number, end in enumerate(ends) if end), (0, None))
        sessions = sessions[position:]
        view, decided = _session_view(ctx, *sessions[0], scope, names, end)
        left_open = last_session.left_open(asker.shelves, scope, [end] if end else [], MOST_LEFT)
        view = replace(view, left=[memory_view(memory, names) for memory in left_open])
    groups = (last_session.still_open(shelf, scope, MOST_OPEN) for shelf in asker.shelves)
    still_open = sorted(chain(*groups), key=lambda memory: memory.created_at, reverse=True)
    return ResumeAnswer(
        project=place.name if place is not None else "",
        session=view,
        decided=[memory_view(memory, names) for memory in decided],
        earlier=[_earlier_session(*pair, scope) for pair in sessions[1 : MOST_EARLIER + 1]],
        open=[memory_view(memory, names) for memory in still_open[:MOST_OPEN]],
    )


def _session_view(
    ctx: Context,
    shelf: Shelf,
    newest: Memory,
    scope: Scope,
    names: ProjectNames,
    end: SessionEnd | None,
) -> tuple[LastSession, list[Memory]]:
    """Return a session, and what was decided in it."""
    session = newest.source.session
    deferred.finish(ctx, [session])
    of_session = shelf.journal.iter_memories(replace(scope, sessions=(session,)))
    memories = [memory for memory in of_session if not memory.is_held]
    memories.sort(key=lambda memory: (memory.created_at, memory.source.turn))
    talk = [memory for memory in memories if memory.kind == PASSAGE]
    decided = [
        memory
        for memory in memories
        if memory.kind in DECISION_KINDS
        and not proposals.is_request(memory)
        and REDACTED not in memory.text
    ]
    newest_passage = talk[-1] if talk else newest
    topics = [memory for memory in memories if memory.kind == TOPIC]
    files = unique(path for memory in reversed(memories) for path in memory.files)
    view = LastSession(
        session=session,
        project=names[newest.project],
        path=newest.source.path,
        started_at=memories[0].created_at if memories else None,
        ended_at=newest.created_at,
        # Without those that are parts of another.
        topics=[topic.title for topic in topics if int(topic.extra.get("level", 1)) == 1],
        asked=clip(" ".join(end.asked.split()), ASKED_CHARS) if end else newest_passage.title,
        answered=_text_end("\n".join(filter(None, (end.answered, end.after))))
        if end
        else _text_end(harmless.with_old_marked(newest_passage.text)),
        files=files[:MOST_FILES],
        branch=end.branch if end else "",
        pull=end.pull if end else 0,
        left=[],
    )
    # What was said in it is told first: a model words as it likes what it finds.
    decided.sort(key=lambda memory: not memory.is_by_model)
    return view, _distinct(reversed(decided))


def _distinct(memories: Iterable[Memory]) -> list[Memory]:
    """Return the first few memories, without those whose beginning an earlier one contains."""
    chosen: list[Memory] = []
    for memory in memories:
        if len(chosen) < MOST_DECIDED and not any(
            memory.text[:SAME_CHARS] in other.text for other in chosen
        ):
            chosen.append(memory)
    return chosen


def _text_end(text: str) -> str:
    """Return the end of a text, from the beginning of a line or a word on."""
    if len(text) <= END_CHARS:
        return text
    end = text[-END_CHARS:]
    cut = end.find("\n") if "\n" in end[: END_CHARS // 2] else end.find(" ")
    return "… " + harmless.excerpt(text, len(text) - len(end) + cut + 1)


def _earlier_session(shelf: Shelf, newest: Memory, scope: Scope) -> EarlierSession:
    session_scope = replace(scope, sessions=(newest.source.session,))
    topics = topic_outline.nested(
        list(shelf.journal.iter_memories(replace(session_scope, kinds=(TOPIC,))))
    )
    own_title = [newest.title] if newest.title and newest.kind not in DERIVED else []
    return EarlierSession(
        session=newest.source.session,
        ended_at=newest.created_at,
        topics=[topic.title for topic in topics] or own_title,
    )
