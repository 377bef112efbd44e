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
from vector_memory.index.fixes import fix_drafts
from vector_memory.index.tools import clip
from vector_memory.index.topics.spans import TopicSpan, spans, walk
from vector_memory.index.topics.summaries import SummaryIdea
from vector_memory.index.topics.turns import Passage, TopicTurn, turns_of
from vector_memory.model import (
    DERIVED,
    GAVE_WAY,
    IN_NOTES,
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
from vector_memory.text.harmless import without_marked

log = logging.getLogger(__name__)

ONE_AT_A_TIME = threading.Lock()
"""A backfill and a session's end may be at the same session."""
LEAST_CHARS = 600
"""A session that says less is its own summary: its few passages are found and read as they are."""
TEXT_CHARS = 480
MOST_FILES = 10
GONE = "Taken into another topic."
NO_TURNS = "its turns are gone"
"""What stands in the place of a topic that there is no more: nothing of what was said."""
SHIFTS = "shift:"
"""The sort of records that say for a session's turns whether another topic begins there."""
WORDED = "worded"
"""In `extra` of a topic whose summary a model was asked to word: a digest of the words that rules gave it."""
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
    def topic_turns(self) -> list[TopicTurn]:
        """The turns of the topics: nothing else of the session may be shown."""
        return [turn for span in self.tree for turn in span.members]

    def level(self, derived: Memory) -> Sensitivity:
        """Return how sensitive a topic or summary is: as what it is made of, and never less than it was said to be."""
        first_turn, last_turn = derived.extra["turns"]
        source_levels = (
            memory.sensitivity
            for memory in self.memories
            if first_turn <= memory.source.turn <= last_turn
            and memory.status is Status.ACTIVE
            and not memory.is_held
            and memory.kind not in DERIVED
        )
        earlier_levels = (memory.sensitivity for memory in self.memories if memory.id == derived.id)
        return strictest(derived.sensitivity, *source_levels, *earlier_levels)


def derive(ctx: Context, sessions: Iterable[str]) -> list[SessionContents]:
    """Find the topics of these sessions anew, store what has changed, and return what was read."""
    all_parts = []
    for session in sessions:
        with ONE_AT_A_TIME:
            parts = read(ctx, session)
            # Topics that are stored already follow the session all the same.
            changed = sum(_store(part, ctx.settings.captures(TOPIC)) for part in parts)
        if changed:
            ctx.audit("derive", "job", [], session=session, changed=changed)
            ctx.notify()
        all_parts += parts
    return all_parts


def read(ctx: Context, session: str) -> list[SessionContents]:
    """Return what the stores hold of a session, by project."""
    return [
        _contents(ctx, shelf, session, project, memories)
        for shelf in (ctx.opened_shelves() if session else ())
        for project, memories in _by_project(shelf, session).items()
    ]


def _contents(
    ctx: Context, shelf: Shelf, session: str, project: str, memories: list[Memory]
) -> SessionContents:
    turns = topic_turns = _turns(memories)
    # No topic repeats the words of what is held back.
    open_memories = [memory for memory in memories if not memory.is_held]
    if len(open_memories) < len(memories):
        topic_turns = _turns(open_memories)
    tree = _tree(topic_turns, open_memories, _begins(ctx, session))
    return SessionContents(shelf, session, project, memories, turns, tree)


def for_notes(ctx: Context, contents: SessionContents) -> SessionContents:
    """Return a session with the topics of what may stand in the user's notes, and of nothing else."""
    open_memories = [
        memory
        for memory in contents.memories
        if memory.sensitivity in IN_NOTES and not memory.is_held
    ]
    begins = _begins(ctx, contents.session)
    return replace(contents, tree=_tree(_turns(open_memories), open_memories, begins))


def _begins(ctx: Context, session: str) -> dict[str, bool]:
    """Return whether another topic begins at the turns of a session of which that was decided, by their keys."""
    records = ctx.state.records(SHIFTS + session)
    return {
        key: record["begins"] is True
        for key, record in records.items()
        # The model may have said neither.
        if record.get("begins") is not None
    }


def _by_project(shelf: Shelf, session: str) -> dict[str, list[Memory]]:
    memories_by_project: dict[str, list[Memory]] = {}
    # What observers keep count of is no part of what was said.
    scope = Scope(sessions=(session,), without=tuple(sorted(QUIET)))
    try:
        for memory in shelf.journal.iter_memories(scope, statuses=tuple(Status)):
            memories_by_project.setdefault(memory.project, []).append(memory)
    except StoreDamagedError as error:
        # A project's broken store keeps no session of another project from its topics.
        log.warning("no topics are made of what is in %s: %s", shelf.folder, error)
        return {}
    return memories_by_project


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
    """Return what is known to have been decided, concluded or left open, in words of user and assistant, or as a
    language model found it. A fix is an error's words and edits: what it came to is said elsewhere."""
    return [
        SummaryIdea(memory.source.turn, memory.kind, text, memory.is_by_model)
        for memory in memories
        if memory.kind in IDEA_KINDS
        and memory.status is Status.ACTIVE
        and fix_drafts.TAG not in memory.tags
        and not memory.extra.get("done")
        and (text := " ".join(without_marked(_without_title(memory.text)).split()))
    ]


def _without_title(text: str) -> str:
    """Return an idea without the title that it leans on, put before it in brackets; a topic says that itself."""
    title, bracket, sentence = text.partition("] ")
    return sentence if bracket and title.startswith("[") else text


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
    tree: Sequence[TopicSpan], session: str, project: str, rows: Sequence[Memory]
) -> list[Memory]:
    """Return the topics as memories. Those that were stored keep their ids, and a new one takes the
    place of one that there is no more, so that cutting anew leaves nothing behind."""
    forgotten = {row.source.turn for row in rows if row.status is Status.FORGOTTEN}
    stored = {_stored_name(row.extra): row for row in rows if row.extra.get("key")}
    pairs = [(span, parent) for span, parent in walk(tree) if span.turns[0] not in forgotten]
    wanted = {_span_name(span) for span, _ in pairs}
    free_ids = [
        row.id
        for row in rows
        if row.status is not Status.FORGOTTEN and _stored_name(row.extra) not in wanted
    ]
    used_ids = {row.id for row in rows}
    ids: dict[str, str] = {}
    topics = []
    for span, parent in pairs:
        name = _span_name(span)
        id = (
            stored[name].id
            if name in stored
            else free_ids.pop(0)
            if free_ids
            else _new_id(session, name, project, used_ids)
        )
        ids[name] = id
        used_ids.add(id)
        try:
            topic = _memory(span, ids.get(f"1:{parent}", ""), session, project, id)
            topics.append(_keep_wording(topic, stored.get(name)))
        except UnsafeTextError:
            continue
    return topics


def _span_name(span: TopicSpan) -> str:
    """Return a topic's name among those of its session, the same however it grows."""
    return f"{span.level}:{span.key}"


def _stored_name(extra: Mapping[str, object]) -> str:
    return f"{extra.get('level')}:{extra.get('key')}"


def _new_id(session: str, name: str, project: str, used_ids: set[str]) -> str:
    number = 0
    while (id := memory_id(f"{session}:topic:{name}:{number}", project)) in used_ids:
        number += 1
    return id


def _memory(span: TopicSpan, parent: str, session: str, project: str, id: str) -> Memory:
    start = span.members[0].first
    text = clip_lines([span.name, *span.summary.lines()], TEXT_CHARS)
    topic = Memory(
        id=id,
        text=redact.clean(text).text,
        title=redact.clean(span.name).text,
        created_at=start.at,
        kind=TOPIC,
        project=project,
        origin=Origin.JOB,
        files=tuple(redact.clean(file).text for file in files_of(span.members)[:MOST_FILES]),
        source=Source(session, start.path, *span.lines, turn=start.turn),
        extra={"parent": parent, "level": span.level, "turns": list(span.turns), "key": span.key},
    )
    return trust_marks.with_trust_marks(topic, own=(turn.prompt for turn in span.members))


def _keep_wording(topic: Memory, stored: Memory | None) -> Memory:
    """Return a topic in a model's words, where these were found for the same words of the rules."""
    mark = stored.extra.get(WORDED) if stored is not None else None
    if stored is None or mark != digest_of(topic.text):
        return topic
    return replace(topic, text=stored.text, extra={**topic.extra, WORDED: mark})


def files_of(members: Sequence[TopicTurn]) -> list[str]:
    """Return the files of turns, those of the last turns first."""
    return list(
        dict.fromkeys(
            file
            for turn in reversed(members)
            for passage in turn.passages
            for file in passage.files
        )
    )


def clip_lines(lines: Sequence[str], size: int) -> str:
    """Return lines of at most `size` characters in all: each is cut to what those before leave."""
    clipped: list[str] = []
    for line in lines:
        room = size - sum(len(earlier) + 1 for earlier in clipped)
        if room < 24:
            break
        clipped.append(clip(line, room))
    return "\n".join(clipped)


def _store(contents: SessionContents, may_add: bool) -> int:
    """Write the topics that are new, where they may be added, or have changed, and empty the places of those
    that are gone; return how many were written."""
    rows = [memory for memory in contents.memories if memory.kind == TOPIC]
    topics = [
        replace(memory, sensitivity=contents.level(memory))
        for memory in _memories(contents.tree, contents.session, contents.project, rows)
    ]
    stored = {row.id: row for row in rows}
    added = [memory for memory in topics if memory.id not in stored] if may_add else []
    changed = [
        memory for memory in topics if memory.id in stored and _differs(memory, stored[memory.id])
    ]
    topic_ids = {memory.id for memory in topics}
    obsolete = [row for row in rows if row.id not in topic_ids and row.status is Status.ACTIVE]
    if added:
        contents.shelf.journal.add(added)
    for topic in [*changed, *(_empty_topic(memory, topics) for memory in obsolete)]:
        contents.shelf.journal.update(topic, stored[topic.id])
    return len(added) + len(changed) + len(obsolete)


_DERIVED = ("text", "title", "source", "extra", "files", "status", "created_at", "sensitivity")
"""What of a topic follows its session."""


def _differs(memory: Memory, stored: Memory) -> bool:
    return any(getattr(memory, name) != getattr(stored, name) for name in _DERIVED)


def _empty_topic(memory: Memory, topics: Sequence[Memory]) -> Memory:
    """Return what stays of a topic that there is no more: it gave way to the one that its first turn
    is in now."""
    turn = memory.source.turn
    heirs = [
        topic for topic in topics if topic.extra["turns"][0] <= turn <= topic.extra["turns"][1]
    ]
    return replace(
        memory,
        text=redact.clean(GONE).text,
        title=redact.clean("").text,
        files=(),
        extra={} if heirs else {GAVE_WAY: NO_TURNS},
        status=Status.SUPERSEDED,
        superseded_by=heirs[0].id if heirs else "",
    )
