"""An agent's change of a memory: its words take the place of the old ones, which stay in the history, and
what the user or others said does not become the agent's or the user's by it."""

from __future__ import annotations

from dataclasses import replace

from vector_memory import redact
from vector_memory.errors import BadInputError
from vector_memory.model import IS_FOREIGN, PROPOSED, Memory, Origin, Source, Status, Tier
from vector_memory.service.base import messages, request_fields
from vector_memory.service.base.context import Context, new_id
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.edit.edit_forget import EditRequest, changed_by
from vector_memory.service.memory import agent_rights, merging, proposals, trust_marks
from vector_memory.service.memory.lookup import lookup
from vector_memory.service.memory.views import MemoryView, view_in

MAX_CHARS = 20_000


class RewriteRequest(EditRequest):
    """An agent would have a memory changed.

    Attributes:
        new_id: what the memory of the new words is to be called: asked twice, it is stored once.
    """

    text: str | None = messages.or_none(messages.text(MAX_CHARS))
    new_id: str = messages.read_by(request_fields.new_id_of, "")


class RewriteAnswer(messages.Answer):
    """A memory as it is now.

    Attributes:
        was: the id of the one that it was: another one where it has new words.
        action: `proposed` where a part of it waits for the user.
    """

    memory: MemoryView
    was: str
    action: str | None = messages.spare()


def rewrite(ctx: Context, request: RewriteRequest) -> RewriteAnswer:
    """Give a memory other words, which supersede the old ones, or another kind, tags or priority.

    Raises:
        NotFoundError: no memory's id begins so.
        BadInputError: nothing is to be changed, or it is the user's own rule.
        UnsafeTextError: the redactor could not handle the text.
    """
    shelf, memory = lookup(ctx, request.id)
    agent_rights.require_not_the_users(memory)
    agent_rights.require_decided(memory)
    if request.is_empty and request.text is None:
        raise BadInputError("Nothing to change.", "Give text, kind, tags or priority.")
    if request.new_id and memory.superseded_by == request.new_id:
        # The daemon was killed after this, and the client asks again.
        stored = shelf.journal.by_ids([request.new_id])[request.new_id]
        return _answer(shelf, stored, memory, bool(stored.proposed))
    if memory.status is not Status.ACTIVE:
        raise BadInputError(
            f"Memory {memory.id[:12]} gave way to another one.", "Change that one: see its history."
        )
    changed = replace(changed_by(ctx, request, memory), updated_at=ctx.now())
    asks = _asks(memory, changed, request.text is not None)
    if asks:
        changed = proposals.suggested(_without(changed, memory, asks), asks)
    if request.text is None:
        foreign = memory.is_foreign or memory.is_suspicious
        stored = shelf.journal.update(trust_marks.as_information(changed) if foreign else changed)
    else:
        reworded = replace(changed, id=request.new_id or new_id())
        stored = _superseded(ctx, shelf, memory, reworded, request.text)
    if asks:
        proposals.note(ctx, stored.project)
    ctx.changed()
    ids = list(dict.fromkeys((stored.id, memory.id)))
    ctx.state.audit("edit", request.actor, ids, {})
    return _answer(shelf, stored, memory, bool(asks))


def _answer(shelf: Shelf, stored: Memory, was: Memory, is_proposed: bool) -> RewriteAnswer:
    return RewriteAnswer(view_in(shelf, stored), was.id, PROPOSED if is_proposed else None)


def _without(changed: Memory, memory: Memory, asks: dict[str, object]) -> Memory:
    """Return a changed memory without the weight that is asked for: as it was, or, where it was so before
    and has new words, as information."""
    had = replace(changed, **{name: getattr(memory, name) for name in asks})
    return trust_marks.as_information(had) if asks.keys() & had.weight.keys() else had


def _asks(memory: Memory, changed: Memory, is_reworded: bool) -> dict[str, object]:
    """Return what an agent asks for that is the user's to give: new weight, or the old one for new words."""
    if memory.is_foreign or memory.is_suspicious:
        return {}
    had = {} if is_reworded else memory.weight
    return {name: value for name, value in changed.weight.items() if had.get(name) != value}


def _superseded(ctx: Context, shelf: Shelf, old: Memory, changed: Memory, raw: str) -> Memory:
    """Store a changed memory with other words in the place of the old one.

    Args:
        changed: it with an id of its own.
        raw: the words as they came.
    """
    cleaned = redact.clean(raw)
    ctx.count("redactions", cleaned.redactions)
    asks = (
        {PROPOSED: changed.proposed}
        if changed.extra.get(PROPOSED) != old.extra.get(PROPOSED)
        else {}
    )
    draft = replace(
        changed,
        text=cleaned.text,
        created_at=ctx.now(),
        origin=Origin.TOOL if old.is_foreign else Origin.ASSISTANT,
        source=Source(),
        external_id="",
        extra={
            name: value
            for name, value in trust_marks.unmarked(changed.extra).items()
            if name not in ("sources", merging.VOICES, "entities", IS_FOREIGN)
        }
        | asks,
        model="",
        seq=0,
        stored_at=None,
        updated_at=None,
        uses=0,
        last_used_at=None,
        tier=Tier.HOT,
        applied=0,
        applied_at=None,
    )
    with shelf.storing:
        stored = shelf.journal.by_ids([draft.id]).get(draft.id)
        stored = stored or shelf.journal.add([trust_marks.settled(draft, raw)])[0]
        shelf.journal.supersede(old.id, stored.id, ctx.now(), "edited by the assistant")
    return stored
