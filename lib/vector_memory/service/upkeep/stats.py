"""Figures: what is stored, where, what happened, and how it grew."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone

from vector_memory.journal.job_rows import FAILED, JobRow
from vector_memory.journal.reads import CountedBy
from vector_memory.journal.use_labels import BY, UseCount
from vector_memory.model import GLOBAL_PROJECT, LIVING, Scope
from vector_memory.service.base import messages, model_help
from vector_memory.service.base.context import Context
from vector_memory.service.base.gate_threshold import least_worth
from vector_memory.service.base.shelf import ProjectNames, Shelf, project_names, project_roots
from vector_memory.service.base.timings import Slo
from vector_memory.service.memory.views import MemoryView, memory_view
from vector_memory.service.tools import flags
from vector_memory.service.upkeep.check_rebuild import pending

FACETS = ("project", "kind", "collection", "tier", "priority", "origin")
USED_DAYS = 30
EVER = datetime(1970, 1, 1, tzinfo=timezone.utc)


class StoreView(messages.Answer):
    """A store: how much it holds, and how far its index is.

    Attributes:
        tiers: how many memories are in each, those that gave way among them.
        pending_vectors: how many of its memories cannot be found by meaning yet.
        last_seq: the number of the memory that was stored last; `indexed_seq` the last that the index has.
        lexical: what answers by words, `index` or `journal`.
        vectors: whether it answers by meaning.
        failed: why its index cannot be kept, "" where it can.
    """

    folder: str
    memories: int
    tiers: dict[str, int]
    pending_vectors: int
    last_seq: int
    indexed_seq: int
    lexical: str
    vectors: bool
    bytes: int
    failed: str
    writable: bool


class EmbeddingView(messages.Answer):
    """The model that searches by meaning, whether it is loaded, and why it is not."""

    model: str
    state: str
    error: str


class UsesView(messages.Answer):
    """How many of the notes that sessions were shown they used, in the last days.

    Attributes:
        by: the same by channel, kind, age and worth.
        labels: how many judgements are kept in all.
        threshold: from what worth on the gate lets a note pass now.
    """

    days: int
    shown: int
    used: int
    by: dict[str, dict[str, UseCount]]
    labels: int
    threshold: float


class StatsAnswer(messages.Answer):
    """Figures.

    Attributes:
        memories: how many there are, and by kind, collection and project, the most first. Collections
            hold also what observers keep count of, which is no memory.
        flags: how often each category was flagged.
        unopened: why stores cannot be opened, by their folders.
        counters: what happened how often.
        generation: what was asked of the language model today.
        slo: how long recall, remember and each hook took, by their names.
        jobs: how many run by themselves, ended in the last day, and fail.
        backfill: how far one that runs is (`GoingOn.told`).
    """

    memories: int
    by_kind: dict[str, int]
    by_collection: dict[str, int]
    by_project: dict[str, int]
    flags: dict[str, int]
    stores: list[StoreView]
    unopened: dict[str, str]
    counters: dict[str, int]
    generation: dict[str, object]
    embedding: EmbeddingView
    uses: UsesView
    slo: dict[str, Slo]
    jobs: dict[str, int]
    backfill: dict[str, object]


def stats(ctx: Context, request: messages.Request, jobs: Sequence[JobRow]) -> StatsAnswer:
    """Return counts, of all stores or of one project, with the stores and the model behind them.

    Args:
        jobs: all that there are.
    """
    # Only a project that is named: who asks from within one wants the figures of all.
    place = messages.place_of(ctx, request) if request.project else None
    visible = messages.limited(ctx, request, place, Scope())
    scope, shelves = visible, ctx.all_shelves()
    if place is not None:
        scope, shelves = replace(visible, projects=(place.id,)), ctx.shelves_of(place)
    everything, scope = replace(scope, unexpired_at=ctx.now()), scope.listed_at(ctx.now())
    names = project_names(shelves)
    by_project = _sum_counts(shelves, "project", scope)
    add_hook_counts(ctx)
    ctx.state.flush()
    return StatsAnswer(
        memories=sum(shelf.journal.count(scope) for shelf in shelves),
        by_kind=_sum_counts(shelves, "kind", scope),
        by_collection=_sum_counts(shelves, "collection", everything),
        by_project={
            (names[key] or "global") + _name_suffix(key, names): n for key, n in by_project.items()
        },
        flags=flags.figures(shelves, everything),
        stores=[_store_view(ctx, shelf, visible) for shelf in shelves],
        unopened={folder: str(error) for folder, error in ctx.unopened(place).items()},
        counters=ctx.state.totals(),
        generation=model_help.report(ctx),
        embedding=EmbeddingView(ctx.embedding.model, ctx.embedding.state, ctx.embedding.error),
        uses=_uses_view(ctx),
        slo=ctx.timings.report(ctx.state),
        jobs=_job_counts(ctx, jobs),
        backfill=ctx.filling.told,
    )


def _job_counts(ctx: Context, rows: Sequence[JobRow]) -> dict[str, int]:
    day = ctx.now() - timedelta(days=1)
    return {
        "enabled": sum(row.enabled for row in rows) if ctx.settings.jobs else 0,
        "ran_today": sum(row.ended_at is not None and row.ended_at > day for row in rows),
        "failing": sum(row.outcome == FAILED for row in rows),
    }


def _uses_view(ctx: Context) -> UsesView:
    since = ctx.now() - timedelta(days=USED_DAYS)
    by = {name: ctx.state.use_counts(name, since) for name in BY}
    counts = by["channel"].values()
    return UsesView(
        days=USED_DAYS,
        shown=sum(count.shown for count in counts),
        used=sum(count.used for count in counts),
        by=by,
        labels=sum(count.shown for count in ctx.state.use_counts("channel", EVER).values()),
        threshold=round(least_worth(ctx), 3),
    )


def _name_suffix(project: str, names: ProjectNames) -> str:
    """Return a suffix that distinguishes projects of one name; "" where the name is unique."""
    namesakes = [key for key in names if names[key] == names[project]]
    return f" ({project.rpartition('-')[2]})" if len(namesakes) > 1 else ""


def _sum_counts(shelves: Sequence[Shelf], column: CountedBy, scope: Scope) -> dict[str, int]:
    """Return the counts of several stores together, the highest first."""
    counts = (Counter(shelf.journal.count_by(column, scope)) for shelf in shelves)
    return dict(sum(counts, Counter[str]()).most_common())


def _store_view(ctx: Context, shelf: Shelf, visible: Scope) -> StoreView:
    index = shelf.index
    return StoreView(
        folder=shelf.folder,
        memories=shelf.journal.count(visible),
        tiers=shelf.journal.count_by("tier", Scope(), LIVING),
        pending_vectors=pending(ctx, shelf),
        last_seq=shelf.journal.last_seq(),
        indexed_seq=index.reached() if index else 0,
        lexical="index" if index is not None and index.lexical_ready else "journal",
        vectors=index is not None and index.vectors_ready,
        bytes=folder_bytes(shelf.folder),
        failed=shelf.failed,
        writable=shelf.journal.writable,
    )


def folder_bytes(folder: str) -> int:
    """Return what a folder's files take, in bytes."""
    total = 0
    for root, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.lstat(os.path.join(root, name)).st_size
            except OSError:
                continue
    return total


HOOKS_FILE = "counts"
HOOKS_COUNTED = (
    "hooks_late",
    "hooks_failed",
    "hooks_without_daemon",
    "prompts_from_files",
    "starts_from_snapshot",
)
"""What may be counted so; `client.hook` and `client.fallback` write them."""


def add_hook_counts(ctx: Context) -> None:
    """Add what hooks counted to the counters. A hook that has the file open just then is not counted."""
    path = os.path.join(ctx.home.run, HOOKS_FILE)
    taken_path = f"{path}.taken"
    try:
        # A file that is there already was left by a daemon that ended right here.
        if not os.path.exists(taken_path):
            os.rename(path, taken_path)
        with open(taken_path, encoding="ascii", errors="replace") as file:
            counts = Counter(line.strip() for line in file)
        os.unlink(taken_path)
    except OSError:
        return
    for name in HOOKS_COUNTED:
        ctx.count(name, counts[name])


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
    scope, shelves = asker.scope.listed_at(ctx.now()), asker.shelves
    names, projects = project_names(shelves), _sum_counts(shelves, "project", scope)
    days: Counter[str] = Counter()
    for shelf in shelves:
        days.update({day.isoformat(): n for day, n in shelf.journal.count_by_day(scope).items()})
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
    scope = asker.scope.listed_at(ctx.now())
    counts: dict[str, Counter[str]] = {name: Counter() for name in FACETS}
    for shelf in asker.shelves:
        for words, n in shelf.journal.count_by_words(FACETS, scope).items():
            for name, word in zip(FACETS, words, strict=True):
                counts[name][word] += n
    projects = _projects(asker.shelves, counts.pop("project"))
    return FacetsAnswer(projects, *(dict(count.most_common()) for count in counts.values()))


def _projects(shelves: Sequence[Shelf], counts: Mapping[str, int]) -> list[ProjectView]:
    names, roots = project_names(shelves), project_roots(shelves)
    names[GLOBAL_PROJECT] = "of yours, in all projects"
    ordered = Counter(counts).most_common()
    return [ProjectView(id, names[id], roots.get(id, ""), n) for id, n in ordered]
