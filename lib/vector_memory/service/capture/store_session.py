"""Capture: what is new in a transcript becomes memories, redacted before anything is written."""

from __future__ import annotations

import logging
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, cast

from vector_memory import projects, redact
from vector_memory.errors import VectorMemoryError
from vector_memory.index.cursor import Cursor
from vector_memory.index.fixes import fix_drafts
from vector_memory.index.reader import session_and_folder
from vector_memory.model import PASSAGE, Memory, Origin, Priority, Source, strictest
from vector_memory.redact import levels, policy
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.capture import read_session, uncaptured_turns
from vector_memory.service.capture.reading_process import ReadingProcess
from vector_memory.service.memory import tombstones, trust_marks
from vector_memory.service.memory.exchange_versions import (
    compare,
    compare_each,
    exchange_of,
    memory_id,
    under_known_ids,
)
from vector_memory.system.files import with_real_folder

if TYPE_CHECKING:
    from vector_memory.index.memories import Draft
    from vector_memory.index.reader import TurnRead
    from vector_memory.journal.state_rows import Task
    from vector_memory.model import CleanText
    from vector_memory.service.capture.read_session import ReadRequest

log = logging.getLogger(__name__)

FAR_BYTES = 2_000_000
WRITE_AT_ONCE = 64
"""Memories of one transaction, about: enough for a sync to weigh little, few enough to be over soon."""


@dataclass
class Captured:
    """What one reading brought: drafts read, memories written, those already there, values redacted,
    texts dropped because they could not be redacted."""

    drafts: int = 0
    stored: int = 0
    unchanged: int = 0
    redactions: int = 0
    dropped: int = 0
    sessions: set[str] = field(default_factory=set)

    def add(self, other: Captured) -> None:
        """Add another reading's figures."""
        for name in ("drafts", "stored", "unchanged", "redactions", "dropped"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.sessions |= other.sessions


def read_turn(
    ctx: Context,
    path: str,
    final: bool = False,
    last_message: str = "",
    apart: bool = False,
    stopped_at: float | None = None,
) -> TurnRead:
    """Read what is new in a transcript, for all that is made of it. Nothing is stored.

    Args:
        final: the session is over: what is still open is complete.
        last_message: the last answer, where the transcript lags behind it.
        apart: read it in a process of its own, which has a budget, however small it is.
        stopped_at: when the last answer was given.

    Raises:
        OSError: it cannot be read, or not within its budget.

    Returns:
        What was read, and how far.
    """
    request = replace(request_for(ctx, path, final, last_message), stopped_at=stopped_at)
    if ctx.hopeless.holds(request.path):
        ctx.count("transcripts_given_up")
        raise OSError("reading it took too long; it is left alone for an hour")
    return _read(ctx, request, apart)


def _read(ctx: Context, request: ReadRequest, apart: bool) -> TurnRead:
    """Read here what is soon read; much in a process of its own, since prompts would wait."""
    size = os.path.getsize(request.path)
    if not apart and size - request.cursor.offset < FAR_BYTES:
        is_near = size - request.cursor.lessons.offset < FAR_BYTES
        return read_session.read(
            replace(request, for_lessons=is_near and ctx.settings.learn_from_outcomes)
        )
    with ReadingProcess(ctx.home.pycache) as process:
        ((_, reading),) = process.read_all([request])
    if isinstance(reading, OSError):
        ctx.hopeless.add(request.path)
        raise reading
    return reading


def request_for(
    ctx: Context, path: str, final: bool = False, last_message: str = ""
) -> ReadRequest:
    """Return what is to be read of a transcript: what its cursor leaves."""
    path = with_real_folder(path)
    cursor = Cursor.from_dict(ctx.state.cursor(path) or {})
    try:
        cwd = session_and_folder(path)[1]
    except OSError:
        # Whoever reads it says so.
        cwd = ""
    folders = ctx.place(cwd).folders if cwd else ()
    return read_session.ReadRequest(path, cursor, final, last_message, folders=folders)


def unread_of_subagents(ctx: Context, path: str) -> list[str]:
    """Return the transcripts of a session's subagents of which nothing was read: the client may write one only after
    it has told that the subagent stopped.

    Args:
        path: the session's own transcript.
    """
    folder = os.path.join(path.removesuffix(".jsonl"), "subagents")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    paths = (with_real_folder(os.path.join(folder, name)) for name in names)
    return [
        transcript
        for transcript in paths
        if transcript.endswith(".jsonl") and ctx.state.cursor(transcript) is None
    ]


def store(
    ctx: Context,
    reads: Sequence[TurnRead],
    folder: str = "",
    tasks: Sequence[Task] = (),
    by_path: Sequence[Task] = (),
) -> Captured:
    """Write what was read of transcripts, then note how far it was.

    Args:
        reads: the readings.
        folder: the sessions' folder; what the transcripts say is used without it.
        tasks: what is due then for the sessions of what is new.
        by_path: what is due for the transcripts in which anything is new.

    Returns:
        What was stored, and of which sessions.
    """
    captured = Captured()
    for reading in reads:
        uncaptured_turns.keep_out(ctx, reading)
        captured.redactions += reading.redactions
        captured.dropped += reading.dropped
    drafts = [
        (draft, folder or _folder(reading, draft)) for reading in reads for draft in reading.drafts
    ]
    # Projects' folders are looked at before the lock is taken: a slow one keeps no other thread from storing.
    groups = _by_place(ctx, drafts, captured)
    # Two that look at the store at once would both find an exchange missing.
    with ctx.capturing:
        for place, shelf, group in groups:
            _store(ctx, place, shelf, group, captured)
        ctx.state.set_cursors(
            {reading.path: reading.cursor.to_dict() for reading in reads},
            [(task, session) for task in tasks for session in sorted(captured.sessions)]
            + [(task, reading.path) for task in by_path for reading in reads if reading.drafts],
        )
    for reading in reads:
        policy.give_up(reading.over)
    ctx.count("redactions", captured.redactions)
    ctx.count("texts_dropped", captured.dropped)
    if captured.stored:
        ctx.notify()
    return captured


def _folder(reading: TurnRead, draft: Draft) -> str:
    """Return the folder of a draft's session: the one that it was started in, as hooks tell it, not
    the one that it went to."""
    is_own = draft.session in ("", reading.session)
    return (reading.cwd if is_own else "") or draft.cwd


def _by_place(
    ctx: Context, drafts: Sequence[tuple[Draft, str]], captured: Captured
) -> list[tuple[projects.Place, Shelf, list[Draft]]]:
    """Return drafts by the project and the store that they belong to."""
    groups: dict[str, tuple[projects.Place, Shelf, list[Draft]]] = {}
    for draft, folder in drafts:
        place = ctx.place(folder or "/")
        captured.drafts += 1
        captured.sessions.add(draft.session)
        if not ctx.is_excluded(place, folder):
            if place.id not in groups:
                groups[place.id] = (place, ctx.shelf_of(place), [])
            groups[place.id][2].append(draft)
    return list(groups.values())


def _store(
    ctx: Context, place: projects.Place, shelf: Shelf, group: list[Draft], captured: Captured
) -> None:
    group = tombstones.without_purged(ctx, place.id, group)
    with redact.for_project(place.folders):
        memories = [_memory(draft, place.id) for draft in group]
    memories = [
        memory
        for memory in _as_sensitive_as_their_exchanges(shelf, memories)
        if ctx.settings.captures(fix_drafts.TAG if fix_drafts.TAG in memory.tags else memory.kind)
    ]
    if not memories:
        return
    ctx.know_project(shelf, place)
    for part in _transactions(memories):
        ctx.hooks.give_way()
        _write(ctx, shelf, part, captured)


def _as_sensitive_as_their_exchanges(shelf: Shelf, memories: Sequence[Memory]) -> list[Memory]:
    """Return memories of which what is no passage, such as a fix, is as sensitive as any passage of its exchange, read now
    or stored, and under the law of the first that is under one: its own words need not tell what it is about."""
    drawn = {
        memory.id: fix_drafts.exchange_of(memory.external_id)
        for memory in memories
        if memory.kind != PASSAGE
    }
    stored = shelf.journal.by_external_id(sorted(set(drawn.values())))
    passages = _exchanges([*memories, *stored])
    return [
        replace(
            memory,
            sensitivity=strictest(*(one.sensitivity for one in [memory, *sources])),
            jurisdiction=next(filter(None, (one.jurisdiction for one in [memory, *sources])), ""),
        )
        if (sources := passages.get(drawn.get(memory.id, ""), []))
        else memory
        for memory in memories
    ]


def _transactions(memories: list[Memory]) -> Iterator[list[Memory]]:
    """Yield a transaction's worth of memories at once, those of one exchange together. An exchange that
    comes again, in a copy, is of a later part, so that it is compared with the first."""
    part: list[Memory] = []
    names: set[str] = set()
    for (name, _, _), group in groupby(memories, _exchange_key):
        if (name and name in names) or len(part) >= WRITE_AT_ONCE:
            yield part
            part, names = [], set()
        part += group
        names.add(name)
    if part:
        yield part


def _exchange_key(memory: Memory) -> tuple[str, str, int]:
    name = exchange_of(memory.external_id) if memory.kind == PASSAGE else ""
    return name, memory.source.path, memory.source.line_start


def _write(ctx: Context, shelf: Shelf, memories: list[Memory], captured: Captured) -> None:
    """Add what is new, replace what has grown, drop what is cut otherwise now, and leave alone what is
    known or was forgotten."""
    stored = _stored_exchanges(shelf, memories)
    memories = _in_known_projects(memories, stored)
    singles = {
        memory.id: memory
        for memory in under_known_ids(
            shelf.journal, (memory for memory in memories if memory.kind != PASSAGE)
        )
    }
    stored_singles = shelf.journal.by_ids(list(singles))
    added, changed, dropped = compare_each(list(singles.values()), list(stored_singles.values()))
    for name, passages in _exchanges(memories).items():
        changes = compare(passages, stored[name])
        added += changes.added
        changed += changes.changed
        dropped += changes.dropped
    read = {memory.id: memory for passages in stored.values() for memory in passages}
    shelf.journal.write(added, changed, dropped, read | stored_singles)
    if added or changed or dropped:
        _audit_store(
            ctx, [memory.id for memory in added], [memory.id for memory in changed], dropped
        )
    ctx.count("fixes_learned", sum(memory.collection == fix_drafts.COLLECTION for memory in added))
    captured.stored += len(added) + len(changed)
    captured.unchanged += len(memories) - len(added) - len(changed)
    _remove_from_index(shelf, dropped)


def _audit_store(ctx: Context, added: list[str], changed: list[str], dropped: list[str]) -> None:
    """Note in the audit log what was stored, by a hook unless a backfill is going on."""
    actor = "user" if ctx.filling else "hook"
    counts = {"added": len(added), "changed": len(changed), "dropped": len(dropped)}
    ctx.audit("store", actor, [*added, *changed, *dropped], **counts)


def _exchanges(memories: Iterable[Memory]) -> dict[str, list[Memory]]:
    exchanges: dict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        if memory.kind == PASSAGE:
            exchanges[exchange_of(memory.external_id)].append(memory)
    return exchanges


def _stored_exchanges(shelf: Shelf, memories: Sequence[Memory]) -> dict[str, list[Memory]]:
    """Return what is stored of these exchanges, of every status and in whichever project."""
    stored: dict[str, list[Memory]] = defaultdict(list)
    for memory in shelf.journal.by_external_id(list(_exchanges(memories))):
        stored[exchange_of(memory.external_id)].append(memory)
    return stored


def _in_known_projects(memories: list[Memory], stored: dict[str, list[Memory]]) -> list[Memory]:
    """Return memories in the project in which their exchange is known: a fork may tell another one."""
    projects_by_line = {
        (passages[0].source.path, passages[0].source.line_start): stored[name][0].project
        for name, passages in _exchanges(memories).items()
        if stored.get(name)
    }
    return [
        _in_project(
            memory,
            projects_by_line.get((memory.source.path, memory.source.line_start), memory.project),
        )
        for memory in memories
    ]


def _in_project(memory: Memory, project: str) -> Memory:
    if memory.project == project:
        return memory
    return replace(memory, id=memory_id(memory.external_id, project), project=project)


def _remove_from_index(shelf: Shelf, ids: list[str]) -> None:
    """Take memories that are gone out of the index, which follows changed rows alone. What stays in it
    points at nothing and is never given."""
    index = shelf.index
    if not ids or index is None or not index.lexical_ready:
        return
    with shelf.following:
        try:
            index.apply([], ids, index.reached())
        except VectorMemoryError as error:
            log.warning("%d dropped passages stay in the index: %s", len(ids), error)


def _memory(draft: Draft, project: str) -> Memory:
    """Return the memory of a redacted draft; the journal takes no other. A passage was looked at when
    it was made, since part of it is the user's own words."""
    memory = Memory(
        id=memory_id(draft.external_id, project),
        text=cast("CleanText", draft.text),
        title=draft.title,
        created_at=draft.created_at,
        kind=draft.kind,
        collection=draft.collection,
        project=project,
        confidence=draft.confidence,
        priority=Priority(draft.priority),
        origin=Origin(draft.origin),
        tags=draft.tags,
        files=draft.files,
        source=Source(
            session=draft.session,
            path=draft.path,
            line_start=draft.line_start,
            line_end=draft.line_end,
            turn=draft.turn,
            speaker=draft.speaker,
        ),
        external_id=draft.external_id,
        extra=draft.extra,
    )
    return levels.raised(memory) if draft.kind == PASSAGE else trust_marks.with_trust_marks(memory)
