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
    shown_ids = ctx.state.shown_ids(question.session)
    room = ctx.settings.prompt_tokens - render.FENCE_TOKENS - fence.tokens(TITLE)
    open_notes: list[fence.Note] = []
    for memory in {memory.id: memory for memory in _open_memories(ctx, question)}.values():
        note = render.note(memory, question.names[memory.project], NOTE_TOKENS)
        if memory.id not in shown_ids and note.tokens <= room and len(open_notes) < MOST:
            open_notes.append(note)
            room -= note.tokens
    return open_notes


def _open_memories(ctx: Context, question: HookQuestion) -> list[Memory]:
    """Return deadlines to come, the nearest first, then what else is open, the newest first."""
    now, own_scope = ctx.now(), replace(question.scope, projects=(question.place.id,))
    dated = each_of(question.shelves, lambda journal: journal.with_dates(question.scope))
    due = [
        memory for memory in dated if memory.temporal is Temporal.DEADLINE and memory.valid_until
    ]
    to_come = [
        memory for memory in due if memory.valid_until is not None and memory.valid_until > now
    ]
    groups = [last_session.still_open(shelf, own_scope, MOST) for shelf in question.shelves]
    undated = [memory for group in groups for memory in group]
    return [
        *sorted(to_come, key=lambda memory: (memory.valid_until, memory.id)),
        *sorted(undated, key=lambda memory: memory.created_at, reverse=True),
    ]
