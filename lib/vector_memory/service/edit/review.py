"""What waits for the user's word: listed, and then made to count, kept as it is, or forgotten."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from vector_memory.errors import BadInputError
from vector_memory.model import PROPOSED, SUSPICION, Memory, Origin, Priority, Scope, Status
from vector_memory.service.base import request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.edit import edit_forget
from vector_memory.service.memory import trust_marks
from vector_memory.service.memory.lookup import lookup, name_in, project_names

CONFIRMED = "confirmed"
"""In `extra`: that the user confirmed it, and whose words it was."""


DECISIONS = ("confirm", "keep", "drop")


DONE = {"confirm": "confirmed", "keep": "kept", "drop": "dropped"}


def review(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Return what waits for the user, newest first, or decide about the ids under `confirm`, `keep` and
    `drop`. An agent is told what waits without its words.

    Raises:
        BadInputError: an agent decides, or a memory does not wait.
        NotFoundError: there is none of an id.
    """
    chosen = {name: request_fields.words_of(request, name) for name in DECISIONS}
    if any(chosen.values()):
        request_fields.require_user(request, "decides what is remembered")
        return _decide(ctx, request, chosen)
    k = request_fields.number_of(request, "k", 100_000, 1, 100_000)
    found: list[tuple[Memory, dict[str, str]]] = []
    for shelf in ctx.all_shelves():
        names = project_names([shelf])
        found += [(one, names) for one in shelf.journal.held(Scope())]
    found.sort(key=lambda one: one[0].created_at, reverse=True)
    items = [_item(one, names, request_fields.is_agent(request)) for one, names in found[:k]]
    return {"items": items, "total": len(found)}


def _item(memory: Memory, names: dict[str, str], for_agent: bool) -> dict[str, Any]:
    asks = memory.proposed
    return {
        "id": memory.id,
        "reason": "proposed" if asks else "suspicious",
        "text": "" if for_agent else memory.text,
        "kind": str(asks.get("kind") or memory.kind),
        "actions": list(DECISIONS if asks else DECISIONS[1:]),
        "origin": memory.origin.value,
        "project": name_in(names, memory.project),
        "created_at": memory.created_at.isoformat(),
        **trust_marks.warning(memory),
    }


def _decide(
    ctx: Context, request: request_fields.Request, chosen: dict[str, tuple[str, ...]]
) -> dict[str, Any]:
    acts = {"confirm": _confirm, "keep": _keep, "drop": _drop}
    found = [(name, *lookup(ctx, prefix)) for name in DECISIONS for prefix in chosen[name]]
    for name, _, memory in found:
        _require_waiting(name, memory)
    done: dict[str, list[str]] = {name: [] for name in DECISIONS}
    for name, shelf, memory in found:
        acts[name](ctx, shelf, memory)
        done[name].append(memory.id)
        ctx.state.audit(f"review_{name}", request_fields.actor_of(request), [memory.id], {})
    ctx.drop_snapshots()
    ctx.notify()
    return {DONE[name]: ids for name, ids in done.items()}


def _require_waiting(name: str, memory: Memory) -> None:
    if memory.proposed if name == "confirm" else memory.proposed or memory.is_held:
        return
    raise BadInputError(
        f"Memory {memory.id[:12]} does not wait for that.",
        "`vector-memory review` shows what does.",
    )


def _confirm(ctx: Context, shelf: Shelf, memory: Memory) -> None:
    """Make a memory what it was proposed as, as the user's own word."""
    asks = memory.proposed
    extra = trust_marks.unmarked(memory.extra)
    confirmed = replace(
        memory,
        origin=Origin.USER,
        kind=str(asks.get("kind") or memory.kind),
        priority=Priority(asks.get("priority") or memory.priority),
        collection=str(asks.get("collection") or memory.collection),
        extra={**extra, CONFIRMED: {"at": ctx.now().isoformat(), "of": memory.origin.value}},
        updated_at=ctx.now(),
    )
    shelf.journal.update(confirmed)
    old = shelf.journal.by_ids([str(asks.get("supersedes") or "")]) if asks else {}
    for one in old.values():
        if one.status is Status.ACTIVE and one.id != memory.id:
            shelf.journal.supersede(one.id, memory.id, ctx.now())


def _keep(ctx: Context, shelf: Shelf, memory: Memory) -> None:
    """Let a memory be brought as what it is: its author's information."""
    extra = {name: value for name, value in memory.extra.items() if name != PROPOSED}
    if memory.suspicion.get("held"):
        told = {name: value for name, value in memory.suspicion.items() if name != "held"}
        extra[SUSPICION] = {**told, "released": True}
    shelf.journal.update(replace(memory, extra=extra, updated_at=ctx.now()))


def _drop(ctx: Context, shelf: Shelf, memory: Memory) -> None:
    """Forget what was stored as a proposal; a memory that was there before stays as it was."""
    if memory.is_held:
        edit_forget.forget(ctx, edit_forget.ForgetRequest(ids=(memory.id,)))
    else:
        _keep(ctx, shelf, memory)
