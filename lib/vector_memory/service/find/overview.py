"""A project at a glance: what matters there, what is open, what was decided last."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from vector_memory.errors import NotFoundError
from vector_memory.model import DECISION, GLOBAL_PROJECT, Memory, Priority, Scope
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import ProjectNames, newest_of, project_names
from vector_memory.service.memory.lookup import is_open
from vector_memory.service.memory.views import MemoriesAnswer, MemoryView, memory_view

CURRENT = "current"
MOST_IMPORTANT = 500


class ImportantRequest(messages.Filter):
    """The `k` newest memories of a priority."""

    k: int = messages.number(20, 1, 200)
    priority: Priority | None = messages.one_of(Priority, None)


def important(ctx: Context, request: ImportantRequest) -> MemoriesAnswer:
    """Return the memories of a priority (CORE where none is named) of a project and of the user."""
    priority = request.priority or Priority.CORE
    asker = messages.asker_of(ctx, request)
    most_important = newest_of(
        asker.shelves, lambda journal: journal.important(asker.scope, MOST_IMPORTANT)
    )
    memories = [memory for memory in most_important if memory.priority is priority]
    return MemoriesAnswer(_open_views(ctx, memories, asker.names, request.k), len(memories))


class OverviewRequest(messages.Request):
    """A project at a glance, with `k` memories of each sort.

    Attributes:
        id: a project's id or name, or `current` for the one that is asked from.
    """

    id: str = messages.text(300)
    k: int = messages.number(5, 1, 50)


class OverviewAnswer(messages.Answer):
    """A project: how many memories it has, and of those that matter, that are open, and that were decided
    the newest."""

    project_id: str
    name: str
    total: int
    important: list[MemoryView]
    open: list[MemoryView]
    decided: list[MemoryView]


def overview(ctx: Context, request: OverviewRequest) -> OverviewAnswer:
    """Return a project at a glance.

    Raises:
        NotFoundError: no such project is known.
    """
    k, place = request.k, messages.place_of(ctx, request)
    shelves = ctx.all_shelves()
    names = project_names(shelves)
    if request.id == CURRENT and place is not None:
        project, names = place.id, ProjectNames({**names, place.id: place.name})
    else:
        project = _project(names, request.id)
    scope = messages.limited(ctx, request, place, Scope(projects=(project,)))
    counted_scope = scope.listed_at(ctx.now())
    important_memories = newest_of(shelves, lambda journal: journal.important(scope, k))
    still_open = newest_of(shelves, lambda journal: journal.open_items(scope, k))
    decided = newest_of(shelves, lambda journal: journal.recent(scope, k, (DECISION,)))
    return OverviewAnswer(
        project_id=project,
        name=names[project],
        total=sum(shelf.journal.count(counted_scope) for shelf in shelves),
        important=_open_views(ctx, important_memories, names, k),
        open=_open_views(ctx, still_open, names, k),
        decided=_open_views(ctx, decided, names, k),
    )


def _project(names: ProjectNames, id_or_name: str) -> str:
    for id, name in names.items():
        if id != GLOBAL_PROJECT and id_or_name in (id, name):
            return id
    raise NotFoundError(
        f"There is no project {id_or_name!r}.", "memory://stats names the projects."
    )


def _open_views(
    ctx: Context, memories: Sequence[Memory], names: ProjectNames, k: int
) -> list[MemoryView]:
    """Return the first of memories, without what is held back or has expired."""
    open_memories = (
        memory
        for memory in memories
        if is_open(memory) and (memory.expires_at is None or memory.expires_at > ctx.now())
    )
    return [memory_view(memory, names) for memory in islice(open_memories, k)]
