"""What a change of a memory or a file concerns: links, what speaks of the same files and names, newer decisions."""

from __future__ import annotations

import os
from collections.abc import Sequence

from vector_memory.errors import BadInputError
from vector_memory.journal.use_labels import UseCount
from vector_memory.model import DECISION, DERIVED, PASSAGE, QUIET, Memory, Scope
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf, project_names
from vector_memory.service.learning import learned_records
from vector_memory.service.memory import links as linking
from vector_memory.service.memory.links import LinkView
from vector_memory.service.memory.lookup import is_open, lookup
from vector_memory.service.memory.views import MemoryView, extended, memory_view

MOST_LOOKED_AT = 5_000
FILE = "file:"
SPECIFIC = (FILE, "concept:", "person:")


class ImpactRequest(messages.Filter):
    """What does a change concern: of a memory, by the beginning of its id, or else of a file?"""

    id: str = messages.maybe_text(64)
    file: str = messages.maybe_text(4_096)
    k: int = messages.number(10, 1, 100)


class RelatedView(MemoryView, kw_only=True):
    """A memory that speaks of the same things.

    Attributes:
        shares: the files and names that it has in common with what was asked about.
    """

    shares: list[str]


class TaskCount(messages.Answer):
    """How many tasks, and how many of them were done."""

    n: int = 0
    done: int = 0


class ImpactAnswer(messages.Answer):
    """What a change concerns.

    Attributes:
        about: the memory that was asked about; empty for a file.
        links: its links, each with the memory at its other end.
        related: what speaks of the same things, without `newer_decisions`.
        total: how many memories are related, those that are not shown among them.
        uses: of a memory, to how many sessions hooks have shown it, and in how many of these it was of use; no more
            than that is known of what it did.
        tasks: into how many tasks with a known end it came, and how many of these were done; `others` the same of the
            other tasks of these kinds in the same projects. Nobody chose by lot: a difference is a hint, and of fewer
            than five none at all.
    """

    about: list[MemoryView]
    links: list[LinkView]
    related: list[RelatedView]
    newer_decisions: list[MemoryView]
    total: int
    uses: UseCount | None = messages.spare()
    tasks: TaskCount | None = messages.spare()
    others: TaskCount | None = messages.spare()


def impact(ctx: Context, request: ImpactRequest) -> ImpactAnswer:
    """Return what a change of a memory or a file concerns.

    Raises:
        BadInputError: neither is named.
        NotFoundError: no memory's id begins so.
    """
    uses = tasks = others = None
    if request.id:
        shelf, memory = lookup(ctx, request.id)
        uses, (tasks, others) = _uses(ctx, memory.id), _tasks(ctx, memory)
        about = [memory_view(memory, project_names([shelf]))]
        scope = Scope(projects=(memory.project,))
        place = messages.place_of(ctx, request)
        related = _related_memories([shelf], messages.limited(ctx, request, place, scope), memory)
        links = linking.links(ctx, linking.IdRequest(id=memory.id)).links
        since = memory.created_at
    elif request.file:
        path = os.path.normpath(request.file)
        asker = messages.asker_of(ctx, request)
        candidates = _open_memories(asker.shelves, asker.scope)
        related = [(memory, [path]) for memory in candidates if _is_about(memory, path)]
        about, links, since = [], [], None
        shelf = asker.shelves[0]
    else:
        raise BadInputError("The impact of what?", "Name a memory's id or a file.")
    names = project_names([shelf])
    newer_decisions = [
        memory
        for memory, _ in related
        if memory.kind == DECISION and (since is None or memory.created_at > since)
    ][: request.k]
    return ImpactAnswer(
        about=about,
        links=links,
        related=[
            extended(RelatedView, memory_view(memory, names), shares=shares)
            for memory, shares in related[: request.k]
            if memory not in newer_decisions
        ],
        newer_decisions=[memory_view(memory, names) for memory in newer_decisions],
        total=len(related),
        uses=uses,
        tasks=tasks,
        others=others,
    )


def _uses(ctx: Context, id: str) -> UseCount:
    labels = [label for label in ctx.state.use_labels() if label.memory == id]
    used = {label.session for label in labels if label.used}
    return UseCount(len({label.session for label in labels}), len(used))


def _tasks(ctx: Context, memory: Memory) -> tuple[TaskCount, TaskCount]:
    """Return how the tasks of its project ended in which a memory was shown, and the other tasks of their kinds; of a
    global memory the tasks of all projects."""
    projects = (memory.project,) if memory.project else None
    ordered = learned_records.each_once(
        task
        for _, ledger in learned_records.ledgers(ctx.all_shelves(), projects)
        for task in ledger.tasks
    )
    with_memory = [
        task for id, task in learned_records.tasks_of_shown(ctx, ordered) if id == memory.id
    ]
    keys, kinds = {task.key for task in with_memory}, {task.kind for task in with_memory}
    others = [
        task for task in ordered if task.is_judged and task.kind in kinds and task.key not in keys
    ]
    of_memory, of_others = (
        TaskCount(len(group), sum(bool(task.done) for task in group))
        for group in (with_memory, others)
    )
    return of_memory, of_others


def _open_memories(shelves: Sequence[Shelf], scope: Scope) -> list[Memory]:
    memories = [
        memory
        for shelf in shelves
        for memory in shelf.journal.iter_memories(scope, newest_first=True, limit=MOST_LOOKED_AT)
        if is_open(memory) and memory.collection not in QUIET and memory.kind not in DERIVED
    ]
    # Passages of talk go last: what was drawn from them says the same in a line.
    return sorted(memories, key=lambda memory: memory.kind == PASSAGE)


def _related_memories(
    shelves: Sequence[Shelf], scope: Scope, memory: Memory
) -> list[tuple[Memory, list[str]]]:
    """Return the memories that name what a memory names, those first that share most."""
    own_names = _files_and_names(memory)
    related = []
    for other in _open_memories(shelves, scope):
        shared = own_names & _files_and_names(other)
        if other.id != memory.id and shared:
            related.append((other, sorted(shared)))
    return sorted(related, key=lambda pair: -len(pair[1]))


def _files_and_names(memory: Memory) -> set[str]:
    """Return the files and names that a memory is about: a file once, whether it is named or was worked on."""
    entities = {name for name in memory.entities if name.startswith(SPECIFIC)}
    return {*memory.files, *(name.removeprefix(FILE) for name in entities)}


def _is_about(memory: Memory, path: str) -> bool:
    """Whether a memory is about a file, or names it by its last parts."""
    paths = [
        *memory.files,
        *(entity.removeprefix(FILE) for entity in memory.entities if entity.startswith(FILE)),
    ]
    return any(_is_same_file(os.path.normpath(name), path) for name in paths) or path in memory.text


def _is_same_file(path: str, other: str) -> bool:
    return path == other or path.endswith(os.sep + other) or other.endswith(os.sep + path)
