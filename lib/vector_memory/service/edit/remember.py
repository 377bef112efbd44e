"""Remember: one memory said on purpose, stored, merged, superseding or linked."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from vector_memory import redact
from vector_memory.errors import BadInputError
from vector_memory.model import (
    COLLECTIONS,
    PROPOSED,
    Memory,
    Origin,
    Priority,
    Relation,
    Retention,
    Temporal,
)
from vector_memory.service.base import privacy, request_fields
from vector_memory.service.base.context import Context, new_id
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory import (
    agent_rights,
    placement,
    proposals,
    trust_marks,
    users_words,
)
from vector_memory.service.memory.lookup import lookup
from vector_memory.service.memory.placement import Placed, Tie
from vector_memory.text import priorities

MODEL_WAIT_S = 5.0
MAX_CHARS = 20_000
SHOWN_CHARS = 300
TITLE_CHARS = 300
SAID_IN = "said_in"
"""In `extra`: the session in which it was asked to be remembered. It is no part of that session's talk."""


def remember(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Store what a user or an agent asks to be remembered.

    Waits up to 5 s for the model, so that a duplicate is seen as one. Without a model the memory is
    stored all the same and embedded later. With `wait` false it is stored as it is, beside all others
    but one of equal text, and acknowledged as soon as it is on the disk.

    Raises:
        BadInputError: the text is empty or too long, or an option is unknown.
        UnsafeTextError: the redactor could not handle the text.
    """
    cleaned = redact.clean(request_fields.text_of(request, "text", MAX_CHARS))
    place = request_fields.place_of(ctx, request)
    shelf = ctx.shelf_of(place) if place else ctx.global_shelf()
    now = ctx.now()
    draft = Memory(
        id=new_id(),
        text=cleaned.text,
        created_at=request_fields.time_of(request, "at") or now,
        kind=privacy.word(str(request.get("kind") or "note")),
        project=place.id if place else "",
        priority=request_fields.priority_of(request) or Priority.NORMAL,
        confidence=0.7,
        tags=tuple(redact.clean(tag).text for tag in request_fields.words_of(request, "tags")),
        **_kept(request, now),
    )
    if place:
        ctx.know_project(shelf, place)
    draft = _attributed(request, draft)
    asks = _asks(request, draft)
    draft = trust_marks.settled(draft, str(request["text"]))
    waits = bool(request.get("wait", True))
    if waits and not asks:
        ctx.embedding.wait(MODEL_WAIT_S)
    replaced = request_fields.text_of(request, "supersedes") if request.get("supersedes") else ""
    if replaced and request_fields.is_agent(request):
        agent_rights.require_not_the_users(lookup(ctx, replaced)[1])
    if asks:
        placed = _proposed(ctx, shelf, draft, asks, replaced, str(request["text"]))
    elif replaced:
        placed = replace_with(ctx, shelf, replaced, draft)
    elif waits:
        placed = placement.place(ctx, shelf, draft, placement.vector_of(ctx, draft))
    else:
        # Who does not wait stores many: the index follows from afar.
        with ctx.filling.going_on():
            placed = placement.put(ctx, shelf, draft)
    memory = placed.memory
    ctx.count("redactions", cleaned.redactions)
    others = [tie.other.id for tie in placed.ties if placed.action in ("merged", "superseded")]
    ctx.state.audit(
        "remember",
        request_fields.actor_of(request),
        [memory.id, *others],
        {"action": placed.action},
    )
    return {
        "id": memory.id,
        "action": placed.action,
        "kind": memory.kind,
        "created_at": memory.created_at.isoformat(),
        "origin": memory.origin.value,
        "project": place.name if place else "",
        "text": memory.text,
        "priority": memory.priority.value,
        **trust_marks.warning(memory),
        "redactions": cleaned.redactions,
        **_ties_json(placed),
        **_priority_json(request, memory),
    }


def _attributed(request: request_fields.Request, draft: Memory) -> Memory:
    """Return a draft as the words of whom they are: an agent's, unless the user has said them in this turn,
    and then with no more weight than the user gave them."""
    claimed = request.get("origin")
    if not request_fields.is_agent(request):
        return replace(draft, origin=Origin(str(claimed or Origin.USER)))
    said = str(request.get(request_fields.SAID) or "")
    if said and users_words.is_said(str(request["text"]), said):
        priority = users_words.allowed_priority(draft.priority, said)
        return replace(draft, origin=Origin.USER, priority=priority)
    others = claimed in (Origin.TOOL, Origin.IMPORT)
    return replace(draft, origin=Origin(str(claimed)) if others else Origin.ASSISTANT)


def _asks(request: request_fields.Request, draft: Memory) -> dict[str, Any]:
    """Return what an agent asks for that is the user's to give, {} for nothing."""
    if not request_fields.is_agent(request):
        return {}
    if draft.origin is not Origin.USER:
        return proposals.wanted(draft, bool(request.get("global")))
    unsaid = request.get("global") and not users_words.is_for_all(str(request[request_fields.SAID]))
    return {"global": True} if unsaid else {}


def _proposed(
    ctx: Context, shelf: Shelf, draft: Memory, asks: dict[str, Any], replaced: str, raw: str
) -> Placed:
    """Store what waits for the user: as the assistant's words, whoever said them."""
    told = {"supersedes": lookup(ctx, replaced)[1].id} if replaced else {}
    plain = draft if draft.is_foreign else replace(draft, origin=Origin.ASSISTANT)
    waiting = trust_marks.settled(proposals.proposed(plain, {**draft.weight, **asks}, **told), raw)
    return Placed(proposals.put(ctx, shelf, waiting), PROPOSED)


def _kept(request: request_fields.Request, now: datetime) -> dict[str, Any]:
    """Return where and how long a memory is kept, and what is told of it beside its words."""
    collection = request_fields.collection_of(request)
    rule = COLLECTIONS[collection]
    return {
        "collection": collection,
        "title": redact.clean(privacy.word(str(request.get("title") or ""))[:TITLE_CHARS]).text,
        "files": tuple(redact.clean(one).text for one in request_fields.words_of(request, "files")),
        "temporal": Temporal.DECAYING if rule.retention is Retention.DECAY else Temporal.PERMANENT,
        "expires_at": now + timedelta(seconds=rule.ttl_s) if rule.ttl_s else None,
        "extra": {SAID_IN: privacy.word(str(request["session"]))} if request.get("session") else {},
    }


def replace_with(ctx: Context, shelf: Shelf, prefix: str, draft: Memory) -> Placed:
    """Store a memory in the place of another one, which gives way to it.

    Raises:
        NotFoundError: no memory's id begins so.
        BadInputError: it is in another store.
    """
    owner, old = lookup(ctx, prefix)
    if owner is not shelf:
        raise BadInputError(
            "A memory can only replace one of its own store.",
            "Give the --project of the older one, or --global.",
        )
    memory = shelf.journal.add([draft])[0]
    shelf.journal.supersede(old.id, memory.id, ctx.now())
    ctx.notify()
    return Placed(memory, "superseded", (Tie(old, Relation.SUPERSEDES),))


def _ties_json(placed: Placed) -> dict[str, Any]:
    """Return what the answer says of the other memories: `of` is the one most concerned, `links` are
    all, and `suggestion` is what would settle a contradiction."""
    if not placed.ties:
        return {}
    first = placed.ties[0]
    told: dict[str, Any] = {"of": first.other.id}
    if placed.action == "merged":
        return told
    told |= {"relation": first.relation.value, "reason": first.reason}
    told["links"] = [_tie_json(tie) for tie in placed.ties]
    against = [tie for tie in placed.ties if tie.relation is Relation.CONTRADICTS]
    if against:
        told["suggestion"] = _suggestion(placed.memory, against[0])
    return told


def _tie_json(tie: Tie) -> dict[str, Any]:
    return {
        "id": tie.other.id,
        "relation": tie.relation.value,
        "reason": tie.reason,
        "text": str(tie.other.text)[:SHOWN_CHARS],
        "created_at": tie.other.created_at.isoformat(),
        "kind": tie.other.kind,
        "origin": tie.other.origin.value,
        **trust_marks.warning(tie.other),
    }


def _suggestion(memory: Memory, tie: Tie) -> dict[str, str]:
    new, old = memory.id[:12], tie.other.id[:12]
    return {
        "differs": tie.reason,
        "older": tie.other.id,
        "if_replaced": f"vector-memory link {new} {old} --relation supersedes",
        "if_both_hold": f"vector-memory link {new} {old} --remove",
    }


def _priority_json(request: request_fields.Request, memory: Memory) -> dict[str, str]:
    """Return the priority that the text suggests, where none was given and it is another one."""
    suggested = priorities.suggest(memory.text)
    if request.get("priority") is not None or suggested in (Priority.NORMAL, memory.priority):
        return {}
    return {"suggested_priority": suggested.value}
