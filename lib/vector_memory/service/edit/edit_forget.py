"""Change what is stored: edit and forget; and what an agent may change of it, which supersedes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from vector_memory import redact
from vector_memory.errors import BadInputError
from vector_memory.model import (
    EDITED,
    IS_FOREIGN,
    JURISDICTIONS,
    PROPOSED,
    Memory,
    Origin,
    Priority,
    Sensitivity,
    Source,
    Status,
)
from vector_memory.retrieve.precedence import holds_as_much
from vector_memory.service.base import messages, privacy, reach, request_fields
from vector_memory.service.base.context import Context, new_id
from vector_memory.service.base.shelf import Shelf, project_names
from vector_memory.service.capture import session_summary
from vector_memory.service.edit.inherited_levels import keep_level
from vector_memory.service.learning import procedures
from vector_memory.service.memory import agent_rights, merging, proposals, trust_marks
from vector_memory.service.memory.ageing_wishes import AgeingWishes, apply_wishes
from vector_memory.service.memory.companions import companions
from vector_memory.service.memory.history import chain_of
from vector_memory.service.memory.lookup import answer, lookup
from vector_memory.service.memory.views import BriefView, MemoryView, memory_view, view_in
from vector_memory.text import analysis

MAX_BY_QUERY = 20
NO_LAW = "none"


class EditRequest(AgeingWishes):
    """A memory is to be changed; fields that are None, and a kind that is "", stay as they are.

    Attributes:
        id: the memory's id, or how it begins.
        jurisdiction: whose law it is kept under, or `NO_LAW`.
        triggers: conditions under which it comes by itself, see `learning.procedures.read`.
    """

    id: str = messages.text(64)
    text: str | None = messages.or_none(messages.text())
    kind: str = messages.kind()
    tags: tuple[str, ...] | None = messages.or_none(messages.words())
    priority: Priority | None = messages.one_of(Priority, None)
    triggers: tuple[str, ...] | None = messages.or_none(messages.words())
    sensitivity: Sensitivity | None = messages.one_of(Sensitivity, None)
    jurisdiction: str = messages.one_of((*JURISDICTIONS, NO_LAW))

    @property
    def is_empty(self) -> bool:
        """Whether nothing beside the text is to be changed."""
        unsaid = (self.tags, self.priority, self.triggers, self.sensitivity)
        is_unsaid = all(value is None for value in unsaid)
        return not (self.kind or self.jurisdiction) and is_unsaid and self.wishes_nothing


class EditAnswer(messages.Answer):
    """A memory as it is now.

    Attributes:
        raised: memories that repeat its words and became as sensitive with it.
    """

    memory: MemoryView
    raised: list[BriefView] | None = messages.spare()


def edit(ctx: Context, request: EditRequest) -> EditAnswer:
    """Change a memory's text, kind, tags or priority; its vector follows.

    Raises:
        NotFoundError: no memory's id begins so.
        BadInputError: nothing is to be changed.
        UnsafeTextError: the redactor could not handle the text.

    Returns:
        The memory as it is now.
    """
    shelf, memory = lookup(ctx, request.id)
    if request.is_empty and request.text is None:
        raise BadInputError(
            "Nothing to change.", "Give --text, --kind, --tag, --priority or --due."
        )
    with shelf.storing:
        # Read anew: nobody merges into it now, and what was merged since stays.
        shelf, memory = lookup(ctx, memory.id)
        changed = replace(with_changes(ctx, request, memory), updated_at=ctx.now())
        if request.text is not None:
            # Whoever rewords it has read it: the marks of suspicion belonged to the old words.
            extra = {**trust_marks.unmarked(memory.extra), EDITED: True}
            changed = replace(changed, text=redact.clean(request.text).text, extra=extra)
            changed = proposals.reviewed(changed, "edited", ctx.now())
        stored = shelf.journal.update(changed, memory)
    raised = keep_level(ctx, shelf, stored, memory, is_agent=request.is_agent)
    ctx.notify()
    ctx.state.audit("edit", request.actor, [memory.id, *(other.id for other in raised)], {})
    return EditAnswer(view_in(shelf, stored), raised or None)


def with_changes(ctx: Context, request: EditRequest, memory: Memory) -> Memory:
    """Return a memory with the fields that a request changes, its text excepted, without secrets."""
    tags = request.tags
    if request.triggers is not None:
        memory = procedures.with_triggers(memory, request.triggers)
    return replace(
        apply_wishes(ctx, request, memory),
        kind=privacy.word(request.kind) if request.kind else memory.kind,
        tags=memory.tags if tags is None else tuple(redact.clean(tag).text for tag in tags),
        priority=memory.priority if request.priority is None else request.priority,
        **_level_and_law(request, memory),
    )


def _level_and_law(request: EditRequest, memory: Memory) -> dict[str, Any]:
    """Return how sensitive a memory is to be and whose law it is kept under: only the user changes that here."""
    level, law = request.sensitivity or memory.sensitivity, request.jurisdiction
    if request.is_agent and (
        level is not memory.sensitivity or law not in ("", memory.jurisdiction)
    ):
        request.require_user("changes how sensitive a memory is")
    jurisdiction = "" if law == NO_LAW else law or memory.jurisdiction
    return {"sensitivity": level, "jurisdiction": jurisdiction}


class ForgetRequest(messages.Filter):
    """Memories are to be forgotten: those of `ids`, or else of the scope, and with `query` the `k` of it that
    answer best.

    Attributes:
        ids: memories' ids, or how they begin.
        dry_run: only show which these are.
    """

    ids: tuple[str, ...] = messages.words()
    query: str = messages.maybe_text()
    k: int = messages.number(MAX_BY_QUERY, 1, 1_000)
    dry_run: bool = messages.flag()


class ForgetAnswer(messages.Answer):
    """Memories that are forgotten, or would be, and how many are."""

    memories: list[MemoryView]
    forgotten: int


def forget(ctx: Context, request: ForgetRequest) -> ForgetAnswer:
    """Forget memories by id, query, tag or date, with what cannot be found without them and what was
    drawn from them; with `dry_run` only show which.

    Their words are gone from the journal at once, and from the index when it has followed.

    Raises:
        NotFoundError: there is none of an id.
        BadInputError: the request names no memories, or memories would go that who asks may not be given.

    Returns:
        Ids and texts of what went, or would go.
    """
    chosen = with_companions(_memories_to_forget(ctx, request))
    reach.require_all(memory for _, memory in chosen)
    names = project_names([shelf for shelf, _ in chosen])
    views = [memory_view(memory, names) for _, memory in chosen]
    if request.dry_run:
        return ForgetAnswer(views, 0)
    for shelf, memories in _by_shelf(chosen):
        ids = [memory.id for memory in memories]
        shelf.journal.forget(ids)
        ctx.state.audit("forget", request.actor, ids, {})
    # Topics, summaries and archives repeat what was said.
    sessions = {memory.source.session for _, memory in chosen if memory.source.session}
    ctx.later(lambda: session_summary.remake_after_forget(ctx, sessions))
    for shelf, _ in _by_shelf(chosen):
        # What the full-text index and the log still hold of the words goes when nobody waits.
        ctx.later(shelf.journal.scrub)
    ctx.changed()
    return ForgetAnswer(views, len(chosen))


def _memories_to_forget(ctx: Context, request: ForgetRequest) -> list[tuple[Shelf, Memory]]:
    """Return the memories that are asked to be forgotten, each with its store."""
    if request.ids:
        return [lookup(ctx, prefix) for prefix in request.ids]
    asker = messages.asker_of(ctx, request)
    if request.query:
        ctx.embedding.wait(3.0)
        hits = answer(ctx, request.query, asker, request.k, cold=True).hits
        terms, least = set(analysis.analyse(request.query)), ctx.settings.threshold
        # A memory with every word of the question is meant, however low its relevance is.
        matches = (
            (asker.shelves[hit.shelf], hit)
            for hit in hits
            if hit.relevance >= least
            or (hit.fits and terms <= set(analysis.analyse(hit.memory.text)))
        )
        return [(shelf, _earlier_match(shelf, hit.memory, request.query)) for shelf, hit in matches]
    if not request.is_limited:
        raise BadInputError("Forget what?", "Name ids, or give --query, --tag, --since or --until.")
    return [
        (shelf, memory)
        for shelf in asker.shelves
        for memory in shelf.journal.iter_memories(asker.scope)
    ]


def _earlier_match(shelf: Shelf, memory: Memory, query: str) -> Memory:
    """Return the memory that is meant: the one that was found, unless one that gave way to it has a word of the question
    that it lacks. A search finds what holds now in the place of what it replaced."""
    older = chain_of(shelf, memory)[:-1]
    better_matches = (other for other in older if not holds_as_much(query, memory.text, other.text))
    return next(better_matches, memory)


def with_companions(chosen: list[tuple[Shelf, Memory]]) -> list[tuple[Shelf, Memory]]:
    """Return memories with those that go with them."""
    groups = _by_shelf(chosen)
    return [
        *chosen,
        *((shelf, memory) for shelf, memories in groups for memory in companions(shelf, memories)),
    ]


def _by_shelf(chosen: Sequence[tuple[Shelf, Memory]]) -> list[tuple[Shelf, list[Memory]]]:
    shelves = {id(shelf): shelf for shelf, _ in chosen}.values()
    return [(shelf, [memory for holder, memory in chosen if holder is shelf]) for shelf in shelves]


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
    changed = replace(with_changes(ctx, request, memory), updated_at=ctx.now())
    wishes = _weight_asked(memory, changed, request.text is not None)
    if wishes:
        changed = proposals.suggested(_without_weight(changed, memory, wishes), wishes)
    if request.text is None:
        is_foreign = memory.is_foreign or memory.is_suspicious
        stored = shelf.journal.update(
            trust_marks.as_information(changed) if is_foreign else changed, memory
        )
    else:
        reworded = replace(changed, id=request.new_id or new_id())
        stored = _store_reworded(ctx, shelf, memory, reworded, request.text)
    if wishes:
        proposals.note(ctx, stored.project)
    ctx.changed()
    ids = list(dict.fromkeys((stored.id, memory.id)))
    ctx.state.audit("edit", request.actor, ids, {})
    return _answer(shelf, stored, memory, bool(wishes))


def _answer(shelf: Shelf, stored: Memory, old: Memory, is_proposed: bool) -> RewriteAnswer:
    return RewriteAnswer(view_in(shelf, stored), old.id, PROPOSED if is_proposed else None)


def _without_weight(changed: Memory, memory: Memory, wishes: dict[str, object]) -> Memory:
    """Return a changed memory without the weight that is asked for: with the old weight, or, where that is the weight
    asked for and the words are new, as information."""
    unweighted = replace(changed, **{name: getattr(memory, name) for name in wishes})
    return (
        trust_marks.as_information(unweighted)
        if wishes.keys() & unweighted.weight.keys()
        else unweighted
    )


def _weight_asked(memory: Memory, changed: Memory, is_reworded: bool) -> dict[str, object]:
    """Return the weight that only the user may give: a new one, or the old one for new words."""
    if memory.is_foreign or memory.is_suspicious:
        return {}
    return {**changed.weight} if is_reworded else proposals.weight_asked(memory, changed)


def _store_reworded(ctx: Context, shelf: Shelf, old: Memory, changed: Memory, raw: str) -> Memory:
    """Store a changed memory with other words in the place of the old one.

    Args:
        changed: it with an id of its own.
        raw: the words as they came.
    """
    cleaned = redact.clean(raw)
    ctx.count("redactions", cleaned.redactions)
    proposal = (
        {PROPOSED: changed.proposed}
        if changed.extra.get(PROPOSED) != old.extra.get(PROPOSED)
        else {}
    )
    draft = changed.as_new(
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
        | proposal,
    )
    with shelf.storing:
        stored = shelf.journal.by_ids([draft.id]).get(draft.id)
        stored = stored or shelf.journal.add([trust_marks.with_trust_marks(draft, raw)])[0]
        shelf.journal.supersede(old.id, stored.id, ctx.now(), "edited by the assistant")
    return stored
