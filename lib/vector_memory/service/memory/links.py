"""Links between memories, made and removed by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.model import Link, Memory, Relation, Status
from vector_memory.service.base import request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory import agent_rights, trust_marks
from vector_memory.service.memory.lookup import lookup

ID_CHARS = 64


def link(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Link one memory to another, or remove their links with `remove`.

    A memory that another one `supersedes` gives way to it, and holds again when that is removed.

    Raises:
        NotFoundError: there is no such memory, or no such link to remove.
        BadInputError: the relation is unknown, or the memories are one, or of two stores.
    """
    shelf, one, other = _ends(ctx, request)
    relation = relation_of(request)
    if request_fields.is_agent(request):
        _require_own(other, relation, bool(request.get("remove")))
    if request.get("remove"):
        removed = _unlink(ctx, shelf, one, other, relation)
        done: dict[str, Any] = {"action": "removed", "removed": removed}
    else:
        relation = relation or Relation.RELATES_TO
        _link(ctx, shelf, one, other, relation)
        done = {"action": "linked", "relation": relation.value}
    ctx.state.audit("link", request_fields.actor_of(request), [one.id, other.id], done)
    return {"from": one.id, "to": other.id, **done}


def _require_own(other: Memory, relation: Relation | None, remove: bool) -> None:
    """Make sure that no rule of the user's gives way to an agent's word, or comes back by it."""
    if relation is Relation.SUPERSEDES or (remove and other.superseded_by):
        agent_rights.require_not_the_users(other)


def links(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Return a memory's links, each with the memory at its other end."""
    shelf, memory = lookup(ctx, request_fields.text_of(request, "id", ID_CHARS))
    found = shelf.journal.links_of([memory.id])
    ends = shelf.journal.by_ids([_end(one, memory) for one in found])
    told = [
        _link_json(one, memory, ends[_end(one, memory)])
        for one in found
        if _end(one, memory) in ends
    ]
    return {"id": memory.id, "text": memory.text, "links": told}


def relation_of(request: request_fields.Request) -> Relation | None:
    """Return the relation asked for, None where none is.

    Raises:
        BadInputError: there is no such relation.
    """
    value = request.get("relation")
    if value is None:
        return None
    try:
        return Relation(str(value).lower())
    except ValueError:
        names = ", ".join(Relation)
        raise BadInputError(f"There is no relation {value!r}.", f"Relations: {names}.") from None


def _ends(ctx: Context, request: request_fields.Request) -> tuple[Shelf, Memory, Memory]:
    shelf, one = lookup(ctx, request_fields.text_of(request, "from", ID_CHARS))
    owner, other = lookup(ctx, request_fields.text_of(request, "to", ID_CHARS))
    if one.id == other.id:
        raise BadInputError("A memory cannot be linked to itself.", "Give two different ids.")
    if owner is not shelf:
        raise BadInputError(
            "These memories are in two stores.", "Only memories of one store can be linked."
        )
    return shelf, one, other


def _link(ctx: Context, shelf: Shelf, one: Memory, other: Memory, relation: Relation) -> None:
    now = ctx.now()
    if relation is Relation.SUPERSEDES:
        shelf.journal.supersede(other.id, one.id, now)
        # What was a likely replacement is one now.
        for settled in ((one.id, other.id), (other.id, one.id)):
            shelf.journal.unlink(*settled, Relation.CONTRADICTS)
        ctx.notify()
    else:
        shelf.journal.link(Link(one.id, other.id, relation, created_at=now))


def _unlink(
    ctx: Context, shelf: Shelf, one: Memory, other: Memory, relation: Relation | None
) -> int:
    removed = shelf.journal.unlink(one.id, other.id, relation)
    if not removed:
        named = f" {relation}" if relation else ""
        raise NotFoundError(
            f"There is no{named} link from {one.id[:12]} to {other.id[:12]}.",
            f"`vector-memory links {one.id[:12]}` shows what there is.",
        )
    if other.superseded_by == one.id and relation in (None, Relation.SUPERSEDES):
        revived = replace(other, status=Status.ACTIVE, superseded_by="", valid_until=None)
        shelf.journal.update(revived)
        ctx.notify()
    return removed


def _end(one: Link, memory: Memory) -> str:
    return one.from_id if one.to_id == memory.id else one.to_id


def _link_json(one: Link, memory: Memory, end: Memory) -> dict[str, Any]:
    return {
        "from": one.from_id,
        "to": one.to_id,
        "relation": one.relation.value,
        "direction": "out" if one.from_id == memory.id else "in",
        "weight": one.weight,
        "other": {
            "id": end.id,
            "text": end.text,
            "kind": end.kind,
            "status": end.status.value,
            "created_at": end.created_at.isoformat(),
            "origin": end.origin.value,
            **trust_marks.warning(end),
        },
    }
