"""What a review asks about: what waits for the user's word, what disagrees or repeats itself, and what was
captured, the most worth first, one session at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vector_memory.index.noise import is_command
from vector_memory.lifecycle.dedup import SAME_COSINE
from vector_memory.model import (
    BINDING,
    GLOBAL_PROJECT,
    OF_TALK,
    PASSAGE,
    QUIET,
    REVIEWED,
    Memory,
    Origin,
    Priority,
    Relation,
    Scope,
    Status,
)
from vector_memory.service.base.asker import Asker
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory import lookup, merging, proposals
from vector_memory.text.prompts import Prompt
from vector_memory.text.wording import same_words

PROPOSED, SUSPICIOUS, DISAGREES, DECIDED = "proposed", "suspicious", "contradiction", "decision"
UNANSWERED, OFTEN_USED, REPEATED, NEW = "unanswered", "core", "duplicate", "new"
CONFIRM, KEEP, EDIT, DROP, RAISE = "confirm", "keep", "edit", "drop", "raise"
ACTIONS = {
    PROPOSED: (CONFIRM, KEEP, DROP),
    SUSPICIOUS: (KEEP, DROP),
    DISAGREES: (CONFIRM, DROP, KEEP),
    UNANSWERED: (CONFIRM, EDIT, KEEP),
    OFTEN_USED: (CONFIRM, KEEP),
    REPEATED: (CONFIRM, DROP, KEEP),
    DECIDED: (CONFIRM, KEEP, EDIT, DROP, RAISE),
    NEW: (KEEP, EDIT, DROP, RAISE),
}
"""What can be done about an item, by why it is asked about, in the order in which a review asks."""
CLOSE_RELATIONS = (Relation.RELATES_TO, Relation.BUILDS_ON, Relation.CLARIFIES)
MOST_PAIRS, MOST_GAPS, MOST_CAPTURED = 200, 10, 2_000
SAID_IN_SESSIONS = USED_IN_SESSIONS = 3
"""In how many sessions a prompt was given, or a memory used, before a review speaks of it."""
LEAST_GAP_CHARS = 20


@dataclass(frozen=True)
class Item:
    """Something that a review asks about.

    Attributes:
        memory: of two the newer one; of what was said often its newest passage.
        other: the older of two, where they disagree or say nearly the same.
        sessions: in how many it was said or used, 0 where that is not why it is asked about.
    """

    shelf: Shelf
    memory: Memory
    reason: str
    other: Memory | None = None
    sessions: int = 0


def items(ctx: Context) -> list[Item]:
    """Return all that a review asks about: what waits for the user first, what was captured last."""
    by_reason: dict[str, list[Item]] = defaultdict(list)
    for shelf in ctx.all_shelves():
        for memory in shelf.journal.withheld(Scope()):
            reason = PROPOSED if memory.proposed else SUSPICIOUS
            by_reason[PROPOSED].append(Item(shelf, memory, reason))
        by_reason[DISAGREES] += _pairs(shelf, (Relation.CONTRADICTS,), 0.0, DISAGREES)
        by_reason[REPEATED] += _pairs(shelf, CLOSE_RELATIONS, SAME_COSINE, REPEATED)
        by_reason[UNANSWERED] += _gaps(ctx, shelf)
        by_reason[OFTEN_USED] += _often_used(ctx, shelf)
        by_reason[NEW] += _captured(ctx, shelf)
    by_reason[PROPOSED].sort(key=lambda item: item.memory.created_at, reverse=True)
    memory_ids: set[str] = set()
    ordered = []
    for item in [*(item for reason in ACTIONS for item in by_reason[reason] if reason != NEW), *_by_session(by_reason[NEW])]:  # fmt: skip
        # Two questions about one memory in a row would be one too many.
        if item.memory.id not in memory_ids:
            memory_ids.add(item.memory.id)
            ordered.append(item)
    return ordered


def item_of(ctx: Context, shelf: Shelf, memory: Memory) -> Item | None:
    """Return what a review asks about one memory, None for nothing."""
    if memory.proposed or memory.suspicion.get("held"):
        return Item(shelf, memory, PROPOSED if memory.proposed else SUSPICIOUS)
    if memory.status is not Status.ACTIVE:
        return None
    for relations, least, reason in (
        ((Relation.CONTRADICTS,), 0.0, DISAGREES),
        (CLOSE_RELATIONS, SAME_COSINE, REPEATED),
    ):
        pairs = [
            (link.from_id, link.to_id, link.weight)
            for link in shelf.journal.links_of([memory.id])
            if link.relation in relations and link.weight >= least
        ]
        for pair in _items_of_pairs(shelf, pairs, reason):
            if pair.memory.id == memory.id:
                return pair
    if memory.kind == PASSAGE:
        return next((gap for gap in _gaps(ctx, shelf) if gap.memory.id == memory.id), None)
    matches = [item for item in _often_used(ctx, shelf) if item.memory.id == memory.id]
    is_captured = memory.origin is Origin.ASSISTANT or memory.source.path
    if not matches and is_captured and memory.kind in proposals.ASKED_KINDS:
        matches = [Item(shelf, memory, _reason(memory))]
    return next(iter(matches), None)


# -- what disagrees, and what says nearly the same --


def _pairs(shelf: Shelf, relations: Sequence[Relation], least: float, reason: str) -> list[Item]:
    return list(
        _items_of_pairs(shelf, shelf.journal.linked_pairs(relations, least, MOST_PAIRS), reason)
    )


def _items_of_pairs(
    shelf: Shelf, pairs: Sequence[tuple[str, str, float]], reason: str
) -> Iterator[Item]:
    """Yield the pairs of ids that somebody has to look at, as items."""
    by_id = shelf.journal.by_ids(list({id for pair in pairs for id in pair[:2]}))
    for *ids, weight in pairs:
        both = [by_id[id] for id in ids if id in by_id]
        both.sort(key=lambda memory: (memory.created_at, memory.seq))
        if len(both) != 2 or not _may_differ(both[0], both[1], reason):
            continue
        # A whole weight is also that of links by hand, of which nobody has measured how close both are.
        if reason == DISAGREES or weight < 1 or same_words(both[0].text, both[1].text):
            yield Item(shelf, both[1], reason, both[0])


def _may_differ(older: Memory, newer: Memory, reason: str) -> bool:
    # Two memories of one session do not count: it came to another result, or said the same again.
    is_one_session = older.source.session == newer.source.session != ""
    is_one_sort = older.kind == newer.kind and older.collection == newer.collection
    return (
        _is_claim(older)
        and _is_claim(newer)
        and (_has_weight(older) or _has_weight(newer))
        and not is_one_session
        and (reason == DISAGREES or is_one_sort)
        and not proposals.may_stand_beside(older, newer)
    )


def _is_claim(memory: Memory) -> bool:
    """Whether a memory claims something that holds now: of what sessions said in passing only some kinds do."""
    return (
        memory.status is Status.ACTIVE
        and not memory.is_held
        and memory.collection not in QUIET
        and (memory.kind in proposals.ASKED_KINDS or not memory.source.path)
    )


def _has_weight(memory: Memory) -> bool:
    """Whether somebody has decided or asked for it, unlike what the assistant found in passing."""
    return memory.trust > 1 or memory.kind in BINDING or not memory.source.path


# -- what might be worth storing, and what is used everywhere --


def _gaps(ctx: Context, shelf: Shelf) -> Iterator[Item]:
    """Yield what was said in several sessions and stands in no memory of its own."""
    for passage, sessions in shelf.journal.said_often(SAID_IN_SESSIONS, MOST_GAPS):
        if is_plain(passage.title) and not _is_answered(ctx, shelf, passage):
            yield Item(shelf, passage, UNANSWERED, sessions=sessions)


def is_plain(prompt: str) -> bool:
    """Whether a prompt is a sentence of somebody's rather than a command or a word of consent."""
    is_form = len(prompt) < LEAST_GAP_CHARS or prompt[:1] in "<[{" or prompt[-1:] in ":…"
    return not (is_form or Prompt(prompt).needs_nothing or is_command(prompt))


def _is_answered(ctx: Context, shelf: Shelf, passage: Memory) -> bool:
    scope = Scope(projects=(passage.project, GLOBAL_PROJECT))
    asker = Asker(None, scope, lambda: [shelf])

    def may_answer(memory: Memory) -> bool:
        return memory.kind not in OF_TALK and lookup.is_open(memory)

    hits = lookup.answer(ctx, passage.title, asker, 1, allowed=may_answer, cold=True).hits
    return any(hit.fits for hit in hits)


def _often_used(ctx: Context, shelf: Shelf) -> Iterator[Item]:
    """Yield what holds for all projects, was used in several sessions, and is not CORE yet."""
    sessions: dict[str, set[str]] = defaultdict(set)
    for label in ctx.state.use_labels():
        if label.used:
            sessions[label.memory].add(label.session)
    counts = {id: len(names) for id, names in sessions.items() if len(names) >= USED_IN_SESSIONS}
    for memory in shelf.journal.by_ids(list(counts)).values():
        if (
            memory.project == GLOBAL_PROJECT
            and memory.status is Status.ACTIVE
            and memory.priority is not Priority.CORE
            and memory.trust
            and REVIEWED not in memory.extra
        ):
            yield Item(shelf, memory, OFTEN_USED, sessions=counts[memory.id])


# -- what was captured --


def _captured(ctx: Context, shelf: Shelf) -> list[Item]:
    finished_at = proposals.review_finished_at(ctx)
    ideas = shelf.journal.captured(Scope(), proposals.ASKED_KINDS, finished_at, MOST_CAPTURED)
    return [
        Item(shelf, idea, _reason(idea))
        for idea in ideas
        if not idea.is_suspicious and not proposals.is_request(idea)
    ]


def _reason(memory: Memory) -> str:
    return DECIDED if memory.kind in proposals.BINDING else NEW


def worth(memory: Memory) -> float:
    """Return what orders captured memories: decisions before what was found, the user's words before the
    assistant's, what was said plainly, often or on purpose before what was hedged or said once."""
    sessions = min(4, len(merging.sessions_of(memory)))
    return (
        (2.0 if memory.kind in BINDING else 0.5)
        + 1.5 * (memory.trust > 1)
        + 1.0 * (not memory.source.path)
        + 1.0 * (memory.priority in (Priority.CORE, Priority.HIGH))
        + 0.5 * max(0, sessions - 1)
        + 2.0 * memory.confidence
    )


def _by_session(new_items: Sequence[Item]) -> list[Item]:
    """Return items of one session after those of another, the latest session first, the most worth first."""
    sessions: dict[str, list[Item]] = defaultdict(list)
    for item in new_items:
        sessions[item.memory.source.session].append(item)
    latest = sorted(
        sessions.values(),
        key=lambda session_items: max(item.memory.created_at for item in session_items),
        reverse=True,
    )
    return [
        item
        for session_items in latest
        for item in sorted(session_items, key=lambda item: -worth(item.memory))
    ]
