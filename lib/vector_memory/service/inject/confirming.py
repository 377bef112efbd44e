"""Decisions that were noted in a session, put before the model so that the user can confirm them: only
where the setting `confirm_decisions` says so."""

from __future__ import annotations

from vector_memory.model import DECISION, Memory, Scope
from vector_memory.retrieve import render
from vector_memory.service.base.asker import HookQuestion
from vector_memory.service.base.context import Context
from vector_memory.service.memory.lookup import name_in, project_names
from vector_memory.text import fence

MOST_AT_ONCE = 3
TOKENS = 80
TITLE = (
    "Noted as decided in this session. Ask the user whether each is right; "
    "`vector-memory forget ID` removes what is not:"
)


def to_confirm(ctx: Context, question: HookQuestion) -> list[fence.Note]:
    """Return the decisions of a session about which nobody was asked yet, the oldest first."""
    if not ctx.settings.confirm_decisions or not question.session:
        return []
    shown = ctx.state.shown(question.session)
    scope = Scope(sessions=(question.session,), kinds=(DECISION,))
    fresh: list[Memory] = [
        memory
        for shelf in question.shelves
        for memory in shelf.journal.iter_memories(scope)
        if memory.id not in shown
    ]
    fresh.sort(key=lambda one: (one.created_at, one.seq))
    names = project_names(question.shelves)
    return [render.note(one, name_in(names, one.project), TOKENS) for one in fresh[:MOST_AT_ONCE]]
