"""`growth`: how the memory grew, what of it is used, and in which projects it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timezone

from vector_memory.journal.figures import FACETS
from vector_memory.journal.use_labels import UseCount
from vector_memory.model import GLOBAL_PROJECT
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import ProjectNames, Shelf, project_names, project_roots
from vector_memory.service.memory.views import MemoryView, memory_view

EVER = datetime(1970, 1, 1, tzinfo=timezone.utc)


class GrowthRequest(messages.Filter):
    """Figures over time, with the `k` memories that were used most."""

    k: int = messages.number(10, 1, 100)


class ProjectView(messages.Answer):
    """A project, its folder ("" where it was never seen here), and how many memories it has. The id of what
    belongs to the user rather than to a project is the global one's."""

    id: str
    name: str
    root: str
    memories: int


class GrowthAnswer(messages.Answer):
    """Figures over time.

    Attributes:
        days: how many memories are of each day (`2026-11-23`) that has any, the oldest first.
        uses: how many notes sessions were shown on each day, and how many of them they used.
        most_used: the most used first.
        unused: how many memories were never used, of `memories`.
        projects: those with most memories first.
    """

    memories: int
    days: dict[str, int]
    uses: dict[str, UseCount]
    most_used: list[MemoryView]
    unused: int
    projects: list[ProjectView]


def growth(ctx: Context, request: GrowthRequest) -> GrowthAnswer:
    """Return how the memory grew day by day, what is used of it, and its projects."""
    asker = messages.asker_of(ctx, request)
    scope, shelves = asker.scope.listed, asker.shelves
    names = project_names(shelves)
    days: Counter[str] = Counter()
    projects: Counter[str] = Counter()
    for shelf in shelves:
        days.update({day.isoformat(): n for day, n in shelf.journal.count_by_day(scope).items()})
        projects.update(shelf.journal.count_by("project", scope))
    used = [memory for shelf in shelves for memory in shelf.journal.most_used(scope, request.k)]
    used.sort(key=lambda memory: -memory.uses)
    counts = ctx.state.use_counts("day", EVER)
    return GrowthAnswer(
        memories=sum(projects.values()),
        days=dict(sorted(days.items())),
        uses=dict(sorted(counts.items())),
        most_used=[memory_view(memory, names, ctx.now()) for memory in used[: request.k]],
        unused=sum(shelf.journal.count_unused(scope) for shelf in shelves),
        projects=_projects(shelves, projects),
    )


class FacetsRequest(messages.Filter):
    """By what can memories be told apart?"""


class FacetsAnswer(messages.Answer):
    """By what memories can be told apart: projects with most memories first, and word → how many of each."""

    projects: list[ProjectView]
    kinds: dict[str, int]
    collections: dict[str, int]
    tiers: dict[str, int]
    priorities: dict[str, int]
    origins: dict[str, int]


def facets(ctx: Context, request: FacetsRequest) -> FacetsAnswer:
    """Return by what a list of memories can be limited, the commonest first."""
    asker = messages.asker_of(ctx, request)
    scope = asker.scope.listed
    counts: dict[str, Counter[str]] = {name: Counter() for name in FACETS}
    for shelf in asker.shelves:
        for name, by_value in shelf.journal.count_facets(scope).items():
            counts[name].update(by_value)
    projects = _projects(asker.shelves, counts.pop("project"))
    return FacetsAnswer(projects, *(dict(count.most_common()) for count in counts.values()))


def _projects(shelves: Sequence[Shelf], counts: Counter[str]) -> list[ProjectView]:
    names = project_names(shelves)
    roots = project_roots(shelves)
    return [
        ProjectView(id, _name(id, names), roots.get(id, ""), n) for id, n in counts.most_common()
    ]


def _name(id: str, names: ProjectNames) -> str:
    return "of yours, in all projects" if id == GLOBAL_PROJECT else names[id]
