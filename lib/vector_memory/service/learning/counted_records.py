"""What observers keep count of: memories of a quiet collection, one for each key of a project, that are
written anew as they learn. They are forgotten and purged like all others; lists, exports and questions
leave them out unless they name their collection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from vector_memory import projects, redact
from vector_memory.errors import UnsafeTextError
from vector_memory.model import (
    Memory,
    Origin,
    Priority,
    Scope,
    Sensitivity,
    Source,
    Status,
    Temporal,
    digest_of,
    strictest,
)
from vector_memory.redact import levels
from vector_memory.service.base.asker import ProjectAsker
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf


@dataclass(frozen=True)
class CountedRecord:
    """What is to be kept under a key. `text` says it in words that a reader understands; what is counted
    stands in `extra`. Everything in it must be words that went through redaction or are our own: only
    `title` and `text` are redacted here."""

    collection: str
    key: str
    text: str
    title: str = ""
    kind: str = "record"
    tags: tuple[str, ...] = ()
    session: str = ""
    origin: Origin = Origin.JOB
    expires_at: datetime | None = None
    extra: dict[str, Any] = field(default_factory=dict)


def id_of(place: projects.Place, collection: str, key: str) -> str:
    """Return the id of a project's record: the same at any time."""
    return digest_of(place.id, collection, key)


def keep(ctx: Context, asker: ProjectAsker, record: CountedRecord) -> Memory | None:
    """Store a record, or write the one of its key anew; None where it was forgotten on purpose.

    Raises:
        UnsafeTextError: its words could not be redacted.

    Returns:
        The memory as it is stored.
    """
    place, shelf = asker.place, asker.own_shelf
    id = id_of(place, record.collection, record.key)
    with shelf.storing:
        existing = shelf.journal.by_ids([id]).get(id)
        if existing is not None and existing.status is Status.FORGOTTEN:
            return None
        if existing is not None:
            return rewrite(ctx, shelf, existing, record)
        ctx.know_project(shelf, place)
        stored = shelf.journal.add([_memory(record, id, place.id, ctx.now())])[0]
    ctx.notify()
    return stored


def rewrite(ctx: Context, shelf: Shelf, existing: Memory, record: CountedRecord) -> Memory:
    """Write a record's memory anew, and return it as it is stored.

    Raises:
        UnsafeTextError: its words could not be redacted.
    """
    now = ctx.now()
    rewritten = _memory(record, existing.id, existing.project, now)
    by_rules = _with_level(replace(existing, sensitivity=Sensitivity.INTERNAL), existing.extra)
    # What the rules made of words that are gone ends with them; what the user set stays.
    set_by_user = strictest(existing.sensitivity, by_rules.sensitivity) is not by_rules.sensitivity
    level = (
        strictest(rewritten.sensitivity, existing.sensitivity)
        if set_by_user
        else rewritten.sensitivity
    )
    rewritten = replace(
        rewritten,
        created_at=existing.created_at,
        updated_at=now,
        seq=existing.seq,
        sensitivity=level,
    )
    stored = shelf.journal.update(rewritten, existing)
    ctx.notify()
    return stored


def _memory(record: CountedRecord, id: str, project: str, now: datetime) -> Memory:
    memory = Memory(
        id,
        redact.clean(record.text).text,
        now,
        kind=record.kind,
        title=redact.clean(record.title).text,
        collection=record.collection,
        project=project,
        priority=Priority.LOW,
        origin=record.origin,
        temporal=Temporal.DECAYING,
        tags=record.tags,
        source=Source(session=record.session),
        expires_at=record.expires_at,
        extra=record.extra,
    )
    return _with_level(memory, record.extra)


def _with_level(memory: Memory, extra: Mapping[str, object]) -> Memory:
    return levels.raised(memory, list(levels.strings_in(extra)))


def keep_new(ctx: Context, asker: ProjectAsker, record: CountedRecord) -> bool:
    """Store a record whose `extra` says anything new; return whether that was done."""
    existing = get(asker, record.collection, record.key)
    if existing is not None and existing.extra == record.extra:
        return False
    try:
        return keep(ctx, asker, record) is not None
    except UnsafeTextError:
        ctx.count("texts_dropped")
        return False


def get(asker: ProjectAsker, collection: str, key: str) -> Memory | None:
    """Return a project's record of a key, None without one."""
    record_id = id_of(asker.place, collection, key)
    memory = asker.own_shelf.journal.by_ids([record_id]).get(record_id)
    return memory if memory is not None and memory.status is Status.ACTIVE else None


def counted_records_of(
    asker: ProjectAsker, collection: str, k: int = 1_000, kinds: Sequence[str] = ()
) -> list[Memory]:
    """Return a project's records of a collection, newest first."""
    scope = Scope(projects=(asker.place.id,), collections=(collection,), kinds=tuple(kinds))
    return asker.own_shelf.journal.recent(scope, k)


def drop(ctx: Context, shelf: Shelf, records: Sequence[Memory]) -> None:
    """Remove records that have nothing to say any more, for good: nobody forgot them on purpose."""
    if records:
        shelf.journal.purge([record.id for record in records])
        ctx.notify()
