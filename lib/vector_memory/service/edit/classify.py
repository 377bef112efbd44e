"""Kinds, tags and priorities for memories that have none, by rules; shown first, then set."""

from __future__ import annotations

from dataclasses import replace

from vector_memory.errors import OvertakenError
from vector_memory.index import entities
from vector_memory.index.topics import summaries
from vector_memory.model import OF_TALK, PROPOSED, Memory, Priority, unique
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory import agent_rights, proposals, trust_marks
from vector_memory.service.memory.lookup import lookup
from vector_memory.service.memory.views import MemoryView, extended, view_in
from vector_memory.text import priorities
from vector_memory.text.harmless import without_marked

MOST_LOOKED_AT = 2_000
MOST_TAGS = 3
PLAIN = "note"
TAGGED = ("technology", "project")


class OrganizeRequest(messages.Filter):
    """Kinds, tags and priorities are wanted for the memories of `ids`, or else for the `k` newest of the scope
    that lack them.

    Attributes:
        ids: memories' ids, or how they begin.
        apply: set them, where there are `ids`.
    """

    k: int = messages.number(20, 1, 200)
    ids: tuple[str, ...] = messages.words()
    apply: bool = messages.flag()


class Suggested(messages.Answer):
    """What a memory could have and has not; None for what it has, or what nothing speaks for."""

    kind: str | None = messages.spare()
    tags: tuple[str, ...] | None = messages.spare()
    priority: Priority | None = messages.spare()


NOTHING = Suggested()


class OrganizedView(MemoryView, kw_only=True):
    """A memory as it is now, with what is suggested for it, or was set."""

    suggested: Suggested


class OrganizeAnswer(messages.Answer):
    """Memories for which there is a suggestion, how many of them got it, or a part of it, and of how many a part
    waits for the user."""

    memories: list[OrganizedView]
    applied: int
    proposed: int


def organize(ctx: Context, request: OrganizeRequest) -> OrganizeAnswer:
    """Return kinds, tags and priorities that memories could have, and set them where that is asked for.

    Raises:
        NotFoundError: no memory's id begins so.
    """
    chosen = (
        [lookup(ctx, prefix) for prefix in request.ids]
        if request.ids
        else _newest_suggested(ctx, request)
    )
    is_applied = request.apply and bool(request.ids)
    views: list[OrganizedView] = []
    applied: list[str] = []
    proposed: list[str] = []
    for shelf, memory in chosen:
        suggested = _suggest(memory)
        if suggested == NOTHING:
            continue
        if is_applied:
            try:
                before, memory = memory, _apply(ctx, request, shelf, memory, suggested)
            except OvertakenError:
                # Somebody rewords it: what was suggested was for the old words.
                continue
            if _marks(memory) != _marks(before):
                applied.append(memory.id)
            if memory.proposed:
                proposed.append(memory.id)
                proposals.note(ctx, memory.project)
        views.append(extended(OrganizedView, view_in(shelf, memory), suggested=suggested))
    for action, ids in (("edit", applied), (PROPOSED, proposed)):
        if ids:
            ctx.changed()
            ctx.state.audit(action, request.actor, ids, {"by": "rules"})
    return OrganizeAnswer(views, len(applied), len(proposed))


def _marks(memory: Memory) -> tuple[object, ...]:
    return memory.kind, memory.tags, memory.priority


def _newest_suggested(ctx: Context, request: OrganizeRequest) -> list[tuple[Shelf, Memory]]:
    """Return the newest memories for which there is a suggestion, each with its store."""
    asker = messages.asker_of(ctx, request)
    suggested = [
        (shelf, memory)
        for shelf in asker.shelves
        for memory in shelf.journal.iter_memories(
            asker.scope, newest_first=True, limit=MOST_LOOKED_AT
        )
        if memory.kind not in OF_TALK
        and not memory.is_quiet
        and not memory.is_held
        and _suggest(memory) != NOTHING
    ]
    return suggested[: request.k]


def _suggest(memory: Memory) -> Suggested:
    if agent_rights.is_the_users(memory) or memory.proposed:
        return NOTHING
    text = without_marked(memory.text)
    kind = summaries.intent_of(text) if memory.kind == PLAIN else ""
    parts = [entity.partition(":") for entity in entities.entities(memory.text, memory.files)]
    tags = tuple(name for kind_of_name, _, name in parts if kind_of_name in TAGGED)[:MOST_TAGS]
    priority = priorities.suggest(text, without_marked(memory.title))
    # Nobody's words become a core rule because they sound like one.
    is_weightier = memory.priority is Priority.NORMAL and priority is not Priority.NORMAL
    return Suggested(
        kind or None,
        tags if tags and not memory.tags else None,
        Priority.HIGH if is_weightier and memory.trust else None,
    )


def _apply(
    ctx: Context, request: OrganizeRequest, shelf: Shelf, memory: Memory, suggested: Suggested
) -> Memory:
    """Set what is suggested for a memory; weight that an agent would give it waits for the user."""
    changed = replace(
        memory,
        kind=suggested.kind or memory.kind,
        tags=unique((*memory.tags, *(suggested.tags or ()))),
        priority=suggested.priority or memory.priority,
        updated_at=ctx.now(),
    )
    if memory.is_foreign or memory.is_suspicious:
        changed = trust_marks.as_information(changed)
    wishes = proposals.weight_asked(memory, changed) if request.is_agent else {}
    if wishes:
        unweighted = replace(changed, **{name: getattr(memory, name) for name in wishes})
        changed = proposals.suggested(unweighted, wishes)
    return shelf.journal.update(changed, memory)
