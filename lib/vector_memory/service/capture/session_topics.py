"""Topics of sessions: found in what is stored of one, and stored beside it, so that a session can be
seen as a tree and a topic found as a whole.

They are derived: whatever changes in a session's passages changes them, and reading again adds nothing.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from vector_memory import redact
from vector_memory.errors import StoreDamagedError, UnsafeTextError
from vector_memory.index.tools import clip
from vector_memory.index.topics.spans import TopicSpan, spans, walk
from vector_memory.index.topics.summaries import SummaryIdea
from vector_memory.index.topics.turns import Passage, TopicTurn, turns_of
from vector_memory.model import (
    DERIVED,
    PASSAGE,
    QUIET,
    SUBAGENT_TAG,
    TOPIC,
    Memory,
    Origin,
    Scope,
    Sensitivity,
    Source,
    Status,
    digest_of,
    strictest,
)
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory import trust_marks
from vector_memory.service.memory.exchange_versions import memory_id
from vector_memory.service.memory.passages import number_of

log = logging.getLogger(__name__)

ONE_AT_A_TIME = threading.Lock()
"""A backfill and a session's end may be at the same session."""
LEAST_CHARS = 600
"""A session that says less is its own summary: its few passages are found and read as they are."""
TEXT_CHARS = 480
MOST_FILES = 10
GONE = "Taken into another topic."
"""What stands in the place of a topic that there is no more: nothing of what was said."""
SHIFTS = "shift:"
"""The sort of records that say for a session's turns whether another topic begins there."""
WORDED = "worded"
"""In `extra` of a topic whose summary a model has worded: a digest of the words that rules gave it."""
IDEA_KINDS = frozenset(
    {"decision", "preference", "conclusion", "cause", "solution", "learning", "question", "todo"}
)


@dataclass(frozen=True)
class SessionContents:
    """What a store holds of one session for one project: everything, whatever its status, the turns
    that its passages make, and the topics of those that are not held back."""

    shelf: Shelf
    session: str
    project: str
    memories: list[Memory]
    turns: list[TopicTurn]
    tree: list[TopicSpan]

    @property
    def told(self) -> list[TopicTurn]:
        """The turns of the topics: nothing else may be told of the session."""
        return [turn for span in self.tree for turn in span.members]

    def level(self, made: Memory) -> Sensitivity:
        """Return how sensitive a topic or summary is: as what it is made of, and never less than it was said to be."""
        first, last = made.extra["turns"]
        sources = (
            memory.sensitivity
            for memory in self.memories
            if first <= memory.source.turn <= last
            and memory.status is Status.ACTIVE
            and not memory.is_held
            and memory.kind not in DERIVED
        )
        before = (memory.sensitivity for memory in self.memories if memory.id == made.id)
        return strictest(made.sensitivity, *sources, *before)


def derive(ctx: Context, sessions: Iterable[str]) -> list[SessionContents]:
    """Find the topics of these sessions anew, store what has changed, and return what was read."""
    found = []
    for session in sessions:
        with ONE_AT_A_TIME:
            parts = read(ctx, session)
            # Those that are there follow what is left of the session all the same.
            changed = sum(_store(part, ctx.settings.captures(TOPIC)) for part in parts)
        if changed:
            ctx.audit("derive", "job", [], session=session, changed=changed)
            ctx.notify()
        found += parts
    return found


def read(ctx: Context, session: str) -> list[SessionContents]:
    """Return what the stores hold of a session, by project."""
    return [
        _told(ctx, shelf, session, project, memories)
        for shelf in (ctx.opened_shelves() if session else ())
        for project, memories in _by_project(shelf, session).items()
    ]


def _told(
    ctx: Context, shelf: Shelf, session: str, project: str, memories: list[Memory]
) -> SessionContents:
    turns = spoken = _turns(memories)
    # No topic repeats the words of what is held back.
    safe = [memory for memory in memories if not memory.is_held]
    if len(safe) < len(memories):
        spoken = _turns(safe)
    decided = {
        key: one.get("begins") is True for key, one in ctx.state.records(SHIFTS + session).items()
    }
    return SessionContents(shelf, session, project, memories, turns, _tree(spoken, safe, decided))


def _by_project(shelf: Shelf, session: str) -> dict[str, list[Memory]]:
    found: dict[str, list[Memory]] = {}
    # What observers keep count of is no part of what was said.
    scope = Scope(sessions=(session,), without=tuple(sorted(QUIET)))
    try:
        for memory in shelf.journal.iter_memories(scope, statuses=tuple(Status)):
            found.setdefault(memory.project, []).append(memory)
    except StoreDamagedError as error:
        # A project's broken store keeps no session of another project from its topics.
        log.warning("no topics are made of what is in %s: %s", shelf.folder, error)
        return {}
    return found


def _turns(memories: Sequence[Memory]) -> list[TopicTurn]:
    """Return the turns that the active passages among these memories make."""
    return turns_of(map(_passage, sorted(filter(_is_talk, memories), key=number_of)))


def _tree(
    turns: Sequence[TopicTurn], memories: Sequence[Memory], decided: Mapping[str, bool]
) -> list[TopicSpan]:
    """Return the topics of turns; none where they say too little."""
    if sum(len(turn.text) for turn in turns) < LEAST_CHARS:
        return []
    return spans(turns, ideas(memories), decided=decided)


def ideas(memories: Iterable[Memory]) -> list[SummaryIdea]:
    """Return what is known to have been decided, concluded or left open."""
    return [
        SummaryIdea(memory.source.turn, memory.kind, _bare(memory.text))
        for memory in memories
        if memory.kind in IDEA_KINDS
        and memory.status is Status.ACTIVE
        and not memory.extra.get("done")
    ]


def _bare(text: str) -> str:
    """Return an idea without the title that it leans on, put before it in brackets; a topic says that itself."""
    title, closed, said = text.partition("] ")
    return said if closed and title.startswith("[") else text


def _is_talk(memory: Memory) -> bool:
    return (
        memory.kind == PASSAGE
        and memory.status is Status.ACTIVE
        and SUBAGENT_TAG not in memory.tags
        and memory.source.turn > 0
    )


def _passage(memory: Memory) -> Passage:
    source = memory.source
    return Passage(
        turn=source.turn,
        key=memory.external_id.rpartition(":")[0] or memory.id,
        text=memory.text,
        title=memory.title,
        path=source.path,
        line_start=source.line_start,
        line_end=source.line_end,
        at=memory.created_at,
        files=tuple(memory.files),
    )


# -- storing --------------------------------------------------------------------------------------


def _memories(
    found: Sequence[TopicSpan], session: str, project: str, rows: Sequence[Memory]
) -> list[Memory]:
    """Return the topics as memories. Those that were stored keep their ids, and a new one takes the
    place of one that there is no more, so that cutting anew leaves nothing behind."""
    forgotten = {row.source.turn for row in rows if row.status is Status.FORGOTTEN}
    stored = {_name(row.extra): row for row in rows if row.extra.get("key")}
    pairs = [(span, parent) for span, parent in walk(found) if span.turns[0] not in forgotten]
    wanted = {_place(span) for span, _ in pairs}
    free = [
        row.id
        for row in rows
        if row.status is not Status.FORGOTTEN and _name(row.extra) not in wanted
    ]
    taken = {row.id for row in rows}
    ids: dict[str, str] = {}
    made = []
    for span, parent in pairs:
        place = _place(span)
        id = (
            stored[place].id
            if place in stored
            else free.pop(0)
            if free
            else _new_id(session, place, project, taken)
        )
        ids[place] = id
        taken.add(id)
        try:
            new = _memory(span, ids.get(f"1:{parent}", ""), session, project, id)
            made.append(_as_worded(new, stored.get(place)))
        except UnsafeTextError:
            continue
    return made


def _place(span: TopicSpan) -> str:
    """Return a topic's name among those of its session, the same however it grows."""
    return f"{span.level}:{span.key}"


def _name(extra: Mapping[str, object]) -> str:
    return f"{extra.get('level')}:{extra.get('key')}"


def _new_id(session: str, place: str, project: str, taken: set[str]) -> str:
    number = 0
    while (id := memory_id(f"{session}:topic:{place}:{number}", project)) in taken:
        number += 1
    return id


def _memory(span: TopicSpan, parent: str, session: str, project: str, id: str) -> Memory:
    first = span.members[0].first
    text = clip_lines([span.name, *span.summary.lines()], TEXT_CHARS)
    made = Memory(
        id=id,
        text=redact.clean(text).text,
        title=redact.clean(span.name).text,
        created_at=first.at,
        kind=TOPIC,
        project=project,
        origin=Origin.JOB,
        files=tuple(redact.clean(file).text for file in files_of(span.members)[:MOST_FILES]),
        source=Source(session, first.path, *span.lines, turn=first.turn),
        extra={"parent": parent, "level": span.level, "turns": list(span.turns), "key": span.key},
    )
    return trust_marks.settled(made, own=(turn.prompt for turn in span.members))


def _as_worded(made: Memory, stored: Memory | None) -> Memory:
    """Return a topic in a model's words, where these were found for the same words of the rules."""
    mark = stored.extra.get(WORDED) if stored is not None else None
    if stored is None or mark != digest_of(made.text):
        return made
    return replace(made, text=stored.text, extra={**made.extra, WORDED: mark})


def files_of(members: Sequence[TopicTurn]) -> list[str]:
    """Return the files of turns, those of the last turns first."""
    return list(
        dict.fromkeys(f for turn in reversed(members) for one in turn.passages for f in one.files)
    )


def clip_lines(lines: Sequence[str], size: int) -> str:
    """Return lines of at most `size` characters in all: each is cut to what those before leave."""
    kept: list[str] = []
    for line in lines:
        left = size - sum(len(one) + 1 for one in kept)
        if left < 24:
            break
        kept.append(clip(line, left))
    return "\n".join(kept)


def _store(told: SessionContents, may_add: bool) -> int:
    """Write the topics that are new, where they may be added, or have changed, and empty the places of those
    that are gone; return how many were written."""
    rows = [memory for memory in told.memories if memory.kind == TOPIC]
    made = [
        replace(memory, sensitivity=told.level(memory))
        for memory in _memories(told.tree, told.session, told.project, rows)
    ]
    known = {row.id: row for row in rows}
    fresh = [memory for memory in made if memory.id not in known] if may_add else []
    changed = [
        memory for memory in made if memory.id in known and _differs(memory, known[memory.id])
    ]
    kept = {memory.id for memory in made}
    gone = [row for row in rows if row.id not in kept and row.status is Status.ACTIVE]
    if fresh:
        told.shelf.journal.add(fresh)
    for one in [*changed, *(_emptied(memory, made) for memory in gone)]:
        told.shelf.journal.update(one)
    return len(fresh) + len(changed) + len(gone)


_DERIVED = ("text", "title", "source", "extra", "files", "status", "created_at", "sensitivity")
"""What of a topic follows its session."""


def _differs(memory: Memory, stored: Memory) -> bool:
    return any(getattr(memory, name) != getattr(stored, name) for name in _DERIVED)


def _emptied(memory: Memory, made: Sequence[Memory]) -> Memory:
    """Return what stays of a topic that there is no more: it gave way to the one that its first turn
    is in now."""
    turn = memory.source.turn
    now = [one for one in made if one.extra["turns"][0] <= turn <= one.extra["turns"][1]]
    return replace(
        memory,
        text=redact.clean(GONE).text,
        title=redact.clean("").text,
        files=(),
        extra={},
        status=Status.SUPERSEDED,
        superseded_by=now[0].id if now else "",
    )
