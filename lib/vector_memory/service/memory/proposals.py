"""What an agent would have bind the user waits for the user's word: stored as the agent's information and held
back, listed by `review`, and then made to count, kept as it is, or forgotten. What was captured
waits beside it to be looked through: it is marked when the user has settled it, and counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

from vector_memory.errors import BadInputError
from vector_memory.lifecycle.dedup import text_key
from vector_memory.model import (
    CONCLUSION,
    DECISION,
    GLOBAL_PROJECT,
    PREFERENCE,
    PROCEDURE,
    PROPOSED,
    REVIEWED,
    SOLUTION,
    TODO,
    Memory,
    Origin,
    Scope,
    Status,
)
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory import trust_marks
from vector_memory.system.json_in import Record

MOST_WAITING = 200
"""Proposals of one store at once: more than that nobody reads."""
WAITING = "proposals"
"""The state's note of projects in which something may wait, so that a session's start need not look."""
IMPORTED = "imported"
"""In `extra[PROPOSED]`: that the memory came with what it asks for, and was not there before."""


def reserved_wishes(memory: Memory, is_global: bool = False) -> dict[str, object]:
    """Return what an agent would have a memory count as that only the user gives it, {} for nothing."""
    return {**memory.weight, **({"global": True} if is_global else {})}


def proposed(memory: Memory, asks: Mapping[str, object], **more: Any) -> Memory:
    """Return a memory as information that is held back, with what it is proposed as."""
    plain = trust_marks.as_information(memory)
    return replace(plain, extra={**plain.extra, PROPOSED: {**asks, **more, "held": True}})


def suggested(memory: Memory, asks: Mapping[str, object]) -> Memory:
    """Return a memory that stays what it is, with what it is proposed as."""
    came_so = {IMPORTED: True} if is_unbound(memory) else {}
    return replace(memory, extra={**memory.extra, PROPOSED: {**asks, "held": False, **came_so}})


def unbound(written: Memory, settled: Memory) -> Memory:
    """Return what is stored of a text in a file of the user's own. Where it lost weight, since it looks like instructions
    to the model, that waits for the user, who may have written it: rules of his own are worded so, too.

    Args:
        written: as the file would have it; settled: as what it may count as.
    """
    asks = {} if settled.is_foreign else weight_asked(settled, written)
    is_proposed = asks and settled.status is Status.ACTIVE
    return suggested(settled, {**asks, IMPORTED: True}) if is_proposed else settled


def is_unbound(memory: Memory) -> bool:
    """Whether it is such a memory, not one that hooks hold back until the user has agreed, nor one for which an
    agent asked for more."""
    return memory.proposed.get(IMPORTED) is True


def weight_asked(memory: Memory, changed: Memory) -> dict[str, object]:
    """Return what a changed memory has of weight that it had not."""
    had = memory.weight
    return {name: value for name, value in changed.weight.items() if had.get(name) != value}


def allowed(is_agent: bool, memory: Memory, changed: Memory) -> Memory:
    """Return a changed memory, or, where an agent gives it weight, the memory as it was, with that as a
    proposal.

    Args:
        is_agent: whether an agent changes it.
    """
    asks = weight_asked(memory, changed)
    is_moved = changed.collection != memory.collection
    is_binding = changed.collection in trust_marks.BINDING_COLLECTIONS
    if is_moved and memory.origin is not Origin.ASSISTANT and is_binding:
        # As a learning the user's words would be the user's lesson.
        asks["collection"] = changed.collection
    return suggested(memory, asks) if asks and is_agent else changed


def store_proposal(ctx: Context, shelf: Shelf, draft: Memory) -> Memory:
    """Store a proposal, once. Nothing that is there gives way to it, or is changed by it.

    Raises:
        BadInputError: too many wait already.

    Returns:
        The proposal as it is stored; what became of it, where an export brings it again.
    """
    with shelf.storing:
        stored = shelf.journal.by_ids([draft.id]).get(draft.id)
        if stored is not None:
            return stored
        # What a file of the user's own brought waits, too, and takes no agent's place.
        held = [memory for memory in _proposals_in(shelf, Scope()) if memory.proposed.get("held")]
        key = text_key(draft.text), draft.project
        for memory in held:
            is_same = (text_key(memory.text), memory.project) == key
            if is_same and memory.proposed == draft.proposed:
                return memory
        if len(held) >= MOST_WAITING:
            raise BadInputError(
                f"{MOST_WAITING} proposals wait for the user already.",
                "Ask the user to look at them: `vector-memory review`.",
            )
        memory = shelf.journal.add([draft])[0]
    note(ctx, memory.project)
    ctx.notify()
    return memory


def note(ctx: Context, project: str) -> None:
    """Note that something waits in a project."""
    projects = (ctx.state.cursor(WAITING) or Record()).words("projects")
    if project not in projects:
        ctx.state.set_cursor(WAITING, {"projects": [*projects, project]})


def waiting(ctx: Context, shelves: list[Shelf], projects: tuple[str, ...]) -> int:
    """Return how many proposals wait for the user in some projects."""
    noted_projects = (ctx.state.cursor(WAITING) or Record()).words("projects")
    if not set(noted_projects) & set(projects):
        return 0
    count = sum(len(_proposals_in(shelf, Scope(projects=projects))) for shelf in shelves)
    if not count:
        ctx.state.set_cursor(
            WAITING, {"projects": [id for id in noted_projects if id not in projects]}
        )
    return count


def _proposals_in(shelf: Shelf, scope: Scope) -> list[Memory]:
    return [memory for memory in shelf.journal.withheld(scope) if memory.proposed]


BINDING = (DECISION, PREFERENCE, PROCEDURE)
ASKED_KINDS = (*BINDING, CONCLUSION, SOLUTION, TODO, "fact", "learning", "note")
"""Kinds of captured memories that a review asks about. What was asked or went wrong is no claim."""
FRESH_FOR = timedelta(days=30)
"""How long a captured memory is counted at a start; a review itself asks about older ones too."""
MOST_COUNTED = 100
WORTH_TELLING = 10
AGAIN_AFTER = timedelta(days=7)
"""How many new ones, or what time, it takes for a start to tell again that something waits."""
FINISHED = "review"
"""The state's note of when the user declared all that was captured by then as looked through."""


def is_request(idea: Memory) -> bool:
    """Whether an idea is its exchange's prompt as it stands. Such a one may be a decision; as a finding it was a
    request."""
    text, prompt = (part.casefold().strip(" .!…") for part in (idea.text, idea.title))
    return text == prompt and idea.kind not in BINDING


def reviewed(memory: Memory, how: str, now: datetime, beside: Sequence[str] = ()) -> Memory:
    """Return a memory that no review asks about again, unless its words change.

    Args:
        how: what the user did about it.
        beside: ids of memories that speak against it or repeat it and stand all the same.
    """
    ids = dict.fromkeys([*_review(memory).words("beside"), *beside])
    mark = {"at": now.isoformat(), "as": how, **({"beside": list(ids)} if ids else {})}
    return replace(memory, extra={**memory.extra, REVIEWED: mark}, updated_at=now)


def may_stand_beside(memory: Memory, other: Memory) -> bool:
    """Whether the user has said that both hold, though one speaks against the other or repeats it."""
    return other.id in _review(memory).words("beside") or memory.id in _review(other).words(
        "beside"
    )


def _review(memory: Memory) -> Record:
    return Record(memory.extra).part(REVIEWED)


def review_finished_at(ctx: Context) -> datetime:
    """Return until when all that was captured is looked through."""
    at = (ctx.state.cursor(FINISHED) or Record()).text("at")
    return datetime.fromisoformat(at) if at else datetime(1970, 1, 1, tzinfo=timezone.utc)


def finish_review(ctx: Context) -> None:
    """Note that all that was captured by now is looked through. Durable."""
    ctx.state.set_cursor(FINISHED, {"at": ctx.now().isoformat()})


def notice(ctx: Context, shelves: Sequence[Shelf], project: str) -> str:
    """Return what a start tells of what waits in a project and globally, "" for nothing: in a few words, once,
    and again when much is new or a week has passed."""
    projects = (project, GLOBAL_PROJECT)
    proposal_count = waiting(ctx, list(shelves), projects)
    scope = Scope(projects=projects, since=ctx.now() - FRESH_FOR)
    idea_count = sum(
        shelf.journal.count_captured(scope, ASKED_KINDS, review_finished_at(ctx), MOST_COUNTED)
        for shelf in shelves
    )
    idea_count = idea_count if idea_count >= WORTH_TELLING else 0
    last_told = ctx.state.cursor(_note_name(project)) or Record()
    if not proposal_count + idea_count or not _is_due(ctx, last_told, proposal_count + idea_count):
        return ""
    now = ctx.now().isoformat()
    ctx.state.set_cursor(_note_name(project), {"at": now, "waiting": proposal_count + idea_count})
    subject = "1 memory waits" if proposal_count == 1 else f"{proposal_count} memories wait"
    parts = [f"{subject} for the user alone to judge"] if proposal_count else []
    if idea_count:
        more = "+" if idea_count == MOST_COUNTED else ""
        parts.append(f"{idea_count}{more} memories from sessions can be looked through")
    return f"{', and '.join(parts)}: `vector-memory review`."


def _note_name(project: str) -> str:
    return f"{FINISHED}:{project}"


def _is_due(ctx: Context, last_told: Record, waiting: int) -> bool:
    if not last_told.text("at"):
        return True
    is_late = ctx.now() - datetime.fromisoformat(last_told.text("at")) >= AGAIN_AFTER
    return is_late or waiting - last_told.number("waiting") >= WORTH_TELLING


def note_decided(ctx: Context, decided: Sequence[Memory]) -> None:
    """Let a start count anew what comes after what was decided."""
    for project in {memory.project for memory in decided}:
        if last_told := ctx.state.cursor(_note_name(project)):
            count = sum(memory.project == project for memory in decided)
            remaining = max(0, last_told.number("waiting") - count)
            ctx.state.set_cursor(_note_name(project), {**last_told, "waiting": remaining})
