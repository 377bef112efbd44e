"""Remember: one memory said on purpose, stored, merged, superseding or linked."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from vector_memory import redact
from vector_memory.errors import BadInputError
from vector_memory.index.entities import entities_extra
from vector_memory.model import (
    COLLECTIONS,
    DEFAULT_COLLECTION,
    GLOBAL_PROJECT,
    IS_FOREIGN,
    JURISDICTIONS,
    PROPOSED,
    QUIET,
    TRIGGERS,
    CleanText,
    Link,
    Memory,
    Origin,
    Priority,
    Relation,
    Retention,
    Sensitivity,
    Temporal,
    strictest,
)
from vector_memory.service.base import messages, privacy, reach, request_fields
from vector_memory.service.base.context import Context, new_id
from vector_memory.service.base.shelf import Shelf, project_names, project_roots
from vector_memory.service.edit.inherited_levels import keep_level
from vector_memory.service.learning import procedures
from vector_memory.service.memory import (
    agent_rights,
    placement,
    proposals,
    trust_marks,
    users_words,
)
from vector_memory.service.memory.ageing_wishes import AgeingWishes, ageing_like, apply_wishes
from vector_memory.service.memory.lookup import lookup
from vector_memory.service.memory.placement import Placed, Tie
from vector_memory.service.memory.views import BriefView, brief
from vector_memory.text import priorities
from vector_memory.text.prompts import says_nothing

MODEL_WAIT_S = 5.0
MAX_CHARS = 20_000
SHOWN_CHARS = 300
TITLE_CHARS = 300
REQUESTED_IN = "said_in"
"""In `extra`: the session in which it was asked to be remembered. It is no part of that session's talk."""


OPEN_COLLECTIONS = tuple(name for name in COLLECTIONS if name not in QUIET)
"""Collections that a request may name: the quiet ones are written by observers alone."""


class RememberRequest(AgeingWishes):
    """Something is to be remembered.

    Attributes:
        id: what the memory is to be called, 32 hexadecimal digits: asked twice, it is stored once.
        at: when it was said; None for now.
        supersedes: the id of the memory that gives way to it, or how that begins. What the request does not say is
            taken from that memory: project, kind, tags, triggers, how it ages, and where the user asks, priority.
        answers: the id of what it answers, or how that begins. It is stored in that one's project, unless the request
            names another.
        session: the session in which it was asked to be remembered.
        origin: whose words it is said to be, one of `Origin`.
        triggers: conditions under which it comes by itself, see `learning.procedures.read`.
        sensitivity: who may see it; as usual where it is None. `jurisdiction`: whose law it is kept under.
        wait: compare it with what is there; without, it is stored beside all others.
    """

    text: str = messages.text(MAX_CHARS)
    id: str = messages.read_by(request_fields.new_id_of, "")
    title: str = messages.word()
    kind: str = messages.kind()
    priority: Priority | None = messages.one_of(Priority, None)
    tags: tuple[str, ...] = messages.words()
    files: tuple[str, ...] = messages.words()
    collection: str = messages.one_of(OPEN_COLLECTIONS, DEFAULT_COLLECTION)
    at: datetime | None = messages.moment()
    supersedes: str = messages.maybe_text()
    answers: str = messages.maybe_text()
    session: str = messages.word()
    origin: str = messages.one_of(Origin)
    triggers: tuple[str, ...] = messages.words()
    sensitivity: Sensitivity | None = messages.one_of(Sensitivity, None)
    jurisdiction: str = messages.one_of(JURISDICTIONS)
    wait: bool = messages.flag(default=True)


class TieView(BriefView, kw_only=True):
    """A stored memory that a new one belongs to or speaks against.

    Attributes:
        relation: what the new memory is to it.
        reason: the words by which both differ.
    """

    relation: Relation
    reason: str


class Suggestion(messages.Answer):
    """What would settle a contradiction.

    Attributes:
        differs: the words by which both memories differ.
        older: the id of the one that is older by its date.
        if_replaced: the command for where it holds no more, `if_both_hold` that for where it does.
    """

    differs: str
    older: str
    if_replaced: str
    if_both_hold: str


class RememberAnswer(BriefView, kw_only=True):
    """A memory as it is stored, its words without secrets, and what was done.

    Attributes:
        action: `stored`, `merged`, `superseded`, `linked`, `unchanged`, or `proposed`: it waits for the user.
        redactions: how many secrets were taken out.
        of: the id of the other memory that is most concerned.
        relation: what the memory is to that one, and by which words (`reason`).
        links: all that it belongs to or speaks against.
        near: others close in meaning, which may hold no more: only a reader can tell.
        suggested_priority: what its words sound like, where no priority was given.
        raised: memories that repeat its words and became as sensitive with it.
    """

    action: str
    project: str
    priority: str
    redactions: int
    of: str | None = messages.spare()
    relation: Relation | None = messages.spare()
    reason: str | None = messages.spare()
    links: list[TieView] | None = messages.spare()
    near: list[BriefView] | None = messages.spare()
    suggestion: Suggestion | None = messages.spare()
    suggested_priority: Priority | None = messages.spare()
    raised: list[BriefView] | None = messages.spare()


class _Target(NamedTuple):
    """Where a memory is to stand: a store, and a project by its id, name, and the folders whose rules of privacy hold."""

    shelf: Shelf
    project: str = GLOBAL_PROJECT
    name: str = ""
    folders: tuple[str, ...] = ()


def remember(ctx: Context, request: RememberRequest) -> RememberAnswer:
    """Store what a user or an agent asks to be remembered.

    Waits up to 5 s for the model, so that a duplicate is seen as one. Without a model the memory is
    stored all the same and embedded later. With `wait` false it is stored as it is, beside all others
    but one of equal text, and acknowledged as soon as it is on the disk.

    Raises:
        BadInputError: it says nothing ("yes", "hello"); what it supersedes is the user's own rule; what it supersedes or
            answers is in another store.
        NotFoundError: there is nothing of the id that it supersedes or answers.
        UnsafeTextError: the redactor could not handle the text.

    Returns:
        The memory's id, and what it was merged with, replaced or contradicts.
    """
    if says_nothing(request.text):
        raise BadInputError(
            f"{request.text.strip()!r} says nothing that could be looked for.",
            "Say what it is about, in a sentence.",
        )
    older = lookup(ctx, request.supersedes) if request.supersedes else None
    question = lookup(ctx, request.answers) if request.answers else None
    related = older or question
    if related:
        # That one gives way, or is closed: a change, as by `link`.
        agent_rights.require_allowed(ctx, "link", vars(request))
    if related and not request.project and not request.is_global:
        target = _target_beside(ctx, request, *related)
        root = next(iter(target.folders), "")
        request = replace(request, project=root, is_global=target.project == GLOBAL_PROJECT)
        # The rights were checked for the project that is asked from: now for the one that is written to.
        agent_rights.require_included(ctx, {**vars(request), "cwd": root})
        for verb in ("remember", "link"):
            agent_rights.require_allowed(ctx, verb, vars(request))
    else:
        target = _named_target(ctx, request)
    _require_one_store(target.shelf, older, "replace")
    _require_one_store(target.shelf, question, "answer")
    with redact.for_project(target.folders):
        return _store(ctx, request, target, older and older[1], question and question[1])


def _target_beside(ctx: Context, request: RememberRequest, shelf: Shelf, memory: Memory) -> _Target:
    """Return where a memory stands. The rules of privacy of the project that is asked from hold there, too."""
    asked_from = messages.place_of(ctx, request)
    if asked_from and asked_from.id == memory.project:
        # The store may know another folder of the project, or one that is gone.
        ctx.know_project(shelf, asked_from)
        return _Target(shelf, asked_from.id, asked_from.name, asked_from.folders)
    root = project_roots([shelf]).get(memory.project, "")
    folders = (
        *(ctx.place(root).folders if root else ()),
        *(asked_from.folders if asked_from else ()),
    )
    return _Target(shelf, memory.project, project_names([shelf])[memory.project], folders)


def _named_target(ctx: Context, request: RememberRequest) -> _Target:
    """Return where the project is that a request names, or comes from."""
    place = messages.place_of(ctx, request)
    shelf = ctx.shelf_of(place)
    if not place:
        return _Target(shelf)
    ctx.know_project(shelf, place)
    return _Target(shelf, place.id, place.name, place.folders)


def _store(
    ctx: Context,
    request: RememberRequest,
    target: _Target,
    older: Memory | None,
    question: Memory | None,
) -> RememberAnswer:
    """Store what is asked to be remembered.

    Args:
        older: what gives way to it.
        question: what it answers.
    """
    cleaned, shelf = redact.clean(request.text), target.shelf
    if older:
        if request.is_agent:
            agent_rights.require_not_the_users(older)
        request = _filled_from(request, older)
    draft = _draft(request, cleaned.text, target.project, ctx.now())
    draft = apply_wishes(ctx, request, _age_like(draft, older, ctx.now()) if older else draft)
    wishes = _wishes_for_user(request, draft)
    draft = trust_marks.with_trust_marks(draft, request.text)
    if request.wait and not wishes:
        ctx.embedding.wait(MODEL_WAIT_S)
    if wishes:
        related = {"supersedes": older, "answers": question}
        related_ids = {name: other.id for name, other in related.items() if other}
        placed = _store_proposal(ctx, shelf, draft, wishes, related_ids, request.text)
    elif older:
        placed = replace_with(ctx, shelf, draft, older)
    elif request.wait:
        placed = placement.place(ctx, shelf, draft, placement.vector_of(ctx, draft))
    else:
        # Who does not wait stores many: the index follows from afar.
        with ctx.filling.going_on():
            placed = placement.put(ctx, shelf, draft)
    if question and not wishes and placed.memory.id != question.id:
        tie = Link(placed.memory.id, question.id, Relation.ANSWERS, created_at=ctx.now())
        shelf.journal.link(tie)
    raised = _raise_level(ctx, shelf, request, placed)
    ctx.count("redactions", cleaned.redactions)
    other_ids = [tie.other.id for tie in placed.ties if placed.action in ("merged", "superseded")]
    ids = [placed.memory.id, *other_ids, *(other.id for other in raised)]
    ctx.state.audit("remember", request.actor, ids, {"action": placed.action})
    shown_placed = (
        placed if agent_rights.may_recall(ctx, request) else placed._replace(ties=(), near=())
    )
    answer = _answer(request, shown_placed, target.name, cleaned.redactions)
    return answer if request.is_agent or not raised else replace(answer, raised=raised)


def _raise_level(
    ctx: Context, shelf: Shelf, request: RememberRequest, placed: Placed
) -> list[BriefView]:
    """Raise what repeats a memory's words to the sensitivity that the request names, and return it."""
    if request.sensitivity is None or placed.action == PROPOSED:
        return []
    plain = replace(placed.memory, sensitivity=Sensitivity.INTERNAL)
    return keep_level(ctx, shelf, placed.memory, plain, is_agent=request.is_agent)


def _filled_from(request: RememberRequest, older: Memory) -> RememberRequest:
    """Return a request whose gaps are filled from the memory that gives way; an agent's request takes no priority."""
    return replace(
        request,
        kind=request.kind or older.kind,
        priority=request.priority or (None if request.is_agent else older.priority),
        tags=request.tags or older.tags,
        sensitivity=strictest(_level(request), older.sensitivity),
        jurisdiction=request.jurisdiction or older.jurisdiction,
    )


def _age_like(draft: Memory, older: Memory, now: datetime) -> Memory:
    """Return a draft with the triggers and the ageing of the memory that gives way to it."""
    triggers = {TRIGGERS: older.extra[TRIGGERS]} if TRIGGERS in older.extra else {}
    aged_draft = ageing_like(draft, older, now)
    return replace(aged_draft, extra={**triggers, **aged_draft.extra})


def _draft(request: RememberRequest, text: CleanText, project: str, now: datetime) -> Memory:
    """Return what is asked to be remembered as a memory.

    Args:
        text: its words, without secrets.
        project: the project's id, "" for none.
    """
    rule = COLLECTIONS[request.collection]
    said_in = {REQUESTED_IN: privacy.word(request.session)} if request.session else {}
    files = tuple(redact.clean(path).text for path in request.files)
    draft = Memory(
        id=request.id or new_id(),
        text=text,
        created_at=request.at or now,
        kind=privacy.word(request.kind) or "note",
        project=project,
        priority=request.priority or Priority.NORMAL,
        confidence=0.7,
        tags=tuple(redact.clean(tag).text for tag in request.tags),
        collection=request.collection,
        title=redact.clean(privacy.word(request.title)[:TITLE_CHARS]).text,
        files=files,
        sensitivity=_level(request),
        jurisdiction=request.jurisdiction,
        temporal=Temporal.DECAYING if rule.retention is Retention.DECAY else Temporal.PERMANENT,
        expires_at=now + timedelta(seconds=rule.ttl_s) if rule.ttl_s else None,
        extra={**said_in, **entities_extra(text, files)},
    )
    if request.triggers:
        draft = procedures.with_triggers(draft, request.triggers)
    return _attribute(request, draft)


def _level(request: RememberRequest) -> Sensitivity:
    """Return the sensitivity that a request names. An agent makes nothing public."""
    level = request.sensitivity or Sensitivity.INTERNAL
    return strictest(level, Sensitivity.INTERNAL) if request.is_agent else level


def _attribute(request: RememberRequest, draft: Memory) -> Memory:
    """Return a draft with its origin: the assistant's, unless the user has said its words in this turn, and then with
    no more weight than the user gave them."""
    if not request.is_agent:
        return replace(draft, origin=Origin(request.origin or Origin.USER))
    if request.said and users_words.is_said(request.text, request.said):
        priority = users_words.allowed_priority(draft.priority, request.said)
        return replace(draft, origin=Origin.USER, priority=priority)
    if request.origin not in (Origin.TOOL, Origin.IMPORT):
        return replace(draft, origin=Origin.ASSISTANT)
    # What an agent calls a tool's words or imported is not the user's.
    return replace(draft, origin=Origin(request.origin), extra={**draft.extra, IS_FOREIGN: True})


def _wishes_for_user(request: RememberRequest, draft: Memory) -> dict[str, object]:
    """Return what a request asks for that only the user may give, {} for nothing."""
    if not request.is_agent:
        return {}
    if draft.origin is not Origin.USER:
        return proposals.reserved_wishes(draft, request.is_global)
    is_for_all = not request.is_global or users_words.is_for_all(request.said)
    return {} if is_for_all else {"global": True}


def _store_proposal(
    ctx: Context,
    shelf: Shelf,
    draft: Memory,
    wishes: dict[str, object],
    related_ids: dict[str, str],
    raw: str,
) -> Placed:
    """Store what waits for the user: as the assistant's words, whoever said them.

    Args:
        related_ids: the ids of what it `supersedes` or `answers` once the user agrees.
    """
    attributed = draft if draft.is_foreign else replace(draft, origin=Origin.ASSISTANT)
    waiting = trust_marks.with_trust_marks(
        proposals.proposed(attributed, {**draft.weight, **wishes}, **related_ids), raw
    )
    return Placed(proposals.store_proposal(ctx, shelf, waiting), PROPOSED)


def _require_one_store(shelf: Shelf, other: tuple[Shelf, Memory] | None, act: str) -> None:
    if other and other[0] is not shelf:
        raise BadInputError(
            f"A memory can only {act} one of its own store.",
            "Give the --project of the older one, or --global.",
        )


def replace_with(ctx: Context, shelf: Shelf, draft: Memory, old: Memory) -> Placed:
    """Store a memory in the place of another one of the same store, which gives way to it.

    Returns:
        The memory that is stored, and how it was placed.
    """
    # It is there where the daemon was killed after this and the client asked again.
    memory = shelf.journal.by_ids([draft.id]).get(draft.id) or shelf.journal.add([draft])[0]
    shelf.journal.supersede(old.id, memory.id, ctx.now(), "replaced on request")
    ctx.notify()
    return Placed(memory, "superseded", (Tie(old, Relation.SUPERSEDES),))


def _answer(
    request: RememberRequest, placed: Placed, project: str, redactions: int
) -> RememberAnswer:
    """Return what is said of a memory that was stored.

    Args:
        project: the project's name, "" for none.
    """
    memory = placed.memory
    return brief(
        RememberAnswer,
        memory,
        project=project,
        redactions=redactions,
        **_tie_fields(placed),
        suggested_priority=_suggested_priority(request, memory),
    )


def _tie_fields(placed: Placed) -> dict[str, Any]:
    """Return the fields of the answer that say what was done, and name other memories, as far as who asks may be given
    them."""
    ties = [tie for tie in placed.ties if reach.holds(tie.other)]
    action = placed.action if ties or not placed.ties else "stored"
    near_memories = reach.visible(placed.near)[: placement.MOST_ASKED]
    near = [
        brief(BriefView, other, text=other.text[:SHOWN_CHARS]) for other in near_memories
    ] or None
    if not ties:
        return {"action": action, "near": near}
    main_tie = ties[0]
    if placed.action == "merged":
        return {"action": action, "of": main_tie.other.id}
    contradicting = [tie for tie in ties if tie.relation is Relation.CONTRADICTS]
    return {
        "action": action,
        "of": main_tie.other.id,
        "relation": main_tie.relation,
        "reason": main_tie.reason,
        "links": [_tie_view(tie) for tie in ties],
        "near": near,
        "suggestion": _suggestion(placed.memory, contradicting[0]) if contradicting else None,
    }


def _tie_view(tie: Tie) -> TieView:
    text = tie.other.text[:SHOWN_CHARS]
    return brief(TieView, tie.other, text=text, relation=tie.relation, reason=tie.reason)


def _suggestion(memory: Memory, tie: Tie) -> Suggestion:
    is_newer = memory.created_at >= tie.other.created_at
    newer, older = (memory, tie.other) if is_newer else (tie.other, memory)
    # What was told of the past does not replace what came after it.
    new, old = newer.id[:12], older.id[:12]
    return Suggestion(
        differs=tie.reason,
        older=older.id,
        if_replaced=f"vector-memory link {new} {old} --relation supersedes",
        if_both_hold=f"vector-memory link {new} {old} --remove",
    )


def _suggested_priority(request: RememberRequest, memory: Memory) -> Priority | None:
    """Return the priority that the text suggests, None where one was given or it is that already."""
    suggested = priorities.suggest(memory.text)
    is_other = suggested not in (Priority.NORMAL, memory.priority)
    return suggested if request.priority is None and is_other else None
