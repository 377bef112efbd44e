"""How much a memory counts, told by who works with it: verified, boosted, promoted."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
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
    Temporal,
)
from vector_memory.service.base import privacy, request_fields
from vector_memory.service.base.context import Context, new_id
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory import agent_rights, placement, proposals, trust_marks
from vector_memory.service.memory.lookup import lookup, project_names
from vector_memory.service.memory.views import memory_json

CONFIRMED, REFUTED, OUTDATED = VERDICTS = ("confirmed", "refuted", "outdated")
STEP = {CONFIRMED: 0.15, REFUTED: -0.3, OUTDATED: -0.3}
LEAST, MOST = 0.05, 0.95
VERIFIED = "verified"
"""In `extra`: `verdict`, `at`, `by` and `note` of the last look at whether it is so."""
RAISED = "raised"
"""In `extra`: that an agent has made it surer."""
PRIORITIES = (Priority.LOW, Priority.NORMAL, Priority.HIGH, Priority.CORE)
TARGETS = {
    "permanent": DEFAULT_COLLECTION,
    "learning": "learnings",
    "procedure": "procedures",
}
NOTE_CHARS = 500


def verify(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Note that a memory was found to be so, not so, or so no longer. What is out of date is not recalled
    any more; the user's own rules are only doubted.

    Raises:
        NotFoundError: no memory's id begins so.
        BadInputError: there is no such verdict.
    """
    shelf, memory = lookup(ctx, request_fields.text_of(request, "id", 64))
    verdict = str(request.get("verdict") or "")
    if verdict not in VERDICTS:
        raise BadInputError(
            f"There is no verdict {verdict!r}.", f"Verdicts: {', '.join(VERDICTS)}."
        )
    now = ctx.now()
    told = {"verdict": verdict, "at": now.isoformat(), "by": request_fields.actor_of(request)}
    note = privacy.word(str(request.get("note") or ""))[:NOTE_CHARS]
    changed = replace(
        memory,
        confidence=_stepped(request, memory, STEP[verdict]),
        valid_until=_valid_until(memory, verdict, now),
        extra={
            **memory.extra,
            VERIFIED: {**told, **({"note": note} if note else {})},
            **_raised(request, STEP[verdict]),
        },
        updated_at=now,
    )
    return _changed(ctx, request, shelf, changed, "verify", verdict=verdict)


def boost(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Raise or lower a memory's priority by one step, or its confidence.

    Raises:
        NotFoundError: no memory's id begins so.
        BadInputError: the direction is unknown, there is no step left, or it is not the agent's to weigh.
    """
    shelf, memory = lookup(ctx, request_fields.text_of(request, "id", 64))
    agent_rights.require_decided(memory)
    direction = str(request.get("direction") or "up")
    if direction not in ("up", "down"):
        raise BadInputError(f"There is no direction {direction!r}.", "Directions: up, down.")
    if direction == "up":
        agent_rights.require_own_weight(memory)
    else:
        agent_rights.require_not_the_users(memory)
    what = str(request.get("what") or "priority")
    sign = 1 if direction == "up" else -1
    if what == "confidence":
        changed = replace(
            memory,
            confidence=_stepped(request, memory, 0.1 * sign),
            extra={**memory.extra, **_raised(request, sign)},
        )
    elif what == "priority":
        changed = replace(memory, priority=_next(memory, sign))
    else:
        raise BadInputError(f"{what!r} cannot be boosted.", "Boost priority or confidence.")
    changed = replace(changed, updated_at=ctx.now())
    return _changed(ctx, request, shelf, changed, "boost", what=what, direction=direction)


def promote(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Make what was noted for a while permanent, a note a learning or a procedure, or raise a priority by
    one step where nothing else is asked for.

    Raises:
        NotFoundError: no memory's id begins so.
        BadInputError: there is no such target, it is that already, or others wrote it.
    """
    shelf, memory = lookup(ctx, request_fields.text_of(request, "id", 64))
    agent_rights.require_own_weight(memory)
    passing = COLLECTIONS[memory.collection].ttl_s if memory.collection in COLLECTIONS else None
    target = str(request.get("to") or ("permanent" if passing else "priority"))
    if target == "priority":
        changed = replace(memory, priority=_next(memory, 1), updated_at=ctx.now())
        return _changed(ctx, request, shelf, changed, "promote", to=changed.priority.value)
    if target not in TARGETS:
        names = ", ".join((*TARGETS, "priority"))
        raise BadInputError(f"Nothing can be promoted to {target!r}.", f"Targets: {names}.")
    if memory.collection == TARGETS[target]:
        raise BadInputError(f"Memory {memory.id[:12]} is that already.", "Choose another target.")
    if memory.collection == SCRATCH:
        return _lifted(ctx, request, shelf, memory, target)
    changed = replace(_as_target(memory, target), updated_at=ctx.now())
    return _changed(ctx, request, shelf, trust_marks.settled(changed), "promote", to=target)


def _lifted(
    ctx: Context, request: request_fields.Request, shelf: Shelf, note: Memory, target: str
) -> dict[str, Any]:
    """Store what a note for the moment says as a memory, as if it were said now, and drop the note."""
    draft = _as_target(note, target)
    draft = replace(
        draft,
        id=new_id(),
        created_at=ctx.now(),
        priority=Priority.NORMAL,
        origin=Origin.ASSISTANT,
        source=Source(),
        confidence=0.7,
        seq=0,
    )
    ctx.embedding.wait(3.0)
    if draft.weight and request_fields.is_agent(request):
        waiting = trust_marks.settled(proposals.proposed(draft, draft.weight))
        placed = placement.Placed(proposals.put(ctx, shelf, waiting), PROPOSED)
    else:
        placed = placement.place(ctx, shelf, draft, placement.vector_of(ctx, draft))
    shelf.journal.purge([note.id])
    ctx.state.audit(
        "promote",
        request_fields.actor_of(request),
        [placed.memory.id],
        {"to": target, "of": "scratch"},
    )
    return {"memory": memory_json(placed.memory, project_names([shelf])), "action": placed.action}


def _as_target(memory: Memory, target: str) -> Memory:
    kind = memory.kind
    if target == "procedure":
        kind = PROCEDURE
    elif target == "learning":
        kind = "learning"
    return replace(
        memory,
        kind=kind,
        collection=TARGETS[target],
        expires_at=None,
        temporal=Temporal.PERMANENT,
    )


def _next(memory: Memory, sign: int) -> Priority:
    at = PRIORITIES.index(memory.priority) + sign
    if not 0 <= at < len(PRIORITIES):
        raise BadInputError(
            f"Memory {memory.id[:12]} is {memory.priority} already.", "There is no step beyond."
        )
    return PRIORITIES[at]


def _stepped(request: request_fields.Request, memory: Memory, step: float) -> float:
    """Return a memory's confidence after a step. An agent makes it surer once: it says nothing new by saying
    it again."""
    confidence = memory.confidence
    if step > 0 and request_fields.is_agent(request) and memory.extra.get(RAISED):
        return confidence
    return round(min(max(MOST, confidence), max(LEAST, confidence + step)), 3)


def _raised(request: request_fields.Request, step: float) -> dict[str, Any]:
    return {RAISED: True} if step > 0 and request_fields.is_agent(request) else {}


def _valid_until(memory: Memory, verdict: str, now: datetime) -> datetime | None:
    if verdict == OUTDATED and not agent_rights.is_the_users(memory):
        return now
    was_outdated = (memory.extra.get(VERIFIED) or {}).get("verdict") == OUTDATED
    return None if verdict == CONFIRMED and was_outdated else memory.valid_until


def _changed(
    ctx: Context,
    request: request_fields.Request,
    shelf: Shelf,
    memory: Memory,
    action: str,
    **detail: Any,
) -> dict[str, Any]:
    before = shelf.journal.get(memory.id)
    allowed = proposals.allowed(request, before, memory)
    stored = shelf.journal.update(allowed)
    if allowed is not memory:
        action = PROPOSED
        proposals.note(ctx, stored.project)
    ctx.drop_snapshots()
    ctx.notify()
    ctx.state.audit(action, request_fields.actor_of(request), [memory.id], detail)
    return {"memory": memory_json(stored, project_names([shelf])), "action": action}
