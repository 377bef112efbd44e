"""Memories that say the same, found in groups; merged when that is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from vector_memory.lifecycle import dedup
from vector_memory.lifecycle.dedup import Outcome, text_key
from vector_memory.model import OF_TALK, QUIET, Memory, Progress, Status
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf, project_names
from vector_memory.service.capture import link_ideas
from vector_memory.service.memory.lookup import lookup
from vector_memory.service.memory.merging import may_merge
from vector_memory.service.memory.placement import neighbours
from vector_memory.service.memory.views import MemoryView, memory_view

MOST_LOOKED_AT = 2_000
"""Of the newest memories of a store, so many are compared with their neighbours."""
LOOKED_AT_ONCE = 50
CLOSE = round(100 * dedup.SAME_COSINE)
"""From which cosine on, in percent, memories are close."""


@dataclass
class Group:
    """Memories of one store. `same` says that they are one assertion, and may be merged; otherwise they
    are merely close, and somebody has to look."""

    shelf: Shelf
    same: bool
    members: list[Memory] = field(default_factory=list)


class ConsolidateRequest(messages.Filter):
    """Groups of memories that say nearly the same are wanted, `k` of them at most.

    Attributes:
        ids: only groups with a memory of one of these ids, or how they begin.
        dry_run: only show them; otherwise those that say the same are merged.
        closeness: how near in meaning those must be that are merely close, in percent.
    """

    k: int = messages.number(20, 1, 500)
    ids: tuple[str, ...] = messages.words()
    dry_run: bool = messages.flag(default=True)
    closeness: int = messages.number(CLOSE, CLOSE, 100)


class GroupView(messages.Answer):
    """Memories that say the same (`same`) or are merely close, first the one that stands for all."""

    same: bool
    memories: list[MemoryView]


class ConsolidateAnswer(messages.Answer):
    """Groups, and how many memories gave way to another one."""

    groups: list[GroupView]
    merged: int
    dry_run: bool


def consolidate(ctx: Context, request: ConsolidateRequest, progress: Progress) -> ConsolidateAnswer:
    """Find groups of memories that say nearly the same; with `dry_run` false merge those that say the
    same. The most trusted and newest of a group stands for all; the others give way to it and stay in
    its history.

    Raises:
        NotFoundError: no memory's id begins as one of those that are named.
        BadInputError: several do.
    """
    ids = {lookup(ctx, id, shared=True)[1].id for id in request.ids}
    groups = find_groups(ctx, messages.asker_of(ctx, request), progress, request.closeness)
    if ids:
        groups = [
            group for group in groups if not ids.isdisjoint(member.id for member in group.members)
        ]
    groups = groups[: request.k]
    merged = 0
    if not request.dry_run:
        merged = sum(merge(ctx, request.actor, group) for group in groups if group.same)
    return ConsolidateAnswer([_group_view(group) for group in groups], merged, request.dry_run)


def find_groups(
    ctx: Context, asker: messages.Asker, progress: Progress, closeness: int = CLOSE
) -> list[Group]:
    """Return the groups of an asker's memories, those first that may be merged, then the larger ones."""
    groups: list[Group] = []
    for shelf in asker.shelves:
        newest = shelf.journal.iter_memories(asker.scope, newest_first=True, limit=MOST_LOOKED_AT)
        memories = [memory for memory in newest if may_be_one(memory)]
        groups += groups_among(ctx, shelf, memories, progress, closeness)
    return sorted(groups, key=lambda group: (not group.same, -len(group.members)))


def may_be_one(memory: Memory) -> bool:
    """Whether a memory is an assertion, and may be shown."""
    return memory.kind not in OF_TALK and memory.collection not in QUIET and not memory.is_held


def groups_among(
    ctx: Context,
    shelf: Shelf,
    memories: Sequence[Memory],
    progress: Progress,
    closeness: int = CLOSE,
) -> list[Group]:
    """Return the groups of memories that say the same, the surest first."""
    same, close = Sets(), Sets()
    for start in range(0, len(memories), LOOKED_AT_ONCE):
        progress(start, len(memories), "comparing")
        batch = memories[start : start + LOOKED_AT_ONCE]
        keys = [text_key(memory.embedded) for memory in batch]
        vectors = shelf.journal.get_vectors(keys, ctx.embedding.model)
        for memory, key in zip(batch, keys, strict=True):
            for neighbour in neighbours(ctx, shelf, memory, vectors.get(key)):
                if not may_be_one(neighbour.memory):
                    continue
                verdict = dedup.compare(memory.text, neighbour.memory.text, neighbour.cosine)
                may_join = may_merge(memory, neighbour.memory) or may_merge(
                    neighbour.memory, memory
                )
                if verdict.outcome is Outcome.SAME and may_join:
                    same.join(memory, neighbour.memory)
                elif (
                    verdict.outcome in (Outcome.SAME, Outcome.RELATED)
                    and 100 * (neighbour.cosine or 0.0) >= closeness
                ):
                    close.join(memory, neighbour.memory)
    progress(len(memories), len(memories), "comparing")
    groups = [Group(shelf, True, members) for members in same.groups()]
    grouped = {member.id for group in groups for member in group.members}
    close_only = [
        members for members in close.groups() if not {member.id for member in members} <= grouped
    ]
    return groups + [Group(shelf, False, members) for members in close_only]


class Sets:
    """Memories joined pair by pair into sets without a common member."""

    def __init__(self) -> None:
        self._memories: dict[str, Memory] = {}
        self._above: dict[str, str] = {}

    def join(self, first: Memory, other: Memory) -> None:
        for memory in (first, other):
            self._memories.setdefault(memory.id, memory)
            self._above.setdefault(memory.id, memory.id)
        self._above[self._top(first.id)] = self._top(other.id)

    def groups(self) -> Iterable[list[Memory]]:
        """Return the sets, each with what stands for all of it first."""
        sets: dict[str, list[Memory]] = {}
        for id, memory in self._memories.items():
            sets.setdefault(self._top(id), []).append(memory)
        for members in sets.values():
            members.sort(key=_rank, reverse=True)
        return sets.values()

    def _top(self, id: str) -> str:
        while self._above[id] != id:
            id = self._above[id]
        return id


def _rank(memory: Memory) -> tuple[Any, ...]:
    """Return the sort key of memories that say the same: the one that ranks highest stands for all."""
    return memory.trust, bool(memory.weight), memory.created_at, memory.seq


def merge(ctx: Context, actor: str, group: Group) -> int:
    """Let the first of a group stand for all; return how many gave way.

    Args:
        actor: who asks for it, for the audit log.
    """
    shelf, merged_ids = group.shelf, []
    with shelf.storing:
        stored = shelf.journal.by_ids([member.id for member in group.members])
        members = [
            stored[member.id]
            for member in group.members
            if stored[member.id].status is Status.ACTIVE and stored[member.id].text == member.text
        ]
        for superseded in members[1:]:
            link_ideas.become_one(ctx, shelf, members[0], superseded)
            members[0] = shelf.journal.get(members[0].id)
            merged_ids.append(superseded.id)
    if merged_ids:
        ctx.state.audit("merge", actor, [members[0].id, *merged_ids], {})
        group.members[0] = members[0]
    return len(merged_ids)


def _group_view(group: Group) -> GroupView:
    names = project_names([group.shelf])
    return GroupView(group.same, [memory_view(member, names) for member in group.members])
