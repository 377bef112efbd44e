"""What waits for the user's look: listed, and then made to count, kept as it is, raised, or forgotten."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace

from vector_memory import redact
from vector_memory.errors import BadInputError
from vector_memory.journal.use_labels import REVIEW
from vector_memory.model import (
    PREFERENCE,
    PROPOSED,
    Link,
    Memory,
    Origin,
    Priority,
    Relation,
    Status,
)
from vector_memory.service.base import messages, reach
from vector_memory.service.base.context import Context, new_id
from vector_memory.service.base.shelf import ProjectNames, Shelf, project_names
from vector_memory.service.edit import edit_forget, labels, review_items
from vector_memory.service.edit.review_items import CONFIRM, DROP, KEEP, RAISE, Item
from vector_memory.service.memory import (
    confidence,
    links,
    merging,
    placement,
    proposals,
    trust_marks,
)
from vector_memory.service.memory.lookup import lookup
from vector_memory.service.memory.views import BriefView, brief

CONFIRMED = "confirmed"
"""In `extra`: that the user confirmed it, and whose words it was."""
DECISIONS = (CONFIRM, KEEP, DROP, RAISE)


class ReviewRequest(messages.Request):
    """What waits for the user is to be listed, `k` memories at most, or decided about.

    Attributes:
        confirm: ids of memories that are to count as they were proposed, or how these begin; `keep` of those
            that stay what they are, `drop` of those to be forgotten, `raises` of those that matter more. Of two
            that disagree the id is the newer one's: it holds, both hold, or it gives way.
        text: the words in which what was said often is to be stored, where its id is confirmed.
        finish: all that was captured by now is looked through.
    """

    confirm: tuple[str, ...] = messages.words()
    keep: tuple[str, ...] = messages.words()
    drop: tuple[str, ...] = messages.words()
    raises: tuple[str, ...] = messages.words(RAISE)
    text: str = messages.maybe_text(20_000)
    finish: bool = messages.flag()
    k: int = messages.number(100_000, 1, 100_000)

    @property
    def chosen(self) -> dict[str, tuple[str, ...]]:
        """The ids by what is decided about them, in the order of `DECISIONS`."""
        return dict(zip(DECISIONS, (self.confirm, self.keep, self.drop, self.raises), strict=True))


class WaitingView(BriefView, kw_only=True):
    """A memory that waits for the user: its `text` is "" where an agent asks about what is held back, its `kind`
    what it is proposed as.

    Attributes:
        reason: why it waits, one of `review_items.ACTIONS`.
        actions: what can be decided about it: `DECISIONS` and `edit`.
        session: in which it was said, "" for none; `title` what was asked for there.
        sessions: in how many it was said.
        other: the older of two memories that disagree, or say nearly the same.
    """

    reason: str
    actions: list[str]
    project: str
    priority: str
    session: str
    title: str
    sessions: int
    other: BriefView | None = messages.spare()


class WaitingAnswer(messages.Answer):
    """What waits for the user, as `review_items.items` orders it, and how much it is in all."""

    items: list[WaitingView]
    total: int


class DecidedAnswer(messages.Answer):
    """The ids of memories by what was decided about them."""

    confirmed: list[str]
    kept: list[str]
    dropped: list[str]
    raised: list[str] = field(default_factory=list)


def review(ctx: Context, request: ReviewRequest) -> WaitingAnswer | DecidedAnswer:
    """Return what waits for the user, or decide about the ids under `confirm`, `keep`, `drop` and `raise`. An
    agent is told what waits in the project that it asks about; of what is held back it is not told the words.

    Raises:
        BadInputError: an agent decides, or a memory does not wait for that.
        NotFoundError: there is none of an id.
    """
    if any(request.chosen.values()) or request.finish:
        request.require_user("decides what is remembered")
        return _decide(ctx, request)
    items = [item for item in review_items.items(ctx) if reach.holds(item.memory)]
    items = [item for item in items if item.other is None or reach.holds(item.other)]
    if request.is_agent:
        projects = messages.asker_of(ctx, request).scope.projects
        items = [item for item in items if projects is None or item.memory.project in projects]
    names = project_names(ctx.all_shelves())
    shown = [_waiting_view(item, names, request.is_agent) for item in items[: request.k]]
    return WaitingAnswer(shown, len(items))


def _waiting_view(item: Item, names: ProjectNames, for_agent: bool) -> WaitingView:
    memory, other = item.memory, item.other
    is_unanswered = item.reason == review_items.UNANSWERED
    text = memory.title if is_unanswered else memory.text
    is_hidden = for_agent and item.reason in (review_items.PROPOSED, review_items.SUSPICIOUS)
    kind = PREFERENCE if is_unanswered else str(memory.proposed.get("kind") or memory.kind)
    return brief(
        WaitingView,
        memory,
        reason=item.reason,
        text="" if is_hidden else text,
        kind=kind,
        actions=list(review_items.ACTIONS[item.reason]),
        project=names[memory.project],
        session=memory.source.session,
        title="" if is_unanswered or is_hidden else memory.title,
        sessions=item.sessions or len(merging.sessions_of(memory)),
        other=brief(BriefView, other) if other else None,
    )


def _decide(ctx: Context, request: ReviewRequest) -> DecidedAnswer:
    chosen = [
        (name, _waiting_item(ctx, name, prefix))
        for name, ids in request.chosen.items()
        for prefix in ids
    ]
    decided: dict[str, list[str]] = {name: [] for name in DECISIONS}
    for name, item in chosen:
        if name == CONFIRM:
            _confirm(ctx, item, request.text)
        else:
            _ACTS[name](ctx, item)
        decided[name].append(item.memory.id)
        ctx.state.audit(f"review_{name}", request.actor, [item.memory.id], {"why": item.reason})
    if request.finish:
        proposals.finish_review(ctx)
        ctx.state.audit("review_finish", request.actor, [], {})
    for name, item in chosen:
        labels.keep(ctx, REVIEW, [item.memory], name != DROP)
    proposals.note_decided(ctx, [item.memory for _, item in chosen])
    ctx.changed()
    return DecidedAnswer(decided[CONFIRM], decided[KEEP], decided[DROP], decided[RAISE])


def _waiting_item(ctx: Context, name: str, prefix: str) -> Item:
    """Return what a review asks about a memory, where that decision can be made about it.

    Raises:
        BadInputError: it cannot.
        NotFoundError: there is none of an id.
    """
    shelf, memory = lookup(ctx, prefix)
    item = review_items.item_of(ctx, shelf, memory)
    if item is not None and name in review_items.ACTIONS[item.reason]:
        return item
    raise BadInputError(
        f"Memory {memory.id[:12]} does not wait for that.",
        "`vector-memory review` shows what does.",
    )


def _confirm(ctx: Context, item: Item, text: str = "") -> None:
    """Make what is asked about hold, as the user's own word.

    Args:
        text: the words in which what was said often is to be stored, where not in those.
    """
    if item.other is not None:
        _replace(ctx, item.shelf, item.other, item.memory)
        _settle(ctx, item, "confirmed")
    elif item.reason == review_items.UNANSWERED:
        _store(ctx, item, text)
        _settle(ctx, item, "confirmed")
    elif item.reason == review_items.OFTEN_USED:
        _settle(ctx, item, "raised", replace(item.memory, priority=Priority.CORE))
    else:
        _confirm_words(ctx, item.shelf, item.memory)


def _store(ctx: Context, item: Item, text: str) -> None:
    """Store what was said in several sessions as a preference of the user's."""
    passage = item.memory
    draft = Memory(
        new_id(),
        redact.clean(text or passage.title).text,
        ctx.now(),
        kind=PREFERENCE,
        project=passage.project,
        confidence=0.7,
    )
    placement.place(ctx, item.shelf, draft, placement.vector_of(ctx, draft))


def _confirm_words(ctx: Context, shelf: Shelf, memory: Memory) -> None:
    """Make a memory what it was proposed as, or what it is, as the user's own word."""
    proposal = memory.proposed
    extra = trust_marks.unmarked(memory.extra)
    confirmed = replace(
        memory,
        origin=Origin.USER,
        kind=str(proposal.get("kind") or memory.kind),
        priority=Priority(proposal.get("priority") or memory.priority),
        collection=str(proposal.get("collection") or memory.collection),
        confidence=max(memory.confidence, confidence.MOST) if not proposal else memory.confidence,
        extra={**extra, CONFIRMED: {"at": ctx.now().isoformat(), "of": memory.origin.value}},
    )
    shelf.journal.update(proposals.reviewed(confirmed, "confirmed", ctx.now()), memory)
    superseded = shelf.journal.by_ids([str(proposal.get("supersedes") or "")]) if proposal else {}
    for older in superseded.values():
        if older.status is Status.ACTIVE and older.id != memory.id:
            shelf.journal.supersede(older.id, memory.id, ctx.now(), "the user confirmed the other")
    _link_answer(ctx, shelf, memory)


def _link_answer(ctx: Context, shelf: Shelf, memory: Memory) -> None:
    """Link what was proposed to the question that it answers."""
    for question in shelf.journal.by_ids([str(memory.proposed.get("answers") or "")]).values():
        shelf.journal.link(Link(memory.id, question.id, Relation.ANSWERS, created_at=ctx.now()))


def _keep(ctx: Context, item: Item) -> None:
    """Let hooks bring a memory as its author's information, with no more weight. Of two that disagree both hold."""
    memory, other = item.memory, item.other
    if other is not None:
        # First: where somebody changes it meanwhile, nothing of this is done.
        reviewed = proposals.reviewed(memory, "kept", ctx.now(), [other.id])
        item.shelf.journal.update(reviewed, memory)
        links.reconcile(item.shelf, memory, other)
        return
    extra_before = trust_marks.released(memory) if memory.suspicion.get("held") else memory.extra
    extra = {name: value for name, value in extra_before.items() if name != PROPOSED}
    _settle(ctx, item, "kept", replace(memory, extra=extra))
    _link_answer(ctx, item.shelf, memory)


def _drop(ctx: Context, item: Item) -> None:
    """Forget a memory. One of two gives way to the other; one that was there before an agent asked for more
    stays as it was."""
    was_stored_before = not (item.memory.is_held or proposals.is_unbound(item.memory))
    if item.other is not None:
        _replace(ctx, item.shelf, item.memory, item.other)
    elif item.reason == review_items.PROPOSED and was_stored_before:
        _keep(ctx, item)
    else:
        edit_forget.forget(ctx, edit_forget.ForgetRequest(ids=(item.memory.id,)))


def _raise(ctx: Context, item: Item) -> None:
    """Raise a memory's priority by one step; at the highest it stays as it is."""
    steps = confidence.PRIORITIES
    step = min(steps.index(item.memory.priority) + 1, len(steps) - 1)
    _settle(ctx, item, "raised", replace(item.memory, priority=steps[step]))


def _settle(ctx: Context, item: Item, how: str, changed: Memory | None = None) -> None:
    reviewed = proposals.reviewed(changed or item.memory, how, ctx.now())
    item.shelf.journal.update(reviewed, item.memory)


def _replace(ctx: Context, shelf: Shelf, superseded: Memory, heir: Memory) -> None:
    """Let one of two memories give way to the other, and stay in its history."""
    shelf.journal.supersede(superseded.id, heir.id, ctx.now(), "the user decided so in a review")
    links.reconcile(shelf, superseded, heir)


_ACTS: dict[str, Callable[[Context, Item], None]] = {
    KEEP: _keep,
    DROP: _drop,
    RAISE: _raise,
}
