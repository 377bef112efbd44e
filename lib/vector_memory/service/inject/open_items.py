"""What a prompt is given that asks what is open: the deadlines to come, then what is to be done or to be answered."""

from __future__ import annotations

from dataclasses import replace

from vector_memory.model import Memory, Temporal
from vector_memory.retrieve import render
from vector_memory.service.base.asker import HookQuestion
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import each_of
from vector_memory.service.memory import last_session
from vector_memory.text import fence

TITLE = "Open, as far as it was said:"
MOST, NOTE_TOKENS = 8, 70


def notes(ctx: Context, question: HookQuestion) -> list[fence.Note]:
    """Return what is open in a session's project, within the budget of a prompt; [] for nothing that the session was not
    shown."""
    shown = ctx.state.shown(question.session)
    left = ctx.settings.prompt_tokens - render.FENCE_TOKENS - fence.tokens(TITLE)
    made: list[fence.Note] = []
    for memory in {memory.id: memory for memory in _open(ctx, question)}.values():
        note = render.note(memory, question.names[memory.project], NOTE_TOKENS)
        if memory.id not in shown and note.tokens <= left and len(made) < MOST:
            made.append(note)
            left -= note.tokens
    return made


def _open(ctx: Context, question: HookQuestion) -> list[Memory]:
    """Return deadlines to come, the nearest first, then what else is open, the newest first."""
    now, own = ctx.now(), replace(question.scope, projects=(question.place.id,))
    dated = each_of(question.shelves, lambda journal: journal.dated(question.scope))
    due = [one for one in dated if one.temporal is Temporal.DEADLINE and one.valid_until]
    to_come = [one for one in due if one.valid_until is not None and one.valid_until > now]
    groups = [last_session.still_open(shelf, own, MOST) for shelf in question.shelves]
    others = [memory for group in groups for memory in group]
    return [
        *sorted(to_come, key=lambda one: (one.valid_until, one.id)),
        *sorted(others, key=lambda one: one.created_at, reverse=True),
    ]
