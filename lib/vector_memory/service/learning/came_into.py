"""Into which tasks something came that a session was shown, and how these ended: whether a procedure or an example
helped. Being there when a task went well is no proof of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vector_memory.observe.learning.outcomes import Task
from vector_memory.service.base.context import Context


def tasks_of_shown(ctx: Context, tasks: Iterable[Task]) -> Iterator[tuple[str, Task]]:
    """Yield the ids of what sessions were shown, each with the task that it came into where a check or the user
    says how that ended.

    Args:
        tasks: what sessions did themselves, the oldest first.
    """
    by_session: dict[str, list[Task]] = {}
    for task in tasks:
        by_session.setdefault(task.session, []).append(task)
    for session, own in by_session.items():
        for id, at in ctx.state.shown_at(session).items():
            into = next((task for task in own if task.ended_at >= at), None)
            if into is not None and into.is_judged:
                yield id, into
