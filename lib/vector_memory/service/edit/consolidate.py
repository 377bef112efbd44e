"""Memories that say the same, found in groups; merged when that is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from vector_memory.lifecycle import dedup
from vector_memory.lifecycle.dedup import Outcome, text_key
from vector_memory.model import DERIVED, PASSAGE, QUIET, Memory, Progress, Status
from vector_memory.service.base import request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.capture import link_ideas
from vector_memory.service.memory.lookup import project_names
from vector_memory.service.memory.merging import may_merge
from vector_memory.service.memory.neighbours import neighbours
from vector_memory.service.memory.views import memory_json

MOST_LOOKED_AT = 2_000
"""Of the newest memories of a store, so many are compared with their neighbours."""
LOOKED_AT_ONCE = 50


@dataclass
class Group:
    """Memories of one store. `same` says that they are one assertion, and may be merged; otherwise they
    are merely close, and somebody has to look."""

    shelf: Shelf
    same: bool
    members: list[Memory] = field(default_factory=list)


def consolidate(
    ctx: Context, request: request_fields.Request, progress: Progress
) -> dict[str, Any]:
    """Find groups of memories that say nearly the same; with `dry_run` false merge those that say the
    same. The most trusted and newest of a group stands for all; the others give way to it and stay in
    its history.

    Args:
        request: the scope, `k` groups at most, and `ids` to keep to groups with one of these.
    """
    k = request_fields.number_of(request, "k", 20, 1, 500)
    groups = find_groups(ctx, request, progress)
    wanted = request_fields.words_of(request, "ids")
    if wanted:
        groups = [one for one in groups if _holds(one, wanted)]
    groups = groups[:k]
    merged = 0
    if not request.get("dry_run", True):
        merged = sum(_merge(ctx, request, one) for one in groups if one.same)
    return {
        "groups": [_told(one) for one in groups],
        "merged": merged,
        "dry_run": bool(request.get("dry_run", True)),
    }


def find_groups(ctx: Context, request: request_fields.Request, progress: Progress) -> list[Group]:
    """Return the groups of a scope, those first that may be merged, then the larger ones."""
    scope, place = request_fields.scope_asked(ctx, request)
    groups: list[Group] = []
    for shelf in request_fields.shelves_asked(ctx, request, place):
        found = shelf.journal.iter_memories(scope, newest_first=True, limit=MOST_LOOKED_AT)
        memories = [one for one in found if _may_be_one(one)]
        groups += _groups_of(ctx, shelf, memories, progress)
    return sorted(groups, key=lambda one: (not one.same, -len(one.members)))


def _may_be_one(memory: Memory) -> bool:
    """Whether a memory is an assertion, and may be shown."""
    return (
        memory.kind not in (PASSAGE, *DERIVED)
        and memory.collection not in QUIET
        and not memory.is_held
    )


def _groups_of(
    ctx: Context, shelf: Shelf, memories: Sequence[Memory], progress: Progress
) -> list[Group]:
    same, close = _Sets(), _Sets()
    for start in range(0, len(memories), LOOKED_AT_ONCE):
        progress(start, len(memories), "comparing")
        part = memories[start : start + LOOKED_AT_ONCE]
        keys = [text_key(one.embedded) for one in part]
        vectors = shelf.journal.get_vectors(keys, ctx.embedding.model)
        for memory, key in zip(part, keys, strict=True):
            for near in neighbours(ctx, shelf, memory, vectors.get(key)):
                if not _may_be_one(near.memory):
                    continue
                verdict = dedup.compare(memory.text, near.memory.text, near.cosine)
                one_of_both = may_merge(memory, near.memory) or may_merge(near.memory, memory)
                if verdict.outcome is Outcome.SAME and one_of_both:
                    same.join(memory, near.memory)
                elif verdict.outcome in (Outcome.SAME, Outcome.RELATED) and _is_close(near.cosine):
                    close.join(memory, near.memory)
    progress(len(memories), len(memories), "comparing")
    groups = [Group(shelf, True, one) for one in same.groups()]
    known = {one.id for group in groups for one in group.members}
    rest = [one for one in close.groups() if not {member.id for member in one} <= known]
    return groups + [Group(shelf, False, members) for members in rest]


def _is_close(cosine: float | None) -> bool:
    return cosine is not None and cosine >= dedup.SAME_COSINE


class _Sets:
    """Memories joined pair by pair into sets without a common member."""

    def __init__(self) -> None:
        self._memories: dict[str, Memory] = {}
        self._above: dict[str, str] = {}

    def join(self, one: Memory, other: Memory) -> None:
        for memory in (one, other):
            self._memories.setdefault(memory.id, memory)
            self._above.setdefault(memory.id, memory.id)
        self._above[self._top(one.id)] = self._top(other.id)

    def groups(self) -> Iterable[list[Memory]]:
        """Return the sets, each with what stands for all of it first."""
        found: dict[str, list[Memory]] = {}
        for id, memory in self._memories.items():
            found.setdefault(self._top(id), []).append(memory)
        for members in found.values():
            members.sort(key=_standing, reverse=True)
        return found.values()

    def _top(self, id: str) -> str:
        while self._above[id] != id:
            id = self._above[id]
        return id


def _standing(memory: Memory) -> tuple[Any, ...]:
    """Return by what one of those that say the same stands for all: whose words weigh keeps them."""
    return memory.trust, bool(memory.weight), memory.created_at, memory.seq


def _holds(group: Group, prefixes: Sequence[str]) -> bool:
    return any(one.id.startswith(tuple(prefixes)) for one in group.members)


def _merge(ctx: Context, request: request_fields.Request, group: Group) -> int:
    """Let the first of a group stand for all; return how many gave way."""
    shelf, done = group.shelf, []
    with shelf.storing:
        living = shelf.journal.by_ids([one.id for one in group.members])
        members = [
            living[one.id]
            for one in group.members
            if living[one.id].status is Status.ACTIVE and living[one.id].text == one.text
        ]
        for gone in members[1:]:
            link_ideas.become_one(ctx, shelf, members[0], gone)
            members[0] = shelf.journal.get(members[0].id)
            done.append(gone.id)
    if done:
        ctx.state.audit("merge", request_fields.actor_of(request), [members[0].id, *done], {})
        group.members[0] = members[0]
    return len(done)


def _told(group: Group) -> dict[str, Any]:
    names = project_names([group.shelf])
    return {"same": group.same, "memories": [memory_json(one, names) for one in group.members]}
