"""What waits for the user's word: listed, and then made to count, kept as it is, or forgotten."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from vector_memory.errors import BadInputError
from vector_memory.model import PROPOSED, SUSPICION, Memory, Origin, Priority, Scope, Status
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.edit import edit_forget
from vector_memory.service.memory import trust_marks
from vector_memory.service.memory.lookup import lookup, name_in, project_names

CONFIRMED = "confirmed"
"""In `extra`: that the user confirmed it, and whose words it was."""
DECISIONS = ("confirm", "keep", "drop")


@dataclass(frozen=True, kw_only=True)
class ReviewRequest(messages.Request):
    """What waits for the user is to be listed, `k` memories at most, or decided about.

    Attributes:
        confirm: ids of memories that are to count as they were proposed, or how these begin; `keep` of those
            that stay what they are, `drop` of those to be forgotten.
    """

    confirm: tuple[str, ...] = messages.words()
    keep: tuple[str, ...] = messages.words()
    drop: tuple[str, ...] = messages.words()
    k: int = messages.number(100_000, 1, 100_000)

    @property
    def chosen(self) -> dict[str, tuple[str, ...]]:
        """The ids by what is decided about them, in the order of `DECISIONS`."""
        return dict(zip(DECISIONS, (self.confirm, self.keep, self.drop), strict=True))


@dataclass(frozen=True, kw_only=True)
class WaitingView:
    """A memory that waits for the user; `proposed` and `suspicious` as in `MemoryView`.

    Attributes:
        reason: why it waits, `proposed` or `suspicious`.
        text: its words, "" where an agent asks.
        kind: what it is proposed as, else what it is.
        actions: what can be decided about it, of `DECISIONS`.
    """

    id: str
    reason: str
    text: str
    kind: str
    actions: list[str]
    origin: str
    project: str
    created_at: datetime
    proposed: dict[str, Any] | None = messages.spare()
    suspicious: trust_marks.SuspicionView | None = messages.spare()


@dataclass(frozen=True)
class WaitingAnswer:
    """What waits for the user, newest first, and how much it is in all."""

    items: list[WaitingView]
    total: int


@dataclass(frozen=True)
class DecidedAnswer:
    """The ids of memories by what was decided about them."""

    confirmed: list[str]
    kept: list[str]
    dropped: list[str]


def review(ctx: Context, request: ReviewRequest) -> WaitingAnswer | DecidedAnswer:
    """Return what waits for the user, newest first, or decide about the ids under `confirm`, `keep` and
    `drop`. An agent is told what waits without its words.

    Raises:
        BadInputError: an agent decides, or a memory does not wait.
        NotFoundError: there is none of an id.
    """
    if any(request.chosen.values()):
        request.require_user("decides what is remembered")
        return _decide(ctx, request)
    waiting: list[tuple[Memory, dict[str, str]]] = []
    for shelf in ctx.all_shelves():
        names = project_names([shelf])
        waiting += [(memory, names) for memory in shelf.journal.held(Scope())]
    waiting.sort(key=lambda pair: pair[0].created_at, reverse=True)
    shown = waiting[: request.k]
    items = [_waiting_view(memory, names, request.is_agent) for memory, names in shown]
    return WaitingAnswer(items, len(waiting))


def _waiting_view(memory: Memory, names: dict[str, str], for_agent: bool) -> WaitingView:
    asks = memory.proposed
    return WaitingView(
        id=memory.id,
        reason="proposed" if asks else "suspicious",
        text="" if for_agent else memory.text,
        kind=str(asks.get("kind") or memory.kind),
        actions=list(DECISIONS if asks else DECISIONS[1:]),
        origin=memory.origin.value,
        project=name_in(names, memory.project),
        created_at=memory.created_at,
        **trust_marks.warning(memory),
    )


def _decide(ctx: Context, request: ReviewRequest) -> DecidedAnswer:
    acts = {"confirm": _confirm, "keep": _keep, "drop": _drop}
    chosen = [
        (name, *lookup(ctx, prefix)) for name, ids in request.chosen.items() for prefix in ids
    ]
    for name, _, memory in chosen:
        _require_waiting(name, memory)
    done: dict[str, list[str]] = {name: [] for name in DECISIONS}
    for name, shelf, memory in chosen:
        acts[name](ctx, shelf, memory)
        done[name].append(memory.id)
        ctx.state.audit(f"review_{name}", request.actor, [memory.id], {})
    ctx.drop_snapshots()
    ctx.notify()
    return DecidedAnswer(done["confirm"], done["keep"], done["drop"])


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
    for older in old.values():
        if older.status is Status.ACTIVE and older.id != memory.id:
            shelf.journal.supersede(older.id, memory.id, ctx.now(), "the user confirmed the other")


def _keep(ctx: Context, shelf: Shelf, memory: Memory) -> None:
    """Let a memory be brought as what it is: its author's information."""
    extra = {name: value for name, value in memory.extra.items() if name != PROPOSED}
    if memory.suspicion.get("held"):
        mark = {name: value for name, value in memory.suspicion.items() if name != "held"}
        extra[SUSPICION] = {**mark, "released": True}
    shelf.journal.update(replace(memory, extra=extra, updated_at=ctx.now()))


def _drop(ctx: Context, shelf: Shelf, memory: Memory) -> None:
    """Forget what was stored as a proposal; a memory that was there before stays as it was."""
    if memory.is_held:
        edit_forget.forget(ctx, edit_forget.ForgetRequest(ids=(memory.id,)))
    else:
        _keep(ctx, shelf, memory)
