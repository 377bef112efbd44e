"""Whether something is said otherwise in memory: a text that is about to be relied on, or a memory."""

from __future__ import annotations

from vector_memory import redact
from vector_memory.errors import BadInputError
from vector_memory.model import Memory, Origin, Relation
from vector_memory.service.base import messages, reach
from vector_memory.service.base.context import Context, new_id
from vector_memory.service.base.shelf import Shelf, project_names
from vector_memory.service.memory import agent_rights, links, placement, proposals
from vector_memory.service.memory.lookup import is_open, lookup
from vector_memory.service.memory.placement import Neighbour, neighbours
from vector_memory.service.memory.views import MemoryView, extended, memory_view

MAX_CHARS, SHOWN_CHARS = 20_000, 200
MOST_UNSETTLED = 50
RESOLVED = ("keep_newer", "keep_first", "both_hold")


class ContradictionsRequest(messages.Request):
    """What is to be compared with memory: a memory by its id or how that begins, or else a text; with neither all
    that stands against something else is wanted.

    Attributes:
        resolve: one of `RESOLVED`: how a contradiction between two memories (`ids`) is settled.
    """

    id: str = messages.maybe_text(64)
    text: str = messages.maybe_text(MAX_CHARS)
    resolve: str = messages.word()
    ids: tuple[str, ...] = messages.words()


class ComparedView(MemoryView, kw_only=True):
    """A memory, and what it is to what was asked about.

    Attributes:
        relation: `contradicts` or `same`.
        reason: the words by which both differ; `linked` where somebody has linked them so.
    """

    relation: str
    reason: str


class ContradictionsAnswer(messages.Answer):
    """What speaks against a text or a memory, and what says the same.

    Attributes:
        settled: what was done about the two that were named, in a sentence.
    """

    contradictions: list[ComparedView]
    agreements: list[ComparedView]
    settled: str | None = messages.spare()


def check(ctx: Context, request: ContradictionsRequest) -> ContradictionsAnswer:
    """Return the memories that speak against a text or a memory, and those that say the same, and store nothing;
    or settle which of two holds.

    Raises:
        NotFoundError: no memory's id begins so.
        BadInputError: two that are to be settled do not contradict each other, or one is the user's to change.
        UnsafeTextError: the redactor could not handle the text.
    """
    if request.resolve:
        return ContradictionsAnswer([], [], _settle(ctx, request))
    if not (request.id or request.text):
        return ContradictionsAnswer(_unsettled_views(ctx, request), [])
    ctx.embedding.wait(3.0)
    if request.id:
        shelf, memory = lookup(ctx, request.id)
    else:
        text, place = redact.clean(request.text).text, messages.place_of(ctx, request)
        shelf, project = ctx.shelf_of(place), place.id if place else ""
        memory = Memory(
            new_id(), text, ctx.now(), project=project, origin=Origin.ASSISTANT, confidence=0.7
        )
    views = _compare(ctx, shelf, memory)
    return ContradictionsAnswer(
        [view for view in views if view.relation == "contradicts"],
        [view for view in views if view.relation == "same"],
    )


def _settle(ctx: Context, request: ContradictionsRequest) -> str:
    """Settle a contradiction: one of two gives way and stays in the other's history, or both hold."""
    if request.resolve not in RESOLVED or len(request.ids) != 2:
        raise BadInputError(
            f"{request.resolve[:40]!r} settles nothing between {len(request.ids)} memories.",
            f"Give two ids, and one of {', '.join(RESOLVED)}; keep_first keeps the first.",
        )
    fields = {"actor": request.actor, "project": request.project, "cwd": request.cwd}
    agent_rights.require_allowed(ctx, "link", fields)
    (shelf, first), (_, second) = (lookup(ctx, id) for id in request.ids)
    if second.id not in [other.id for other in _linked(shelf, first)]:
        raise BadInputError(
            f"{first.id[:12]} and {second.id[:12]} are not known to contradict each other.",
            "contradiction_check without arguments lists what does; memory_link says what holds.",
        )
    if request.resolve == "both_hold":
        if not request.is_agent:
            # First: where somebody changes it meanwhile, all of this is done once more.
            shelf.journal.update(proposals.reviewed(first, "kept", ctx.now(), [second.id]), first)
        links.reconcile(shelf, first, second)
        ctx.state.audit("link", request.actor, [first.id, second.id], {"action": "both_hold"})
        return f"{first.id[:12]} and {second.id[:12]} both hold."
    if request.resolve == "keep_newer" and second.created_at > first.created_at:
        first, second = second, first
    link_fields = {"from": first.id, "to": second.id, "relation": Relation.SUPERSEDES.value}
    links.link(ctx, messages.read(links.LinkRequest, {**link_fields, "actor": request.actor}))
    return f"{first.id[:12]} holds, and {second.id[:12]} gave way to it."


def _unsettled_views(ctx: Context, request: ContradictionsRequest) -> list[ComparedView]:
    """Return what is linked as a contradiction and holds on both sides: of each pair one, with the other named."""
    asker = messages.asker_of(ctx, request)
    views = []
    for shelf in asker.shelves:
        pairs = shelf.journal.linked_pairs((Relation.CONTRADICTS,), 0.0, MOST_UNSETTLED)
        by_id = shelf.journal.by_ids([id for pair in pairs for id in pair[:2]])
        names = project_names([shelf])
        for memory, other in ((by_id[first], by_id[second]) for first, second, _ in pairs):
            if all(asker.scope.holds(end) and is_open(end) for end in (memory, other)):
                reason = f"against {other.id[:12]}: {other.text[:SHOWN_CHARS]}"
                view = memory_view(memory, names)
                views.append(extended(ComparedView, view, relation="contradicts", reason=reason))
    return views


def _compare(ctx: Context, shelf: Shelf, memory: Memory) -> list[ComparedView]:
    """Return what speaks against a memory, or says the same, nearest first."""
    names = project_names([shelf])
    vector = placement.vector_of(ctx, memory)
    views: dict[str, ComparedView] = {}
    for neighbour in neighbours(ctx, shelf, memory, vector):
        if not (is_open(neighbour.memory) and reach.holds(neighbour.memory)):
            continue
        relation, reason = _relation(memory, neighbour)
        if relation:
            view = memory_view(neighbour.memory, names)
            views[view.id] = extended(ComparedView, view, relation=relation, reason=reason)
    for other in _linked(shelf, memory):
        if is_open(other):
            view = memory_view(other, names)
            linked_view = extended(ComparedView, view, relation="contradicts", reason="linked")
            views.setdefault(other.id, linked_view)
    return list(views.values())


def _relation(memory: Memory, neighbour: Neighbour) -> tuple[str, str]:
    """Return what a neighbour is to a memory, "" for nothing that is told, and by which words."""
    if placement.says_same(memory, neighbour):
        return "same", ""
    tie = placement.tie_of(memory, neighbour)
    if tie is None or tie.relation not in (Relation.CONTRADICTS, Relation.SUPERSEDES):
        return "", ""
    return "contradicts", tie.reason


def _linked(shelf: Shelf, memory: Memory) -> list[Memory]:
    ids = [
        link.end_beyond(memory.id)
        for link in shelf.journal.links_of([memory.id])
        if link.relation is Relation.CONTRADICTS
    ]
    return reach.visible(shelf.journal.by_ids(ids).values())
