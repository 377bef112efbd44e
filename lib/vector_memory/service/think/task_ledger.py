"""The tasks of a project, of its sessions and of their subagents, as those who compare them read them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from vector_memory.model import HEURISTICS, Scope
from vector_memory.observe.learning.outcomes import Task
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.learning import learned_records

MOST_LEDGERS = 5_000
SESSION_ITSELF = "main"
"""How the session itself is named among those who did tasks."""


def tasks_of(ctx: Context, request: messages.Request, since: datetime | None = None) -> list[Task]:
    """Return the tasks of the project asked about, or of all projects, oldest first, each once; `agent` names who
    did it."""
    asker = messages.asker_of(ctx, request)
    projects = None if asker.place is None else (asker.place.id,)
    scope = Scope(projects=projects, collections=(HEURISTICS,), kinds=(learned_records.LEDGER,))
    found: list[Task] = []
    for shelf in asker.shelves:
        for record in shelf.journal.iter_memories(scope, newest_first=True, limit=MOST_LEDGERS):
            own, _ = learned_records.ledger_of(record)
            found += [replace(task, agent=SESSION_ITSELF) for task in own]
            found += learned_records.subagents_of(record)
    once = learned_records.each_once(found)
    return [task for task in once if since is None or task.ended_at >= since]
