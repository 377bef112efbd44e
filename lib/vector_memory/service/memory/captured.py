"""What was captured and waits to be looked through: marked when the user has settled it, counted, and told at a
start without nagging."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone

from vector_memory.model import (
    CONCLUSION,
    DECISION,
    GLOBAL_PROJECT,
    PREFERENCE,
    PROCEDURE,
    REVIEWED,
    SOLUTION,
    TODO,
    Memory,
    Scope,
)
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory import proposals
from vector_memory.system.json_in import Record

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


def settled(memory: Memory, how: str, now: datetime, beside: Sequence[str] = ()) -> Memory:
    """Return a memory that no review asks about again, unless its words change.

    Args:
        how: what the user did about it.
        beside: ids of memories that speak against it or repeat it and stand all the same.
    """
    both = dict.fromkeys([*_review(memory).words("beside"), *beside])
    mark = {"at": now.isoformat(), "as": how, **({"beside": list(both)} if both else {})}
    return replace(memory, extra={**memory.extra, REVIEWED: mark}, updated_at=now)


def may_stand_beside(memory: Memory, other: Memory) -> bool:
    """Whether the user has said that both hold, though one speaks against the other or repeats it."""
    return other.id in _review(memory).words("beside") or memory.id in _review(other).words(
        "beside"
    )


def _review(memory: Memory) -> Record:
    return Record(memory.extra).part(REVIEWED)


def finished_at(ctx: Context) -> datetime:
    """Return until when all that was captured is looked through."""
    at = (ctx.state.cursor(FINISHED) or Record()).text("at")
    return datetime.fromisoformat(at) if at else datetime(1970, 1, 1, tzinfo=timezone.utc)


def finish(ctx: Context) -> None:
    """Note that all that was captured by now is looked through. Durable."""
    ctx.state.set_cursor(FINISHED, {"at": ctx.now().isoformat()})


def notice(ctx: Context, shelves: Sequence[Shelf], project: str) -> str:
    """Return what a start tells of what waits in a project and globally, "" for nothing: in a few words, once,
    and again when much is new or a week has passed."""
    projects = (project, GLOBAL_PROJECT)
    proposed = proposals.waiting(ctx, list(shelves), projects)
    scope = Scope(projects=projects, since=ctx.now() - FRESH_FOR)
    ideas = sum(
        shelf.journal.count_captured(scope, ASKED_KINDS, finished_at(ctx), MOST_COUNTED)
        for shelf in shelves
    )
    ideas = ideas if ideas >= WORTH_TELLING else 0
    last_told = ctx.state.cursor(_note_name(project)) or Record()
    if not proposed + ideas or not _is_due(ctx, last_told, proposed + ideas):
        return ""
    now = ctx.now().isoformat()
    ctx.state.set_cursor(_note_name(project), {"at": now, "waiting": proposed + ideas})
    what = "1 memory waits" if proposed == 1 else f"{proposed} memories wait"
    parts = [f"{what} for the user alone to judge"] if proposed else []
    parts += [f"{ideas}{'+' if ideas == MOST_COUNTED else ''} captured"] if ideas else []
    return f"{', '.join(parts)}: `vector-memory review`."


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
            left = max(0, last_told.number("waiting") - count)
            ctx.state.set_cursor(_note_name(project), {**last_told, "waiting": left})
