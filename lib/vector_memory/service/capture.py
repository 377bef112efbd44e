"""Capture: what is new in a transcript becomes memories, redacted before anything is written."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from vector_memory import projects, redact
from vector_memory.errors import UnsafeTextError
from vector_memory.index import fix_drafts
from vector_memory.index.cursor import Cursor
from vector_memory.index.reader import read_new
from vector_memory.model import CleanText, Memory, Origin, Priority, Source, Status
from vector_memory.service.context import Context
from vector_memory.service.shelf import Shelf

if TYPE_CHECKING:
    from vector_memory.index.memories import Draft

log = logging.getLogger(__name__)


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
        self.drafts += other.drafts
        self.stored += other.stored
        self.unchanged += other.unchanged
        self.redactions += other.redactions
        self.dropped += other.dropped
        self.sessions |= other.sessions


def index_transcript(
    ctx: Context, path: str, folder: str = "", final: bool = False, last_message: str = ""
) -> Captured:
    """Read what is new in a transcript and store it. The cursor moves only when all is stored.

    Args:
        folder: the session's folder; what the transcript's lines say is used without it.
        final: the session is over: what is still open is complete.
        last_message: the last answer, where the transcript lags behind it.
    """
    path = os.path.realpath(path)
    kept = ctx.state.cursor(path)
    cursor = Cursor.from_dict(kept) if kept else None
    redacted = 0

    def clean(text: str) -> str:
        nonlocal redacted
        cleaned = redact.clean(text)
        redacted += cleaned.redactions
        return cleaned.text

    drafts, moved = read_new(
        path, cursor, final=final, last_assistant_message=last_message, clean=clean
    )
    captured = store_drafts(ctx, drafts, folder)
    captured.redactions += redacted
    ctx.count("redactions", redacted)
    ctx.state.set_cursor(path, moved.to_dict())
    return captured


def store_drafts(ctx: Context, drafts: Sequence[Draft], folder: str = "") -> Captured:
    """Redact drafts and write them, each project's to its store."""
    captured = Captured(drafts=len(drafts))
    by_place: dict[str, tuple[projects.Place, list[Draft]]] = {}
    for draft in drafts:
        place = ctx.place(folder or draft.cwd or "/")
        if not _excluded(ctx, place, folder or draft.cwd):
            by_place.setdefault(place.id, (place, []))[1].append(draft)
        captured.sessions.add(draft.session)
    for place, group in by_place.values():
        shelf = ctx.shelf_of(place)
        ctx.know_project(shelf, place)
        _write(ctx, shelf, list(_memories(group, place.id, captured)), captured)
    ctx.count("redactions", captured.redactions)
    ctx.count("texts_dropped", captured.dropped)
    if captured.stored:
        ctx.notify()
    return captured


def _excluded(ctx: Context, place: projects.Place, folder: str) -> bool:
    roots = [os.path.realpath(os.path.expanduser(one)) for one in ctx.settings.excluded_projects]
    here = os.path.realpath(folder or "/")
    return any(
        path == root or path.startswith(root + os.sep)
        for root in roots
        for path in (place.root, here)
    )


def _memories(drafts: Iterable[Draft], project: str, captured: Captured) -> Iterable[Memory]:
    for draft in drafts:
        try:
            yield _memory(draft, project, captured)
        except UnsafeTextError:
            # An error in the scanner means to drop the text, never to store it.
            captured.dropped += 1


def _memory(draft: Draft, project: str, captured: Captured) -> Memory:
    text, title = redact.clean(draft.text), redact.clean(draft.title)
    captured.redactions += text.redactions + title.redactions
    return Memory(
        id=memory_id(draft.external_id, project),
        text=text.text,
        title=title.text,
        created_at=draft.created_at,
        kind=draft.kind,
        collection=draft.collection,
        project=project,
        confidence=draft.confidence,
        priority=Priority(draft.priority),
        origin=Origin(draft.origin),
        tags=_clean_words(draft.tags),
        files=_clean_words(draft.files),
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


def _clean_words(words: Iterable[str]) -> tuple[CleanText, ...]:
    return tuple(redact.clean(word).text for word in words)


def memory_id(external_id: str, project: str) -> str:
    """Return the id of a captured memory: the same exchange always has the same, so that indexing
    it again, in whatever copy of the transcript, adds nothing."""
    words = f"{project}\0{external_id}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(words, digest_size=16).hexdigest()


def _replaces(memory: Memory, stored: Memory | None) -> bool:
    """Whether an exchange has changed since it was stored. A copy in another file that is shorter is
    a fork taken in the middle of it: what is stored says more."""
    if stored is None or stored.status is not Status.ACTIVE or stored.text == memory.text:
        return False
    return stored.source.path == memory.source.path or len(memory.text) > len(stored.text)


def _as_known(memory: Memory, stored: Memory) -> Memory:
    """Return a memory that has grown with what was learned of it since it was first stored."""
    extra = {**stored.extra, **memory.extra}
    return replace(memory, confidence=stored.confidence, extra=extra)


def _write(ctx: Context, shelf: Shelf, memories: list[Memory], captured: Captured) -> None:
    """Add what is new, replace what has grown, and leave alone what is known or was forgotten."""
    known = shelf.journal.by_ids([memory.id for memory in memories])
    fresh = {memory.id: memory for memory in memories if memory.id not in known}
    grown = [memory for memory in memories if _replaces(memory, known.get(memory.id))]
    if fresh:
        shelf.journal.add(list(fresh.values()))
    for memory in grown:
        shelf.journal.update(_as_known(memory, known[memory.id]))
    ctx.count(
        "fixes_learned", sum(one.collection == fix_drafts.COLLECTION for one in fresh.values())
    )
    captured.stored += len(fresh) + len(grown)
    captured.unchanged += len(memories) - len(fresh) - len(grown)
