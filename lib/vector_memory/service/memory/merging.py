"""Two memories that say the same become one: which of each is kept."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from vector_memory.aging import of_ageing, without_ageing
from vector_memory.model import (
    BINDING,
    MOST_TRIGGERS,
    PASSAGE,
    TRIGGERS,
    Memory,
    Origin,
    Priority,
    Status,
    Temporal,
    strictest,
    unique,
)
from vector_memory.service.memory import trust_marks
from vector_memory.system.json_in import Record

RAISED = 0.1
"""What a memory's confidence gains when it is said again."""
MOST_SOURCES = 32
VOICES = "voices"
"""In `extra`: the origins of all that was merged into it."""
PLAIN_KIND = "note"

_PRIORITIES = tuple(Priority)[::-1]


def may_merge(stored: Memory, draft: Memory) -> bool:
    """Whether two memories of one text could be one: of one sort, in one collection, and not under
    two headings."""
    kinds = {stored.kind, draft.kind} - {PLAIN_KIND}
    titles = {stored.title, draft.title} - {""}
    return (
        not (stored.proposed or draft.proposed)
        and PASSAGE not in kinds
        and len(kinds) < 2
        and len(titles) < 2
        and stored.collection == draft.collection
    )


def knows(stored: Memory, draft_id: str) -> bool:
    """Whether a memory of this id was merged into a stored one."""
    return any(source.get("id") == draft_id for source in sources_of(stored))


def sources_of(memory: Memory) -> list[Record]:
    """Return where else a memory was said, the oldest first: what was merged into it."""
    return Record(memory.extra).parts("sources")


def sessions_of(memory: Memory) -> dict[str, str]:
    """Return the sessions in which a memory was said, each with the ISO time of the last saying there."""
    sayings = [(memory.source.session, memory.created_at.isoformat())]
    sayings += [
        (str(source.get("session", "")), str(source.get("at", ""))) for source in sources_of(memory)
    ]
    return {session: at for session, at in sorted(sayings, key=lambda pair: pair[1]) if session}


def said_again(stored: Memory, draft: Memory) -> Memory | None:
    """Return a stored memory with where the user said the same words once more, None where that is known: a
    copy of a transcript has another session's name, and the same time."""
    sessions = sessions_of(stored)
    is_binding = draft.kind in BINDING and draft.origin is Origin.USER
    if not is_binding or stored.status is not Status.ACTIVE or stored.origin is not draft.origin:
        return None
    if draft.source.session in sessions or draft.created_at.isoformat() in sessions.values():
        return None
    new_source = {name: value for name, value in source_of(draft).items() if name != "id"}
    sources = [*sources_of(stored), new_source][-MOST_SOURCES:]
    return replace(stored, extra={**stored.extra, "sources": sources})


def merge(stored: Memory, draft: Memory, now: datetime) -> Memory:
    """Return the stored memory with the newer wording, all tags and files, the higher priority, and the
    draft's source beside its own; surer where another voice says it. What one says who is trusted less
    adds where it was said, and nothing else that counts."""
    wording = draft if _draft_prevails(stored, draft) else stored
    both = joined(stored, draft, wording)
    ages = merged_ageing(stored, draft)
    extra = with_triggers(both.extra, stored, draft)
    return replace(
        both,
        text=wording.text,
        origin=wording.origin,
        title=stored.title or draft.title,
        kind=_kind(stored, draft),
        priority=higher_priority(stored, draft),
        confidence=raised_confidence(stored, draft),
        external_id=stored.external_id or draft.external_id,
        expires_at=_later_time(stored.expires_at, draft.expires_at),
        **ages,
        extra={**without_ageing(extra), **of_ageing(draft.extra)} if ages else extra,
        updated_at=now,
    )


def joined(kept: Memory, other: Memory, wording: Memory) -> Memory:
    """Return a memory with what it has of another one whichever of the two prevails: tags and files of both, where both
    were said, and the stricter level. The marks are those of the one whose words stand, `wording`."""
    sources: list[dict[str, object]] = [*sources_of(kept), *sources_of(other), source_of(other)]
    sources.sort(key=lambda source: str(source.get("at", "")))
    extra = {
        **trust_marks.unmarked(other.extra),
        **trust_marks.unmarked(kept.extra),
        **trust_marks.marks_of(wording),
        VOICES: sorted(_voices(kept) | _voices(other)),
        "sources": sources[-MOST_SOURCES:],
    }
    return replace(
        kept,
        tags=unique((*kept.tags, *other.tags)),
        files=unique((*kept.files, *other.files)),
        sensitivity=strictest(kept.sensitivity, other.sensitivity),
        jurisdiction=kept.jurisdiction or other.jurisdiction,
        extra=extra,
    )


def with_triggers(extra: dict[str, Any], stored: Memory, draft: Memory) -> dict[str, Any]:
    """Return what is kept in `extra` of two memories with the conditions under which both come, the newest of too
    many; who is trusted less has no say in it."""
    most = max(stored.trust, draft.trust)
    heard = [Record(one.extra) for one in (stored, draft) if one.trust == most]
    triggers = unique(word for one in heard for word in one.words(TRIGGERS))[-MOST_TRIGGERS:]
    without = {name: value for name, value in extra.items() if name != TRIGGERS}
    return {**without, TRIGGERS: list(triggers)} if triggers else without


def raised_confidence(stored: Memory, other: Memory, most: float = 1.0) -> float:
    """Return how sure it is what two memories say. Another's word makes it surer, once; nobody's does by
    being repeated, nor that of one who is trusted less."""
    if other.trust < stored.trust or not _voices(other) - _voices(stored):
        return stored.confidence
    return max(stored.confidence, min(most, round(stored.confidence + RAISED, 4)))


def _voices(memory: Memory) -> set[str]:
    """Return whose words a memory was made of."""
    return {memory.origin.value, *map(str, memory.extra.get(VOICES) or ())}


def _draft_prevails(stored: Memory, draft: Memory) -> bool:
    """Whether the draft's words stand for both: the more trusted one's, of equals the one's that weighs
    more, so that nobody else's words get its weight, and then the newer."""
    if draft.trust != stored.trust:
        return draft.trust > stored.trust
    if draft.origin is not stored.origin and bool(draft.weight) != bool(stored.weight):
        return bool(draft.weight)
    times = [str(source["at"]) for source in sources_of(stored) if source.get("at")]
    last_said_at = max([stored.created_at, *map(datetime.fromisoformat, times)])
    return draft.created_at >= last_said_at


def higher_priority(stored: Memory, draft: Memory) -> Priority:
    """Return the higher priority of two memories; who is trusted less has no say in it."""
    if draft.trust != stored.trust or draft.origin is not stored.origin:
        return (draft if _draft_prevails(stored, draft) else stored).priority
    # NORMAL is what a draft has of whose priority nobody spoke.
    if draft.priority is Priority.NORMAL:
        return stored.priority
    return max(stored.priority, draft.priority, key=_PRIORITIES.index)


def _kind(stored: Memory, draft: Memory) -> str:
    """Return what both are; whose words do not stand does not say it."""
    if stored.kind != PLAIN_KIND or draft.trust < stored.trust:
        return stored.kind
    is_outweighed = draft.weight and not _draft_prevails(stored, draft)
    return stored.kind if is_outweighed else draft.kind


def merged_ageing(stored: Memory, draft: Memory) -> dict[str, Any]:
    """Return how both age, as what was said last of it; who is trusted less has no say in it."""
    if draft.temporal is Temporal.PERMANENT or draft.trust < stored.trust:
        return {}
    names = ("temporal", "valid_from", "valid_until")
    return {name: getattr(draft, name) for name in names}


def _later_time(first: datetime | None, other: datetime | None) -> datetime | None:
    return None if first is None or other is None else max(first, other)


def source_of(draft: Memory) -> dict[str, object]:
    """Return where a draft comes from, without what is unknown."""
    source = {
        "id": draft.id,
        "at": draft.created_at.isoformat(),
        "origin": draft.origin.value,
        "external_id": draft.external_id,
        **asdict(draft.source),
    }
    return {name: value for name, value in source.items() if value}
