"""Memories as programs see them: the answers of all verbs that show one."""

from __future__ import annotations

from dataclasses import asdict, field, fields
from datetime import date, datetime, timezone
from enum import Enum
from typing import Any, TypeVar

from vector_memory import aging
from vector_memory.model import TRIGGERS, Memory, Sensitivity
from vector_memory.retrieve.search import Hit
from vector_memory.service.base import messages
from vector_memory.service.base.messages import spare
from vector_memory.service.base.shelf import ProjectNames, Shelf, project_names
from vector_memory.service.memory import trust_marks
from vector_memory.service.memory.merging import sources_of
from vector_memory.system.json_in import Record
from vector_memory.text import days
from vector_memory.text.harmless import with_old_marked

B = TypeVar("B", bound="BriefView")
V = TypeVar("V", bound="MemoryView")


class BriefView(messages.Answer, kw_only=True):
    """A memory in brief.

    Attributes:
        foreign: somebody else wrote it and the user did not vouch for it.
        by_model: a language model found it in a session.
        state: `done` of what is open no more, `rejected` or the like of a decision that is not in force.
        sensitivity: who may see it, where that is not as usual; `jurisdiction` whose law it is kept under.
        proposed: what an agent would have it count as; it waits for the user.
        suspicious: why it looks like instructions.
        due_on: the last day of a deadline, or the next one on which it comes back; `refuted_on` when somebody found
            that it is not so, `outdated_on` that it holds no more, `edited_on` the
            later day on which the user gave it these words.
    """

    id: str
    text: str
    kind: str
    created_at: datetime
    origin: str
    foreign: bool | None = spare()
    by_model: bool | None = spare()
    state: str | None = spare()
    sensitivity: str | None = spare()
    jurisdiction: str | None = spare()
    proposed: dict[str, object] | None = spare()
    suspicious: trust_marks.SuspicionView | None = spare()
    due_on: str | None = spare()
    refuted_on: str | None = spare()
    outdated_on: str | None = spare()
    edited_on: str | None = spare()


class MemoryView(BriefView, kw_only=True):
    """A memory.

    Attributes:
        project: its project's name, "" for a global memory.
        source: where it was said: `session`, `path`, `turn` and more.
        sources: where else it was said, the oldest first.
        external_id: what another program calls it.
        author: `key` and `name` of the member of a team who shared it.
        triggers: conditions under which it comes by itself.
        temporal: how it ages; `every` how often it comes back, `half_life_days` after how many days without
            use half of its confidence is gone, where it is.
        confidence: how sure it is now.
        tier: how near at hand it is kept.
        last_used_at: when it was last given to a session or asked for.
    """

    title: str
    project: str
    project_id: str
    source: dict[str, object]
    sources: list[Record] | None = spare()
    external_id: str | None
    author: dict[str, str] | None = spare()
    tags: tuple[str, ...]
    files: tuple[str, ...]
    entities: tuple[str, ...]
    priority: str
    confidence: float
    collection: str
    status: str
    uses: int
    last_used_at: datetime | None
    tier: str
    temporal: str
    valid_from: datetime | None
    valid_until: datetime | None
    expires_at: datetime | None
    every: str | None = spare()
    half_life_days: float | None = spare()
    triggers: list[str] | None = spare()


class MemoriesAnswer(messages.Answer):
    """Memories, and how many there are in all."""

    memories: list[MemoryView]
    total: int


class OlderView(messages.Answer):
    """A memory that says something else, by its id and time."""

    id: str
    created_at: datetime


class HitView(MemoryView, kw_only=True):
    """A memory that answers a question, with its score from 0 to 1 and what that is made of.

    Attributes:
        relevance: how likely it answers, from 0 to 1; it compares between questions, the score does not.
        fits: whether that is enough for an answer.
        before: texts said right before it in its session, in their order; `after` those after it.
        history: what it was before.
    """

    score: float
    relevance: float
    fits: bool
    breakdown: dict[str, float]
    contradicts: list[OlderView] | None = spare()
    before: list[str] | None = spare()
    after: list[str] | None = spare()
    history: HistoryView | None = spare()


class StageView(messages.Answer):
    """A memory in a chain, from when until when it held (None for still), and why it gave way, or why its
    words are not those that it was stored with; left out where nobody knows."""

    id: str
    text: str
    status: str
    since: datetime = field(metadata={"name": "from"})
    until: datetime | None
    reason: str | None = spare()


class HistoryView(messages.Answer):
    """A chain of memories that gave way one to another, oldest first, and the same as a sentence."""

    chain: list[StageView]
    summary: str


def values_for(view: type[object], source: object) -> dict[str, Any]:
    """Return what something, such as a memory, says of itself under the names of a view's fields, as plain values."""
    names = [field.name for field in fields(view) if hasattr(source, field.name)]  # type: ignore[arg-type]
    values = ((name, getattr(source, name)) for name in names)
    return {name: value.value if isinstance(value, Enum) else value for name, value in values}


def brief(view: type[B], memory: Memory, /, now: datetime | None = None, **more: Any) -> B:
    """Return a memory as a view that shows it in brief.

    Args:
        now: from when on it may come back, this moment by default.
        more: the fields of the view that a memory does not have, and those that it shows otherwise.
    """
    now = days.local_time(now or datetime.now(timezone.utc))
    is_as_usual = memory.sensitivity is Sensitivity.INTERNAL
    marks = {
        "foreign": memory.is_foreign or None,
        "by_model": memory.is_by_model or None,
        "state": memory.state or None,
        "sensitivity": None if is_as_usual else memory.sensitivity.value,
        "jurisdiction": memory.jurisdiction or None,
        "proposed": None,
        "due_on": _day(aging.due_on(memory, now)),
        **{name: day.isoformat() for name, day in aging.noted_on(memory).items()},
    }
    values = values_for(view, memory) | marks | trust_marks.warning(memory)
    return view(**values | more)


def _day(day: date | None) -> str | None:
    return day.isoformat() if day else None


def memory_view(memory: Memory, names: ProjectNames, now: datetime | None = None) -> MemoryView:
    """Return a memory as programs see it.

    Args:
        names: the projects' names by their ids.
        now: for when its confidence is told, this moment by default.
    """
    now = now or datetime.now(timezone.utc)
    return brief(
        MemoryView,
        memory,
        now,
        text=with_old_marked(memory.text),
        project=names[memory.project],
        project_id=memory.project,
        source=asdict(memory.source),
        sources=sources_of(memory) or None,
        external_id=memory.external_id or None,
        author=memory.author or None,
        confidence=round(aging.confidence(memory, now), 4),
        triggers=memory.extra.get(TRIGGERS) or None,
        every=str(memory.extra.get(aging.EVERY) or "") or None,
        half_life_days=aging.half_life_days(memory),
    )


def view_in(shelf: Shelf, memory: Memory) -> MemoryView:
    """Return a memory of a store as programs see it now."""
    return memory_view(memory, project_names([shelf]))


def hit_view(hit: Hit, names: ProjectNames, now: datetime | None = None, **more: Any) -> HitView:
    """Return a hit as programs see it.

    Args:
        more: what else is told of it, by the fields of `HitView`.
    """
    older = [OlderView(memory.id, memory.created_at) for memory in hit.against]
    details = {"contradicts": older or None, **more}
    view = memory_view(hit.memory, names, now)
    return extended(
        HitView,
        view,
        score=round(hit.score, 4),
        relevance=round(hit.relevance, 4),
        fits=hit.fits,
        breakdown=hit.breakdown,
        **details,
    )


def extended(kind: type[V], view: MemoryView, **more: Any) -> V:
    """Return a view with more fields: those that a kind of view has beside the ones of `view`."""
    return kind(**{**view.__dict__, **more})
