"""Remember: one memory said on purpose, stored, merged, superseding or linked."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from vector_memory import redact
from vector_memory.errors import BadInputError
from vector_memory.lifecycle import dedup
from vector_memory.model import (
    Link,
    Memory,
    Origin,
    Priority,
    Relation,
    Scope,
    unique,
)
from vector_memory.service import asked
from vector_memory.service.context import Context, new_id
from vector_memory.service.recall import lookup
from vector_memory.service.shelf import Shelf

if TYPE_CHECKING:
    from vector_memory.model import Vector

MODEL_WAIT_S = 5.0
NEIGHBOURS = 8
MAX_CHARS = 20_000


def remember(ctx: Context, request: asked.Request) -> dict[str, Any]:
    """Store what a user or an agent asks to be remembered.

    Waits up to 5 s for the model, so that a duplicate is seen as one. Without a model the memory is
    stored all the same and embedded later.

    Raises:
        BadInputError: the text is empty or too long, or an option is unknown.
        UnsafeTextError: the redactor could not handle the text.
    """
    cleaned = redact.clean(asked.text_of(request, "text", MAX_CHARS))
    place = asked.place_of(ctx, request)
    shelf = ctx.shelf_of(place) if place else ctx.global_shelf()
    now = ctx.now()
    draft = Memory(
        id=new_id(),
        text=cleaned.text,
        created_at=asked.time_of(request, "at") or now,
        kind=str(request.get("kind") or "note"),
        project=place.id if place else "",
        priority=asked.priority_of(request) or Priority.NORMAL,
        confidence=0.7,
        origin=Origin(str(request.get("origin") or Origin.USER)),
        tags=tuple(redact.clean(tag).text for tag in asked.words_of(request, "tags")),
    )
    if place:
        ctx.know_project(shelf, place)
    ctx.embedding.wait(MODEL_WAIT_S)
    if request.get("supersedes"):
        memory, action, other = replace_with(
            ctx, shelf, asked.text_of(request, "supersedes"), draft
        )
    else:
        memory, action, other = store(ctx, shelf, draft, now)
    ctx.count("redactions", cleaned.redactions)
    ctx.state.audit("remember", "user", [memory.id], {"action": action})
    return {
        "id": memory.id,
        "action": action,
        "kind": memory.kind,
        "project": place.name if place else "",
        "text": memory.text,
        "redactions": cleaned.redactions,
        **({"of": other} if other else {}),
    }


def replace_with(ctx: Context, shelf: Shelf, prefix: str, draft: Memory) -> tuple[Memory, str, str]:
    """Store a memory in the place of another one, which gives way to it; return as `store` does.

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
    return memory, "superseded", old.id


def store(ctx: Context, shelf: Shelf, draft: Memory, now: datetime) -> tuple[Memory, str, str]:
    """Store a memory, or merge it into the one that says the same.

    Returns:
        the memory as it is stored now, what was done (`stored`, `merged` or `linked`), and the id
        of the other memory concerned ("" without one).
    """
    vector = ctx.embedding.query(draft.text)
    verdict, other = _compare(shelf, draft, vector)
    if verdict == "same" and other is not None:
        merged = shelf.journal.update(_merge(other, draft, now))
        ctx.notify()
        return merged, "merged", other.id
    memory = shelf.journal.add([draft])[0]
    if verdict == "related" and other is not None:
        shelf.journal.link(Link(memory.id, other.id, Relation.RELATES_TO, created_at=now))
    ctx.notify()
    if other is not None:
        return memory, "linked", other.id
    return memory, "stored", ""


def _compare(shelf: Shelf, draft: Memory, vector: Vector | None) -> tuple[str, Memory | None]:
    """Return whether a stored memory says the `same` or is `related`, and which."""
    twin = shelf.journal.find_by_hash(dedup.text_key(draft.text), draft.project)
    if twin is not None:
        return "same", twin
    if vector is None:
        return "new", None
    scope = Scope(projects=(draft.project,))
    near = shelf.nearest(vector, scope, NEIGHBOURS)
    loaded = shelf.load([candidate.seq for candidate in near])
    for seq, cosine in near:
        if seq in loaded:
            verdict = dedup.compare(draft.text, loaded[seq].text, cosine)
            if verdict != "new":
                return verdict, loaded[seq]
    return "new", None


def _merge(stored: Memory, draft: Memory, now: datetime) -> Memory:
    """Return the stored memory with the newer wording, all tags, the higher priority and a raised
    confidence."""
    order = [Priority.LOW, Priority.NORMAL, Priority.HIGH, Priority.CORE]
    return replace(
        stored,
        text=draft.text,
        tags=unique((*stored.tags, *draft.tags)),
        priority=max(stored.priority, draft.priority, key=order.index),
        confidence=min(1.0, stored.confidence + 0.1),
        updated_at=now,
    )
