"""Episodes: a search for a fault or a task is begun, gets its steps one by one, and its outcome in the end.
One that nobody ends stays open, and is found as such."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from vector_memory import redact
from vector_memory.errors import BadInputError
from vector_memory.model import EPISODES, Memory, Status, unique
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.memory import agent_rights, trust_marks
from vector_memory.service.memory.lookup import lookup
from vector_memory.service.memory.views import MemoryView, view_in

COLLECTION, KIND, OPEN = EPISODES, "episode", "open"
MOST_CHARS = 20_000
_STEP, _OUTCOME = "- ", "Outcome"


class EpisodeRequest(messages.Request):
    """An episode goes on: with a step, or to its end.

    Attributes:
        id: the episode's id, or how it begins.
        step: what was done or seen.
        outcome: what came of it: it ends.
    """

    id: str = messages.text(64)
    step: str = messages.maybe_text(2_000)
    outcome: str = messages.maybe_text(4_000)


class EpisodeAnswer(messages.Answer):
    """An episode as it is now: `open`, or `complete`."""

    memory: MemoryView
    status: str


def continue_episode(ctx: Context, request: EpisodeRequest) -> EpisodeAnswer:
    """Add a step to an episode, end it with its outcome, or both. The same step twice in a row is one: whoever did
    not get the answer may ask again.

    Raises:
        NotFoundError: no memory's id begins so.
        BadInputError: it is no open episode, or nothing is told of it, or it has become too long.
        UnsafeTextError: the redactor could not handle the words.

    Returns:
        The episode as it stands now.
    """
    if not (request.step.strip() or request.outcome.strip()):
        raise BadInputError("Nothing to add.", "Give step, or outcome to complete it.")
    shelf, memory = lookup(ctx, request.id)
    agent_rights.require_not_the_users(memory)
    if (memory.collection, memory.kind) != (COLLECTION, KIND) or memory.status is not Status.ACTIVE:
        raise BadInputError(
            f"Memory {memory.id[:12]} is no episode.",
            "Begin one with action start, and give its id.",
        )
    if request.outcome and _ends_with_outcome(memory, request.outcome):
        return EpisodeAnswer(view_in(shelf, memory), "complete")
    if OPEN not in memory.tags:
        raise BadInputError(f"Episode {memory.id[:12]} is complete.", "Begin another one.")
    raw = _next_text(memory, request, ctx.now() - memory.created_at)
    if len(raw) > MOST_CHARS:
        raise BadInputError("The episode is too long.", "Complete it, and begin another one.")
    cleaned = redact.clean(raw)
    ctx.count("redactions", cleaned.redactions)
    tags = memory.tags if not request.outcome else tuple(tag for tag in memory.tags if tag != OPEN)
    changed = replace(memory, text=cleaned.text, tags=unique(tags), updated_at=ctx.now())
    stored = shelf.journal.update(trust_marks.with_trust_marks(changed, raw))
    ctx.notify()
    ctx.state.audit("episode", request.actor, [memory.id], {})
    status = "complete" if request.outcome else OPEN
    return EpisodeAnswer(view_in(shelf, stored), status)


def _ends_with_outcome(memory: Memory, outcome: str) -> bool:
    """Whether an episode has ended with this outcome already."""
    last = memory.text.rsplit("\n", 1)[-1]
    return OPEN not in memory.tags and last.startswith(_OUTCOME) and last.endswith(_line(outcome))


def _next_text(memory: Memory, request: EpisodeRequest, duration: timedelta) -> str:
    lines: list[str] = [memory.text]
    if request.step.strip() and not memory.text.endswith("\n" + _STEP + _line(request.step)):
        lines.append(_STEP + _line(request.step))
    if request.outcome.strip():
        lines.append(f"{_OUTCOME} after {_duration(duration)}: {_line(request.outcome)}")
    return "\n".join(lines)


def _line(text: str) -> str:
    return " ".join(text.split())


def _duration(duration: timedelta) -> str:
    minutes = max(0, round(duration.total_seconds() / 60))
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "d"), (hours, "h"), (minutes, "min")]
    return " ".join(f"{n} {unit}" for n, unit in parts if n) or "less than a minute"
