"""Weaving: ideas that capture stored are linked to what they repeat, replace, answer or belong to.

Capture stores first and at once, since what is not stored is lost; comparing needs vectors and time. So
this runs when nobody waits, a few ideas at a time, from the sequence number that it has reached. What
says the same becomes one: the newer wording stands and the older gives way to it, both known by their
ids, so that indexing a session again adds nothing.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from vector_memory.errors import VectorMemoryError
from vector_memory.index.fixes import fix_drafts
from vector_memory.lifecycle import dedup, solving
from vector_memory.lifecycle.dedup import Outcome
from vector_memory.model import (
    BINDING,
    INTENTS,
    PROBLEM,
    REVIEWED,
    Link,
    Memory,
    Relation,
    Scope,
    Status,
    Tier,
)
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory import merging, placement, proposals, trust_marks
from vector_memory.service.memory.placement import Neighbour, neighbours
from vector_memory.system.json_in import Record
from vector_memory.text.patterns import PatternTable

if TYPE_CHECKING:
    from vector_memory.model import Vector

log = logging.getLogger(__name__)

MOST_CONFIDENT = 0.95
ENTITY_COSINE = 0.6
ENTITIES_SHARED = 2
"""How near two ideas must be, and how many files or concepts both must name, to be linked."""
REPLACING_COSINE = 0.75
"""What can give way to another idea by itself, and how near they must be for that."""
MOST_OPEN = 50
"""How many open items a fix is compared with."""
SPECIFIC = ("file:", "concept:", "person:")

_TABLE = PatternTable("link_phrases", os.path.dirname(__file__))
"""What says that an idea builds on another one, or clarifies it."""


def weave(ctx: Context, shelf: Shelf, most: int = 20) -> int:
    """Link the next ideas of a store, at most so many changed memories; return how many those were
    (0: all is woven, or their vectors are still missing)."""
    seq = _reached_seq(ctx, shelf)
    changes = shelf.journal.changes(seq, most)
    indexed_seq = (
        shelf.index.reached() if shelf.index is not None and shelf.index.vectors_ready else 0
    )
    count = 0
    for memory, _, key in changes:
        if _is_idea(memory):
            vector = shelf.journal.get_vectors([key], ctx.embedding.model).get(key)
            if vector is None or memory.seq > indexed_seq:
                break
            try:
                _weave_idea(ctx, shelf, memory, vector)
            except VectorMemoryError:
                # The store itself cannot be written: it is woven when it can.
                raise
            except Exception:
                # An idea that cannot be compared stops none of those behind it.
                ctx.count("errors")
                log.exception("an idea stays unlinked: %s", memory.id)
        seq, count = memory.seq, count + 1
    if count:
        ctx.state.set_cursor(_cursor_name(shelf), {"seq": seq})
    return count


def _cursor_name(shelf: Shelf) -> str:
    return f"woven:{shelf.journal.store_id}"


def _reached_seq(ctx: Context, shelf: Shelf) -> int:
    return (ctx.state.cursor(_cursor_name(shelf)) or Record()).number("seq")


def _is_idea(memory: Memory) -> bool:
    return (
        memory.status is Status.ACTIVE
        and memory.tier is not Tier.COLD
        and memory.kind in INTENTS
        and memory.is_captured
    )


def _weave_idea(ctx: Context, shelf: Shelf, memory: Memory, vector: Vector) -> None:
    with shelf.storing:
        # An earlier idea of this batch may have absorbed it.
        memory = shelf.journal.by_ids([memory.id]).get(memory.id, memory)
        if memory.status is not Status.ACTIVE:
            return
        candidates = neighbours(ctx, shelf, memory, vector)
        candidates += _solved_problems(shelf, memory, candidates)
        older = [
            neighbour
            for neighbour in candidates
            if _is_older(neighbour.memory, memory)
            and not proposals.may_stand_beside(memory, neighbour.memory)
        ]
        for neighbour in older:
            if _says_same(memory, neighbour):
                _become_one(ctx, shelf, memory, neighbour.memory)
                return
        for tie in ties(memory, older):
            _store_tie(ctx, shelf, memory, tie)


def _solved_problems(
    shelf: Shelf, memory: Memory, candidates: Sequence[Neighbour]
) -> list[Neighbour]:
    """Return the open problems that a fix solves and is not near by its words: an error that is quoted is
    a small part of what is said of it."""
    if fix_drafts.TAG not in memory.tags:
        return []
    near_ids = {neighbour.memory.id for neighbour in candidates}
    open_items = shelf.journal.open_items(Scope(projects=(memory.project,)), MOST_OPEN)
    remaining = (problem for problem in open_items if problem.id not in near_ids)
    return [Neighbour(problem, None) for problem in remaining if _solves(memory, problem)]


def _is_older(other: Memory, memory: Memory) -> bool:
    return (other.created_at, other.seq) < (memory.created_at, memory.seq)


def _says_same(memory: Memory, neighbour: Neighbour) -> bool:
    return (
        neighbour.memory.kind == memory.kind
        and dedup.compare(memory.text, neighbour.memory.text, neighbour.cosine).outcome
        is Outcome.SAME
    )


def _become_one(ctx: Context, shelf: Shelf, memory: Memory, older: Memory) -> None:
    """Let one of two memories that say the same stand for both: the newer, but never the assistant's
    for the user's, nor another's for either's."""
    heir, duplicate = memory, older
    heavier = older.origin is not memory.origin and older.weight and not memory.weight
    if older.trust > memory.trust or (older.trust == memory.trust and heavier):
        heir, duplicate = older, memory
    become_one(ctx, shelf, heir, duplicate)
    ctx.audit("merge", "job", [heir.id, duplicate.id])
    ctx.count("ideas_merged")


def become_one(ctx: Context, shelf: Shelf, heir: Memory, duplicate: Memory) -> None:
    """Let a memory stand for one that says the same, which gives way to it. The store is held meanwhile."""
    shelf.journal.update(_with_duplicate(heir, duplicate), heir)
    shelf.journal.supersede(duplicate.id, heir.id, ctx.now(), "a duplicate")
    ctx.notify()


def _with_duplicate(heir: Memory, duplicate: Memory) -> Memory:
    both = merging.joined(heir, duplicate, heir)
    # What the user has reviewed in the duplicate is reviewed in its heir.
    extra = {**trust_marks.marks_of(duplicate, (REVIEWED,)), **both.extra}
    return replace(
        both,
        priority=merging.higher_priority(heir, duplicate)
        if heir.origin is duplicate.origin
        else heir.priority,
        confidence=_confidence(heir, duplicate),
        extra=merging.with_triggers(extra, duplicate, heir),
    )


def _confidence(heir: Memory, duplicate: Memory) -> float:
    if duplicate.trust < heir.trust:
        return heir.confidence
    surer = replace(heir, confidence=max(heir.confidence, duplicate.confidence))
    return merging.raised_confidence(surer, duplicate, MOST_CONFIDENT)


def ties(memory: Memory, near: Sequence[Neighbour]) -> list[placement.Tie]:
    """Return what an idea is to its older neighbours, at most three, what matters most first."""
    all_ties = [tie for neighbour in near if (tie := _tie(memory, neighbour)) is not None]
    all_ties.sort(key=lambda tie: (tie.relation is Relation.RELATES_TO, -tie.weight))
    return all_ties[: placement.MOST_LINKS]


def _solves(memory: Memory, other: Memory) -> bool:
    if fix_drafts.TAG not in memory.tags or other.kind != PROBLEM or other.extra.get("done"):
        return False
    if memory.trust < min(other.trust, 1):
        return False
    return solving.solves(memory.title, memory.files, other.text, other.files)


def _tie(memory: Memory, neighbour: Neighbour) -> placement.Tie | None:
    if _solves(memory, neighbour.memory):
        return placement.Tie(neighbour.memory, Relation.ANSWERS, "the same error")
    tie = placement.tie_of(memory, neighbour)
    if tie is None and _share_entities(memory, neighbour):
        weight = round(neighbour.cosine or 0.0, 3)
        tie = placement.Tie(neighbour.memory, Relation.RELATES_TO, "the same things", weight)
    if tie is None:
        return None
    if tie.relation is Relation.RELATES_TO or _goes_too_far(tie, memory, neighbour.cosine or 0.0):
        return tie._replace(relation=_relation_of(memory))
    return tie


def _goes_too_far(tie: placement.Tie, memory: Memory, cosine: float) -> bool:
    """Whether two ideas can hardly replace or contradict each other, whatever their words: "use X instead
    of Y" replaces what was decided, and says nothing against what was found."""
    other = tie.other
    if tie.relation is Relation.SUPERSEDES:
        both_bind = memory.kind in BINDING and other.kind in BINDING
        return not both_bind or cosine < REPLACING_COSINE
    return tie.relation is Relation.CONTRADICTS and memory.kind != other.kind


def _relation_of(memory: Memory) -> Relation:
    """Return how an idea says that it belongs to another one."""
    return Relation(next(iter(_TABLE.found(memory.text)), Relation.RELATES_TO))


def _share_entities(memory: Memory, neighbour: Neighbour) -> bool:
    shared = {
        entity
        for entity in memory.entities
        if entity.startswith(SPECIFIC) and entity in neighbour.memory.entities
    }
    return len(shared) >= ENTITIES_SHARED and (neighbour.cosine or 0.0) >= ENTITY_COSINE


def _store_tie(ctx: Context, shelf: Shelf, memory: Memory, tie: placement.Tie) -> None:
    if tie.relation is Relation.SUPERSEDES:
        shelf.journal.supersede(tie.other.id, memory.id, ctx.now(), tie.why)
        ctx.audit("supersede", "job", [memory.id, tie.other.id])
        ctx.count("ideas_superseded")
        ctx.notify()
        return
    link = Link(memory.id, tie.other.id, tie.relation, tie.weight, ctx.now())
    shelf.journal.link_all([link])
    ctx.audit("link", "job", [memory.id, tie.other.id], relation=tie.relation.value)
    ctx.count("ideas_linked")
