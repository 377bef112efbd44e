"""An agent's change of a memory: its words take the place of the old ones, which stay in the history, and
what the user or others said does not become the agent's or the user's by it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from vector_memory import redact
from vector_memory.errors import BadInputError
from vector_memory.model import IS_FOREIGN, PROPOSED, Memory, Origin, Source, Status
from vector_memory.service.base import privacy, request_fields
from vector_memory.service.base.context import Context, new_id
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory import agent_rights, merging, proposals, trust_marks
from vector_memory.service.memory.lookup import lookup, project_names
from vector_memory.service.memory.views import memory_json

MAX_CHARS = 20_000


def rewrite(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Give a memory other words, which supersede the old ones, or another kind, tags or priority.

    Raises:
        NotFoundError: no memory's id begins so.
        BadInputError: nothing is to be changed, or it is the user's own rule.
        UnsafeTextError: the redactor could not handle the text.
    """
    shelf, memory = lookup(ctx, request_fields.text_of(request, "id", 64))
    agent_rights.require_not_the_users(memory)
    agent_rights.require_decided(memory)
    changes = _changes(request)
    if not changes and request.get("text") is None:
        raise BadInputError("Nothing to change.", "Give text, kind, tags or priority.")
    if memory.status is not Status.ACTIVE:
        raise BadInputError(
            f"Memory {memory.id[:12]} gave way to another one.", "Change that one: see its history."
        )
    changed = replace(memory, **changes, updated_at=ctx.now())
    asks = _asks(memory, changed, request.get("text") is not None)
    if asks:
        changed = proposals.suggested(_without(changed, memory, asks), asks)
    if request.get("text") is None:
        foreign = memory.is_foreign or memory.is_suspicious
        stored = shelf.journal.update(trust_marks.as_information(changed) if foreign else changed)
    else:
        stored = _superseded(ctx, shelf, memory, changed, request)
    if asks:
        proposals.note(ctx, stored.project)
    ctx.drop_snapshots()
    ctx.notify()
    ids = list(dict.fromkeys((stored.id, memory.id)))
    ctx.state.audit("edit", request_fields.actor_of(request), ids, {})
    names = project_names([shelf])
    told = {"action": PROPOSED} if asks else {}
    return {"memory": memory_json(stored, names), "was": memory.id, **told}


def _without(changed: Memory, memory: Memory, asks: dict[str, Any]) -> Memory:
    """Return a changed memory without the weight that is asked for: as it was, or, where it was so before
    and has new words, as information."""
    had = replace(changed, **{name: getattr(memory, name) for name in asks})
    return trust_marks.as_information(had) if asks.keys() & had.weight.keys() else had


def _asks(memory: Memory, changed: Memory, is_reworded: bool) -> dict[str, Any]:
    """Return what an agent asks for that is the user's to give: new weight, or the old one for new words."""
    if memory.is_foreign or memory.is_suspicious:
        return {}
    had = {} if is_reworded else memory.weight
    return {name: value for name, value in changed.weight.items() if had.get(name) != value}


def _changes(request: request_fields.Request) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if request.get("kind"):
        changes["kind"] = privacy.word(str(request["kind"]))
    if request.get("tags") is not None:
        changes["tags"] = tuple(
            redact.clean(tag).text for tag in request_fields.words_of(request, "tags")
        )
    if request.get("priority") is not None:
        changes["priority"] = request_fields.priority_of(request)
    return changes


def _superseded(
    ctx: Context, shelf: Shelf, old: Memory, changed: Memory, request: request_fields.Request
) -> Memory:
    raw = request_fields.text_of(request, "text", MAX_CHARS)
    cleaned = redact.clean(raw)
    ctx.count("redactions", cleaned.redactions)
    asks = (
        {PROPOSED: changed.proposed}
        if changed.extra.get(PROPOSED) != old.extra.get(PROPOSED)
        else {}
    )
    draft = replace(
        changed,
        id=new_id(),
        text=cleaned.text,
        created_at=ctx.now(),
        origin=Origin.TOOL if old.is_foreign else Origin.ASSISTANT,
        source=Source(),
        external_id="",
        extra={
            name: value
            for name, value in trust_marks.unmarked(old.extra).items()
            if name not in ("sources", merging.VOICES, "entities", IS_FOREIGN)
        }
        | asks,
        model="",
        seq=0,
        stored_at=None,
        updated_at=None,
        uses=0,
        last_used_at=None,
    )
    with shelf.storing:
        stored = shelf.journal.add([trust_marks.settled(draft, raw)])[0]
        shelf.journal.supersede(old.id, stored.id, ctx.now())
    return stored
