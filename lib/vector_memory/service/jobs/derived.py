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

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from vector_memory import model, redact
from vector_memory.errors import BadInputError
from vector_memory.index.tools import clip
from vector_memory.lifecycle.dedup import text_key
from vector_memory.model import Link, Memory, Origin, Relation, Scope, Status, strictest
from vector_memory.service.base import model_help
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.jobs import heuristics, paging
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
    """Return groups of at least so many memories without a common member, each with the one first that the others
    are near.

    Args:
        fits: whether a memory may be a member.
    """
    taken: set[str] = set()
    groups = []
    fit = [memory for memory in memories if fits(memory)]
    keys = {memory.id: text_key(memory.embedded) for memory in fit}
    vectors = shelf.journal.get_vectors(list(keys.values()), ctx.embedding.model)
    for memory in fit:
        vector = vectors.get(keys[memory.id])
        if memory.id in taken or vector is None:
            continue
        members = [memory] + [
            near.memory
            for near in neighbours(ctx, shelf, memory, vector)
            if near.cosine is not None
            and near.cosine >= CLOSE
            and near.memory.id not in taken
            and near.memory.collection == memory.collection
            and not set(near.memory.entities).isdisjoint(memory.entities)
            and fits(near.memory)
        ]
        if len(members) >= least:
            taken |= {member.id for member in members}
            groups.append(members[:MOST])
    return groups


TAG, SKILL = "derived", "skill"
SOURCES, EVIDENCE = "derived_from", "evidence"
"""In `extra`: the ids of what it was made of, and counts that speak for it."""
AT_ONCE = 200
WORDING = "Say in one plain sentence what all of this says together. Use only what stands there."
WORDS_CHARS = 400
MOST_FACTS = 5
"""Facts that one cycle proposes: nobody reads fifty of them."""
LEAST_WON, LEAST_SESSIONS = 3, 2


class Derivation(NamedTuple):
    """What a memory gives rise to: a text, the counts that speak for it, and what it is proposed as."""

    text: str
    evidence: Mapping[str, object]
    asks: Mapping[str, object]


PART, TOGETHER, BORNE_OUT = "part", "together", "borne out"
"""In the cursor: where abstraction is. What was said often comes first, then findings about one thing are put together,
then principles are set beside outcomes."""
FINDINGS = (model.CONCLUSION, model.CAUSE, model.SOLUTION)
LEAST_TOGETHER, LINE_CHARS = 3, 160
AS_PROCEDURE = {"kind": model.PROCEDURE, "collection": "procedures"}
AS_PRINCIPLE = {"kind": model.PREFERENCE, "priority": "HIGH"}
AS_FACT = {"collection": "learnings"}


def abstraction(ctx: Context, run: JobRun) -> Step:
    """Propose what the memories of a page have come to in three sessions; then, likewise, what three findings about
    one thing say together; then the principles that outcomes speak for.

    Returns:
        What it did, and where the next step begins.
    """
    part = run.cursor.text(PART)
    if part == BORNE_OUT:
        return _heuristics(ctx, run)
    if part == TOGETHER:
        return _put_together(ctx, run)
    asks = {model.PREFERENCE: AS_PRINCIPLE, model.SOLUTION: AS_PROCEDURE}
    done = _proposed(ctx, run, "principle", Scope(kinds=tuple(asks)), _said_in(3, asks))
    return replace(done, cursor=done.cursor or {PART: TOGETHER})


def _put_together(ctx: Context, run: JobRun) -> Step:
    page = paging.page(ctx, run.cursor, AT_ONCE, Scope(kinds=FINDINGS))
    if page is None:
        return Step({}, {PART: BORNE_OUT})
    groups = [
        members
        for members in clusters(ctx, page.shelf, page.memories, _may_speak, LEAST_TOGETHER)
        if len({id for member in members for id in sessions_of(member)}) >= LEAST_TOGETHER
    ]
    findings = [(members, _together(members), "") for members in groups]
    items, new = _put_forward(ctx, run, page.shelf, "principle", findings)
    report = {"groups": len(groups), "proposed": new, "items": items}
    return Step(report, {**page.cursor, PART: TOGETHER} if page.cursor else {PART: BORNE_OUT})


def _heuristics(ctx: Context, run: JobRun) -> Step:
    items, new = list[dict[str, object]](), 0
    for shelf in ctx.all_shelves():
        findings = [
            (worth.sources, Derivation(worth.text, worth.evidence, AS_FACT), worth.command)
            for worth in heuristics.borne_out(shelf)
        ]
        more, proposed = _put_forward(ctx, run, shelf, heuristics.HOW, findings)
        items, new = items + more, new + proposed
    report = {"borne_out": len(items), "proposed": new, "items": items}
    return Step(report, message=_hint(run, new))


def _put_forward(
    ctx: Context,
    run: JobRun,
    shelf: Shelf,
    how: str,
    findings: Sequence[tuple[Sequence[Memory], Derivation, str]],
    most: int = proposals.MOST_WAITING,
) -> tuple[list[dict[str, object]], int]:
    """Propose findings, each with its sources and what of them it is about, so many in a run at most; return what a
    report tells of them, and how many were proposed."""
    items, new, before = [], 0, run.report.number("proposed")
    for sources, finding, about in findings:
        items.append({"id": sources[0].id, "text": str(finding.text), **finding.evidence})
        if run.dry_run or before + new >= most:
            continue
        memory = made(how, finding.text, sources, run.now, finding.evidence, about)
        if is_known(shelf, memory):
            continue
        memory = _worded(ctx, how, sources, memory)
        # Where too many wait already, it is found again the next time.
        with suppress(BadInputError):
            stored = proposals.put(ctx, shelf, proposals.proposed(memory, finding.asks))
            link(shelf, stored)
            new += stored.id == memory.id
    return items, new


def _hint(run: JobRun, new: int) -> str:
    count = run.report.number("proposed") + new
    return f"{count} are proposed: `vector-memory review`." if count else ""


def _may_speak(memory: Memory) -> bool:
    """Whether a finding may be a part of a principle: not of one that was derived, nor of others' words."""
    is_derived = TAG in memory.tags or memory.kind not in FINDINGS
    return not is_derived and bool(memory.entities) and memory.trust > 0 and not memory.is_held


def _together(members: Sequence[Memory]) -> Derivation:
    rest = " · ".join(clip(member.text, LINE_CHARS) for member in members[1:LEAST_TOGETHER])
    sessions = {id for member in members for id in sessions_of(member)}
    evidence = {"findings": len(members), "sessions": len(sessions)}
    return Derivation(f"{members[0].text} Likewise: {rest}", evidence, AS_FACT)


def facts(ctx: Context, run: JobRun) -> Step:
    """Propose what two sessions said, on a page of memories.

    Returns:
        What it did, and where the next step begins.
    """
    asks = dict.fromkeys((model.CONCLUSION, model.CONTEXT, model.DECISION), AS_FACT)
    scope = Scope(kinds=tuple(asks))
    return _proposed(ctx, run, "fact", scope, _said_in(2, asks), MOST_FACTS)


def skills(ctx: Context, run: JobRun) -> Step:
    """Propose what the trails of a page have shown.

    Returns:
        What it did, and where the next step begins.
    """
    return _proposed(ctx, run, SKILL, Scope(collections=(model.TRAILS,)), _worked)


def _said_in(
    least: int, asks: Mapping[str, Mapping[str, object]]
) -> Callable[[Memory], Derivation | None]:
    def read(memory: Memory) -> Derivation | None:
        n = len(sessions_of(memory))
        weighs = memory.priority in model.IMPORTANT or TAG in memory.tags
        if n < least or weighs or memory.trust < 1 or memory.is_held:
            return None
        return Derivation(memory.text, {"sessions": n}, asks[memory.kind])

    return read


def _worked(trail: Memory) -> Derivation | None:
    figures = Record(trail.extra)
    won, n, sessions = (figures.number(name) for name in ("won", "n", "sessions"))
    if won < LEAST_WON or sessions < LEAST_SESSIONS:
        return None
    return Derivation(trail.text, {"won": won, "n": n, "sessions": sessions}, AS_PROCEDURE)


def _proposed(
    ctx: Context,
    run: JobRun,
    how: str,
    scope: Scope,
    read: Callable[[Memory], Derivation | None],
    most: int = proposals.MOST_WAITING,
) -> Step:
    """Propose what the memories of a page give rise to.

    Args:
        how: the way in which it is derived.
        most: how many one run proposes at most.
    """
    page = paging.page(ctx, run.cursor, AT_ONCE, scope)
    if page is None:
        return Step({"proposed": 0})
    read_of = ((memory, read(memory)) for memory in page.memories)
    findings = [([memory], finding, "") for memory, finding in read_of if finding is not None]
    items, new = _put_forward(ctx, run, page.shelf, how, findings, most)
    report = {"looked_at": len(page.memories), "found": len(items), "proposed": new, "items": items}
    return Step(report, page.cursor, message=_hint(run, new))


def _worded(ctx: Context, how: str, sources: Sequence[Memory], memory: Memory) -> Memory:
    """Return what was derived in a model's words where one is set."""
    source_text = "\n".join(source.text for source in sources)
    # Steps stay as they were run, and counts as they were counted.
    is_exact = how in (SKILL, heuristics.HOW)
    words = "" if is_exact else model_help.worded(ctx, WORDING, source_text, WORDS_CHARS)
    return replace(memory, text=redact.clean(words).text) if words else memory


def made(
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
        about: what of the first source it is about, however many others come to speak for it.
    """
    ids = [source.id for source in sources]
    named = (ids[0], about) if about else sorted(ids)
    name = "\0".join((how, sources[0].project, *named)).encode("utf-8", "replace")
    return Memory(
        hashlib.blake2b(name, digest_size=16).hexdigest(),
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
    there = shelf.journal.by_ids(ids)
    shelf.journal.link_all([Link(memory.id, id, Relation.BUILDS_ON) for id in ids if id in there])


def orphans(shelf: Shelf, k: int) -> list[Memory]:
    """Return at most k derived memories of which a source is gone: its words stand in them."""
    orphaned = []
    for memory in shelf.journal.iter_memories(Scope(tags=(TAG,))):
        ids = [str(id) for id in memory.extra.get(SOURCES, ())]
        sources = shelf.journal.by_ids(ids)
        is_whole = all(id in sources and sources[id].status is not Status.FORGOTTEN for id in ids)
        # What the user confirmed is the user's word.
        if memory.origin is Origin.JOB and not is_whole:
            orphaned.append(memory)
    return orphaned[:k]
