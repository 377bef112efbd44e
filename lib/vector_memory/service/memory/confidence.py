"""How much a memory counts, told by who works with it: verified, boosted, promoted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from vector_memory.errors import BadInputError
from vector_memory.model import (
    COLLECTIONS,
    DEFAULT_COLLECTION,
    PROCEDURE,
    PROPOSED,
    SCRATCH,
    Memory,
    Origin,
    Priority,
    Source,
    Tier,
)
from vector_memory.service.base import messages, privacy
from vector_memory.service.base.context import Context, new_id
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory import (
    ageing_wishes,
    agent_rights,
    placement,
    proposals,
    trust_marks,
)
from vector_memory.service.memory.lookup import lookup
from vector_memory.service.memory.views import MemoryView, view_in

CONFIRMED, REFUTED, OUTDATED = VERDICTS = ("confirmed", "refuted", "outdated")
STEP = {CONFIRMED: 0.15, REFUTED: -0.3, OUTDATED: -0.3}
LEAST, MOST = 0.05, 0.95
UNCHANGED = "unchanged"
VERIFIED = "verified"
"""In `extra`: `verdict`, `at`, `by` and `note` of the last look at whether it is so."""
RAISED = "raised"
"""In `extra`: that an agent has made it surer."""
PRIORITIES = tuple(Priority)[::-1]
TARGETS = {
    "permanent": DEFAULT_COLLECTION,
    "learning": "learnings",
    "procedure": "procedures",
}
TIERS = {"warm": Tier.WARM, "long_term": Tier.LONG_TERM, "cold": Tier.COLD}
"""Tiers that a memory can be put into by hand; hot is what is new or was just used."""
NOTE_CHARS = 500


class WeighedAnswer(messages.Answer):
    """A memory as it counts now, and what was done: `proposed` where its new weight waits for the user."""

    memory: MemoryView
    action: str


class VerifyRequest(messages.Request):
    """Somebody has looked whether a memory is so.

    Attributes:
        id: the memory's id, or how it begins.
        verdict: one of `VERDICTS`.
        note: what was seen.
    """

    id: str = messages.text(64)
    verdict: str = messages.one_of(VERDICTS)
    note: str = messages.word()


def verify(ctx: Context, request: VerifyRequest) -> WeighedAnswer:
    """Note that a memory was found to be so, not so, or so no longer. What is out of date is not recalled
    any more; the user's own rules an agent only doubts.

    Raises:
        NotFoundError: no memory's id begins so.
        BadInputError: there is no such verdict, or what is confirmed is a deadline that is over.

    Returns:
        The memory with its new confidence.
    """
    shelf, read = lookup(ctx, request.id)
    memory, verdict, now = read, request.verdict, ctx.now()
    check = {"verdict": verdict, "at": now.isoformat(), "by": request.actor}
    note = privacy.word(request.note)[:NOTE_CHARS]
    if verdict == CONFIRMED:
        memory = ageing_wishes.hold_again(memory, now, request.is_agent)
    elif verdict == OUTDATED and not (request.is_agent and agent_rights.is_the_users(memory)):
        memory = ageing_wishes.end_at(memory, now)
    changed = replace(
        memory,
        confidence=_confidence_after(request, memory, STEP[verdict]),
        extra={
            **memory.extra,
            VERIFIED: {**check, **({"note": note} if note else {})},
            **_raised_mark(request, STEP[verdict]),
        },
        updated_at=now,
    )
    return _store_change(ctx, request, shelf, read, changed, "verify", verdict=verdict)


class BoostRequest(messages.Request):
    """A memory is to count one step more or less.

    Attributes:
        id: the memory's id, or how it begins.
        direction: `up` or `down`.
        what: `priority` or `confidence`.
    """

    id: str = messages.text(64)
    direction: str = messages.one_of(("up", "down"), "up")
    what: str = messages.one_of(("priority", "confidence"), "priority")


def boost(ctx: Context, request: BoostRequest) -> WeighedAnswer:
    """Raise or lower a memory's priority by one step, or its confidence.

    Raises:
        NotFoundError: no memory's id begins so.
        BadInputError: there is no step left, or it is not the agent's to weigh.

    Returns:
        The memory with its new priority and confidence; `UNCHANGED` where it is as sure as that can make it.
    """
    shelf, memory = lookup(ctx, request.id)
    agent_rights.require_decided(memory)
    direction, what = request.direction, request.what
    if direction == "up":
        agent_rights.require_own_weight(memory)
    else:
        agent_rights.require_not_the_users(memory)
    sign = 1 if direction == "up" else -1
    if what == "confidence":
        changed = replace(
            memory,
            confidence=_confidence_after(request, memory, 0.1 * sign),
            extra={**memory.extra, **_raised_mark(request, sign)},
        )
    else:
        changed = replace(memory, priority=_next_priority(memory, sign))
    if (changed.confidence, changed.priority) == (memory.confidence, memory.priority):
        return WeighedAnswer(view_in(shelf, memory), UNCHANGED)
    changed = replace(changed, updated_at=ctx.now())
    return _store_change(
        ctx, request, shelf, memory, changed, "boost", what=what, direction=direction
    )


class PromoteRequest(messages.Request):
    """A memory is to become more than it is.

    Attributes:
        id: the memory's id, or how it begins.
        to: `priority` for a step of it, one of `TARGETS`, or one of `TIERS`; by default what suits the memory.
    """

    id: str = messages.text(64)
    to: str = messages.one_of((*TARGETS, "priority", *TIERS))


def promote(ctx: Context, request: PromoteRequest) -> WeighedAnswer:
    """Make what was noted for a while permanent, a note a learning or a procedure, put a memory into a tier, or
    raise a priority by one step where nothing else is asked for.

    Raises:
        NotFoundError: no memory's id begins so.
        BadInputError: it is that already, others wrote it, or it is not the agent's to
            put away.

    Returns:
        The memory as it counts now.
    """
    shelf, memory = lookup(ctx, request.id)
    if request.to in TIERS:
        return _move_to_tier(ctx, request, shelf, memory)
    agent_rights.require_own_weight(memory)
    ttl_s = COLLECTIONS[memory.collection].ttl_s if memory.collection in COLLECTIONS else None
    target = request.to or ("permanent" if ttl_s else "priority")
    if target == "priority":
        changed = replace(memory, priority=_next_priority(memory, 1), updated_at=ctx.now())
        return _store_change(
            ctx, request, shelf, memory, changed, "promote", to=changed.priority.value
        )
    if memory.collection == TARGETS[target]:
        raise BadInputError(f"Memory {memory.id[:12]} is that already.", "Choose another target.")
    if memory.collection == SCRATCH:
        return _store_note(ctx, request, shelf, memory, target)
    changed = replace(_as_target(memory, target), updated_at=ctx.now())
    changed = trust_marks.with_trust_marks(changed)
    return _store_change(ctx, request, shelf, memory, changed, "promote", to=target)


def _move_to_tier(
    ctx: Context, request: PromoteRequest, shelf: Shelf, memory: Memory
) -> WeighedAnswer:
    """Put a memory into a tier by hand. What is cold comes when somebody asks, and is warm again once it was of
    use; what is kept at hand for good is not moved by the job."""
    tier = TIERS[request.to]
    if tier is Tier.LONG_TERM:
        agent_rights.require_own_weight(memory)
    elif request.is_agent:
        agent_rights.require_decided(memory)
        if tier is Tier.COLD:
            agent_rights.require_not_the_users(memory)
    if not shelf.journal.move_to_tiers({memory.id: tier}):
        raise BadInputError(f"Memory {memory.id[:12]} is {tier} already.", "Choose another tier.")
    ctx.changed()
    ctx.state.audit("promote", request.actor, [memory.id], {"to": tier.value})
    moved = shelf.journal.get(memory.id)
    return WeighedAnswer(view_in(shelf, moved), "promote")


def _store_note(
    ctx: Context, request: PromoteRequest, shelf: Shelf, note: Memory, target: str
) -> WeighedAnswer:
    """Store what a note for the moment says as a memory, as if it were said now, and drop the note."""
    draft = _as_target(note, target).as_new(
        id=new_id(),
        created_at=ctx.now(),
        priority=Priority.NORMAL,
        origin=Origin.ASSISTANT,
        source=Source(),
        confidence=0.7,
    )
    ctx.embedding.wait(3.0)
    if draft.weight and request.is_agent:
        proposal = trust_marks.with_trust_marks(proposals.proposed(draft, draft.weight))
        placed = placement.Placed(proposals.store_proposal(ctx, shelf, proposal), PROPOSED)
    else:
        placed = placement.place(ctx, shelf, draft, placement.vector_of(ctx, draft))
    shelf.journal.purge([note.id])
    ctx.state.audit(
        "promote",
        request.actor,
        [placed.memory.id],
        {"to": target, "of": "scratch"},
    )
    return WeighedAnswer(view_in(shelf, placed.memory), placed.action)


def _as_target(memory: Memory, target: str) -> Memory:
    return replace(
        ageing_wishes.permanent(memory),
        kind={"procedure": PROCEDURE, "learning": "learning"}.get(target, memory.kind),
        collection=TARGETS[target],
        expires_at=None,
    )


def _next_priority(memory: Memory, sign: int) -> Priority:
    index = PRIORITIES.index(memory.priority) + sign
    if not 0 <= index < len(PRIORITIES):
        raise BadInputError(
            f"Memory {memory.id[:12]} is {memory.priority} already.", "There is no step beyond."
        )
    return PRIORITIES[index]


def _confidence_after(request: messages.Request, memory: Memory, step: float) -> float:
    """Return a memory's confidence after a step. An agent makes it surer once: it says nothing new by saying
    it again."""
    confidence = memory.confidence
    if step > 0 and request.is_agent and memory.extra.get(RAISED):
        return confidence
    return round(min(max(MOST, confidence), max(LEAST, confidence + step)), 3)


def _raised_mark(request: messages.Request, step: float) -> dict[str, object]:
    return {RAISED: True} if step > 0 and request.is_agent else {}


def _store_change(
    ctx: Context,
    request: messages.Request,
    shelf: Shelf,
    read: Memory,
    changed: Memory,
    action: str,
    **detail: Any,
) -> WeighedAnswer:
    """Store a changed memory as far as who asks may change it, and note that for the audit log.

    Args:
        read: the memory before it was changed.
        action: what is done, as the answer and the log say it.
        detail: what else the log says of it.
    """
    permitted = proposals.allowed(request.is_agent, read, changed)
    stored = shelf.journal.update(permitted, read)
    if permitted is not changed:
        action = PROPOSED
        proposals.note(ctx, stored.project)
    ctx.changed()
    ctx.state.audit(action, request.actor, [read.id], detail)
    return WeighedAnswer(view_in(shelf, stored), action)
