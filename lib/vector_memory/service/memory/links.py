"""Links between memories, made and removed by hand."""

from __future__ import annotations

from dataclasses import field

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.model import Link, Memory, Relation
from vector_memory.service.base import messages, reach
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory import agent_rights
from vector_memory.service.memory.lookup import lookup
from vector_memory.service.memory.views import BriefView, brief

ID_CHARS = 64


class LinkRequest(messages.Request):
    """One memory is to be linked to another, or their links are to be removed.

    Attributes:
        from_id: the id of the first memory, or how it begins; `to_id` that of the second.
        relation: what the first is to the second; None for `relates_to`, or, where links are removed, for all.
        remove: their links are to go.
    """

    from_id: str = messages.text(ID_CHARS, "from")
    to_id: str = messages.text(ID_CHARS, "to")
    relation: Relation | None = messages.one_of(Relation, None)
    remove: bool = messages.flag()


class LinkAnswer(messages.Answer):
    """What was done about the links from one memory to another.

    Attributes:
        action: `linked` or `removed`.
        removed: how many links are gone.
        relation: how they are linked now.
    """

    from_id: str = field(metadata={messages.NAME: "from"})
    to_id: str = field(metadata={messages.NAME: "to"})
    action: str
    removed: int | None = messages.spare()
    relation: Relation | None = messages.spare()


def link(ctx: Context, request: LinkRequest) -> LinkAnswer:
    """Link one memory to another, or remove their links with `remove`.

    A memory that another one `supersedes` gives way to it, and holds again when that is removed.

    Raises:
        NotFoundError: there is no such memory, or no such link to remove.
        BadInputError: the memories are one, or of two stores, or only the user may link them so.

    Returns:
        The two memories, and the links between them now.
    """
    shelf, memory, other = _ends(ctx, request)
    # No rule of the user's gives way to an agent's word, or comes back by it.
    is_about_holding = request.relation is Relation.SUPERSEDES or (
        request.remove and other.superseded_by
    )
    if request.is_agent and is_about_holding:
        agent_rights.require_not_the_users(other)
    if request.remove:
        removed = _unlink(ctx, shelf, memory, other, request.relation)
        answer = LinkAnswer(memory.id, other.id, "removed", removed=removed)
        detail: dict[str, object] = {"action": answer.action, "removed": removed}
    else:
        relation = request.relation or Relation.RELATES_TO
        _link(ctx, shelf, memory, other, relation)
        answer = LinkAnswer(memory.id, other.id, "linked", relation=relation)
        detail = {"action": answer.action, "relation": relation.value}
    ctx.state.audit("link", request.actor, [memory.id, other.id], detail)
    return answer


class IdRequest(messages.Request):
    """One memory, or its links, are wanted, by its id or the beginning of it."""

    id: str = messages.text(ID_CHARS)


class LinkedView(BriefView, kw_only=True):
    """The memory at the other end of a link."""

    status: str


class LinkView(messages.Answer):
    """A link of a memory.

    Attributes:
        relation: what the memory `from_id` is to the memory `to_id`.
        direction: `out` where the memory asked about is `from_id`, else `in`.
        weight: how close both are, up to 1.
    """

    from_id: str = field(metadata={messages.NAME: "from"})
    to_id: str = field(metadata={messages.NAME: "to"})
    relation: Relation
    direction: str
    weight: float
    other: LinkedView


class LinksAnswer(messages.Answer):
    """A memory and its links."""

    id: str
    text: str
    links: list[LinkView]


def links(ctx: Context, request: IdRequest) -> LinksAnswer:
    """Return a memory's links to what who asks may be given, each with the memory at its other end."""
    shelf, memory = lookup(ctx, request.id)
    pairs = [(tie, tie.end_beyond(memory.id)) for tie in shelf.journal.links_of([memory.id])]
    by_id = shelf.journal.by_ids([end for _, end in pairs])
    ends = {other.id: other for other in reach.visible(by_id.values())}
    views = [_link_view(tie, memory, ends[end]) for tie, end in pairs if end in ends]
    return LinksAnswer(memory.id, memory.text, views)


def _ends(ctx: Context, request: LinkRequest) -> tuple[Shelf, Memory, Memory]:
    shelf, memory = lookup(ctx, request.from_id)
    owner, other = lookup(ctx, request.to_id)
    if memory.id == other.id:
        raise BadInputError("A memory cannot be linked to itself.", "Give two different ids.")
    if owner is not shelf:
        raise BadInputError(
            "These memories are in two stores.", "Only memories of one store can be linked."
        )
    return shelf, memory, other


def _link(ctx: Context, shelf: Shelf, memory: Memory, other: Memory, relation: Relation) -> None:
    now = ctx.now()
    if relation is Relation.SUPERSEDES:
        shelf.journal.supersede(other.id, memory.id, now, "replaced on request")
        # What was a likely replacement is one now.
        reconcile(shelf, memory, other)
        ctx.notify()
    else:
        shelf.journal.link(Link(memory.id, other.id, relation, created_at=now))


def reconcile(shelf: Shelf, memory: Memory, other: Memory) -> None:
    """Have neither of two memories count any longer as contradicting the other."""
    for ends in ((memory.id, other.id), (other.id, memory.id)):
        shelf.journal.unlink(*ends, Relation.CONTRADICTS)


def _unlink(
    ctx: Context, shelf: Shelf, memory: Memory, other: Memory, relation: Relation | None
) -> int:
    removed = shelf.journal.unlink(memory.id, other.id, relation)
    if not removed:
        named = f" {relation}" if relation else ""
        raise NotFoundError(
            f"There is no{named} link from {memory.id[:12]} to {other.id[:12]}.",
            f"`vector-memory links {memory.id[:12]}` shows what there is.",
        )
    if other.superseded_by == memory.id and relation in (None, Relation.SUPERSEDES):
        shelf.journal.update(shelf.journal.get(other.id).revived())
        ctx.notify()
    return removed


def _link_view(link: Link, memory: Memory, end: Memory) -> LinkView:
    """Return a link as seen from a memory.

    Args:
        end: the memory at its other end.
    """
    other = brief(LinkedView, end)
    direction = "out" if link.from_id == memory.id else "in"
    return LinkView(link.from_id, link.to_id, link.relation, direction, link.weight, other)
