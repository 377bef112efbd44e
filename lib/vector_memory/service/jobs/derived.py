"""What jobs derive from memories: proposed, linked to every source, and gone when its sources are gone. It
binds nobody before the user has confirmed it (`vector-memory review`), and what the user dropped is not
proposed again: its id is made of its sources.

By rules, in the words of a model where one is set: what two sessions said is a fact, proposed as a learning (a phase of
consolidation); a preference that was said in three sessions is proposed as a principle, a solution that came back in
three as a procedure, what three findings of three sessions say about one thing as a learning, and a principle that
tasks have borne out as a heuristic (hierarchical-abstraction); steps that led to success three times in two sessions as
a procedure (skill-discovery).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from vector_memory import model, redact
from vector_memory.errors import BadInputError, GenerationError
from vector_memory.lifecycle.dedup import text_key
from vector_memory.model import Link, Memory, Origin, Relation, Scope, Status, strictest
from vector_memory.service.base import model_help, privacy
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf, project_roots
from vector_memory.service.jobs import paging
from vector_memory.service.jobs.paging import Page
from vector_memory.service.jobs.step import JobRun, Step
from vector_memory.service.memory import proposals
from vector_memory.service.memory.merging import sessions_of
from vector_memory.service.memory.placement import neighbours
from vector_memory.system.json_in import Record

CLOSE, MOST = 0.75, 12


def clusters(
    ctx: Context,
    shelf: Shelf,
    memories: Iterable[Memory],
    fits: Callable[[Memory], bool],
    least: int,
) -> list[list[Memory]]:
    """Return disjoint groups of at least `least` memories, each with the one first that the others are near.

    Args:
        fits: whether a memory may be a member.
    """
    member_ids: set[str] = set()
    groups = []
    candidates = [memory for memory in memories if fits(memory)]
    keys = {memory.id: text_key(memory.embedded) for memory in candidates}
    vectors = shelf.journal.get_vectors(list(keys.values()), ctx.embedding.model)
    for memory in candidates:
        vector = vectors.get(keys[memory.id])
        if memory.id in member_ids or vector is None:
            continue
        members = [memory] + [
            neighbour.memory
            for neighbour in neighbours(ctx, shelf, memory, vector)
            if neighbour.cosine is not None
            and neighbour.cosine >= CLOSE
            and neighbour.memory.id not in member_ids
            and neighbour.memory.collection == memory.collection
            and not set(neighbour.memory.entities).isdisjoint(memory.entities)
            and fits(neighbour.memory)
        ]
        if len(members) >= least:
            member_ids |= {member.id for member in members}
            groups.append(members[:MOST])
    return groups


TAG, SKILL, HEURISTIC = "derived", "skill", "heuristic"
EXACT = (SKILL, HEURISTIC)
"""Derivations that no model rewords: their steps and counts must stay exact."""
SOURCES, EVIDENCE = "derived_from", "evidence"
"""In `extra`: the ids of what it was made of, and counts that speak for it."""
AT_ONCE = 200
WORDING = "Say in one plain sentence what all of this says together. Use only what stands there."
WORDS_CHARS = 400
MOST_FACTS = 5
"""Facts that one cycle proposes: nobody reads fifty of them."""
LEAST_WON, LEAST_SESSIONS = 3, 2
AS_PROCEDURE = {"kind": model.PROCEDURE, "collection": "procedures"}
AS_FACT = {"collection": "learnings"}


class Derivation(NamedTuple):
    """What is derived from memories (`sources`): a text, the counts that speak for it, and what it is proposed as; with
    `about`, a part of the first source, its id is made of these two, whatever other sources come later."""

    sources: Sequence[Memory]
    text: str
    evidence: Mapping[str, object]
    asks: Mapping[str, object]
    about: str = ""


Find = Callable[[Context, Page], Iterator[Derivation]]
"""Yields what can be derived from the memories of a page."""


def facts(ctx: Context, run: JobRun) -> Step:
    """Propose what two sessions said, on a page of memories.

    Returns:
        What it did, and where the next step begins.
    """
    asks = dict.fromkeys((model.CONCLUSION, model.CONTEXT, model.DECISION), AS_FACT)
    return proposed(ctx, run, "fact", Scope(kinds=tuple(asks)), said_in(2, asks), most=MOST_FACTS)


def skills(ctx: Context, run: JobRun) -> Step:
    """Propose what the trails of a page have shown.

    Returns:
        What it did, and where the next step begins.
    """
    return proposed(ctx, run, SKILL, Scope(collections=(model.TRAILS,)), _proven_trails)


def said_in(least: int, asks: Mapping[str, Mapping[str, object]]) -> Find:
    """Return a finder of memories that at least `least` sessions said, each proposed as `asks` says of its kind."""

    def find(_: Context, page: Page) -> Iterator[Derivation]:
        for memory in page.memories:
            sessions = len(sessions_of(memory))
            has_weight = memory.priority in model.IMPORTANT or TAG in memory.tags
            if sessions >= least and not has_weight and memory.trust > 0 and not memory.is_held:
                yield Derivation([memory], memory.text, {"sessions": sessions}, asks[memory.kind])

    return find


def _proven_trails(_: Context, page: Page) -> Iterator[Derivation]:
    for trail in page.memories:
        figures = Record(trail.extra)
        counts = {name: figures.number(name) for name in ("won", "n", "sessions")}
        if counts["won"] >= LEAST_WON and counts["sessions"] >= LEAST_SESSIONS:
            yield Derivation([trail], trail.text, counts, AS_PROCEDURE)


def proposed(
    ctx: Context,
    run: JobRun,
    how: str,
    scope: Scope,
    find: Find,
    counted: str = "found",
    most: int = proposals.MOST_WAITING,
) -> Step:
    """Propose what can be derived from the memories of a page.

    Args:
        how: the way in which it is derived.
        counted: as what a report counts it.
        most: how many one run proposes at most.

    Returns:
        What it did, and where the next step begins.
    """
    page = paging.page_at(ctx, run.cursor, AT_ONCE, scope)
    if page is None:
        return Step({"proposed": 0})
    items, new_count, proposed_before = [], 0, run.report.number("proposed")
    for finding in find(ctx, page):
        items.append({"id": finding.sources[0].id, "text": finding.text, **finding.evidence})
        if not run.dry_run and proposed_before + new_count < most:
            new_count += _propose(ctx, page.shelf, how, finding, run.now)
    report = {
        "looked_at": len(page.memories),
        counted: len(items),
        "proposed": new_count,
        "items": items,
    }
    count = proposed_before + new_count
    hint = f"{count} are proposed: `vector-memory review`." if count else ""
    return Step(report, page.cursor, message=hint)


def _propose(ctx: Context, shelf: Shelf, how: str, finding: Derivation, now: datetime) -> bool:
    """Propose a finding in a model's words where one is set; return whether it is new."""
    memory = derive(how, finding.text, finding.sources, now, finding.evidence, finding.about)
    if is_known(shelf, memory):
        return False
    source_text = "\n".join(source.text for source in finding.sources)
    words = ""
    if how not in EXACT:
        root = project_roots([shelf]).get(memory.project, "")
        # Without a model it keeps the words of the rules.
        with privacy.for_folder(ctx, root), suppress(GenerationError, BadInputError):
            words = model_help.reword(ctx, WORDING, source_text, WORDS_CHARS, finding.sources)
    memory = replace(memory, text=redact.clean(words).text) if words else memory
    try:
        stored = proposals.store_proposal(ctx, shelf, proposals.proposed(memory, finding.asks))
    except BadInputError:
        # Too many wait already: it is found again the next time.
        return False
    link(shelf, stored)
    return stored.id == memory.id


def derive(
    how: str,
    text: str,
    sources: Sequence[Memory],
    now: datetime,
    evidence: Mapping[str, object],
    about: str = "",
) -> Memory:
    """Return a memory that is derived from others, not stored yet; of the same sources it has the same id.

    Args:
        how: the way in which it was derived; its tag beside `TAG`.
        about: a part of the first source: the id is then made of these two, not of all sources.
    """
    ids = [source.id for source in sources]
    identity = (ids[0], about) if about else sorted(ids)
    return Memory(
        model.digest_of(how, sources[0].project, *identity),
        redact.clean(text).text,
        now,
        project=sources[0].project,
        origin=Origin.JOB,
        tags=(TAG, how),
        sensitivity=strictest(*(source.sensitivity for source in sources)),
        extra={SOURCES: ids, EVIDENCE: dict(evidence)},
    )


def is_known(shelf: Shelf, memory: Memory) -> bool:
    """Whether something was derived before, whatever became of it."""
    return memory.id in shelf.journal.by_ids([memory.id])


def link(shelf: Shelf, memory: Memory) -> None:
    """Link what was derived to its sources."""
    ids = [str(id) for id in memory.extra.get(SOURCES, ())]
    stored = shelf.journal.by_ids(ids)
    shelf.journal.link_all([Link(memory.id, id, Relation.BUILDS_ON) for id in ids if id in stored])


def orphans(shelf: Shelf, k: int) -> list[Memory]:
    """Return at most k derived memories of which a source is gone, since they hold its words."""
    orphaned = []
    for memory in shelf.journal.iter_memories(Scope(tags=(TAG,))):
        ids = [str(id) for id in memory.extra.get(SOURCES, ())]
        sources = shelf.journal.by_ids(ids)
        is_whole = all(id in sources and sources[id].status is not Status.FORGOTTEN for id in ids)
        # What the user confirmed is the user's word.
        if memory.origin is Origin.JOB and not is_whole:
            orphaned.append(memory)
    return orphaned[:k]
