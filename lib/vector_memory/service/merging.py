"""Two memories that say the same become one: which of each is kept."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from vector_memory.model import PASSAGE, Memory, Priority, Sensitivity, unique
from vector_memory.service import standing

RAISED = 0.1
"""What a memory's confidence gains when it is said again."""
MOST_SOURCES = 32
PLAIN_KIND = "note"

_PRIORITIES = (Priority.LOW, Priority.NORMAL, Priority.HIGH, Priority.CORE)
_SENSITIVITIES = (
    Sensitivity.PUBLIC,
    Sensitivity.INTERNAL,
    Sensitivity.CONFIDENTIAL,
    Sensitivity.RESTRICTED,
)


def may_merge(stored: Memory, draft: Memory) -> bool:
    """Whether two memories of one text could be one: of one sort, in one collection, and not under
    two headings."""
    kinds = {stored.kind, draft.kind} - {PLAIN_KIND}
    titles = {stored.title, draft.title} - {""}
    return (
        PASSAGE not in kinds
        and len(kinds) < 2
        and len(titles) < 2
        and stored.collection == draft.collection
    )


def knows(stored: Memory, draft_id: str) -> bool:
    """Whether a memory of this id was merged into a stored one."""
    return any(one.get("id") == draft_id for one in sources_of(stored))


def sources_of(memory: Memory) -> list[dict[str, Any]]:
    """Return where else a memory was said, the oldest first: what was merged into it."""
    found = memory.extra.get("sources")
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def merge(stored: Memory, draft: Memory, now: datetime) -> Memory:
    """Return the stored memory with the newer wording, all tags and files, the higher priority, a
    raised confidence, and the draft's source beside its own. What one says who is trusted less adds
    where it was said, and nothing else that counts."""
    wording = draft if _has_the_say(stored, draft) else stored
    extra = {
        **standing.unmarked(draft.extra),
        **standing.unmarked(stored.extra),
        **standing.marks_of(wording),
    }
    extra["sources"] = [*sources_of(stored), *sources_of(draft), source_of(draft)][-MOST_SOURCES:]
    return replace(
        stored,
        text=wording.text,
        origin=wording.origin,
        title=stored.title or draft.title,
        kind=_kind(stored, draft),
        tags=unique((*stored.tags, *draft.tags)),
        files=unique((*stored.files, *draft.files)),
        priority=higher(stored, draft),
        confidence=min(1.0, stored.confidence + (RAISED if draft.trust >= stored.trust else 0.0)),
        sensitivity=max(stored.sensitivity, draft.sensitivity, key=_SENSITIVITIES.index),
        external_id=stored.external_id or draft.external_id,
        expires_at=_later(stored.expires_at, draft.expires_at),
        extra=extra,
        updated_at=now,
    )


def _has_the_say(stored: Memory, draft: Memory) -> bool:
    """Whether the draft's words stand for both: the more trusted one's, of equals the newer."""
    if draft.trust != stored.trust:
        return draft.trust > stored.trust
    said = [str(one["at"]) for one in sources_of(stored) if one.get("at")]
    last = max([stored.created_at, *map(datetime.fromisoformat, said)])
    return draft.created_at >= last


def higher(stored: Memory, draft: Memory) -> Priority:
    """Return the higher priority of two memories; who is trusted less has no say in it."""
    if draft.trust != stored.trust:
        return (draft if draft.trust > stored.trust else stored).priority
    # NORMAL is what a draft has of whose priority nobody spoke.
    if draft.priority is Priority.NORMAL:
        return stored.priority
    return max(stored.priority, draft.priority, key=_PRIORITIES.index)


def _kind(stored: Memory, draft: Memory) -> str:
    """Return what both are; who is trusted less does not say it."""
    if stored.kind != PLAIN_KIND or draft.trust < stored.trust:
        return stored.kind
    return draft.kind


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return None if one is None or other is None else max(one, other)


def source_of(draft: Memory) -> dict[str, Any]:
    """Return where a draft comes from, without what is unknown."""
    told = {
        "id": draft.id,
        "at": draft.created_at.isoformat(),
        "origin": draft.origin.value,
        "external_id": draft.external_id,
        **asdict(draft.source),
    }
    return {name: value for name, value in told.items() if value}
