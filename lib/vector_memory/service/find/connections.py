"""What a memory is connected with over several links, the way from one memory to another, and the groups that links
make of memories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from vector_memory.errors import BadInputError
from vector_memory.model import OF_TALK, Link, Memory, Relation
from vector_memory.service.base import messages, reach
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf, project_names
from vector_memory.service.edit.consolidate import Sets
from vector_memory.service.memory.lookup import lookup
from vector_memory.service.memory.views import MemoryView, extended, memory_view
from vector_memory.text import analysis, harmless

UP, DOWN, BOTH = DIRECTIONS = ("up", "down", "both")
LEADING = (Relation.BUILDS_ON, Relation.SUPERSEDES, Relation.ANSWERS, Relation.CLARIFIES)
"""Relations in which the first memory came of the second, which is the older one."""
DEEPEST, MOST_FOUND, MOST_LOOKED_AT = 3, 200, 2_000
FARTHEST = 6
"""Links at most on the way from one memory to another."""
MOST_LABELS, SHOWN = 3, 5


class ConnectionsRequest(messages.Filter):
    """What is connected with a memory, the way between two, or the groups that links make.

    Attributes:
        ids: one memory, or two to find the way between; none for groups.
        direction: `up` to what a memory came of, `down` to what came of it, `both` along all links.
        depth: how many links far.
    """

    ids: tuple[str, ...] = messages.words()
    direction: str = messages.one_of(DIRECTIONS, BOTH)
    depth: int = messages.number(DEEPEST, 1, DEEPEST)
    k: int = messages.number(20, 1, MOST_FOUND)


class ConnectedView(MemoryView, kw_only=True):
    """A memory, over how many links it was reached, and the last of these links, as `a builds_on b`."""

    distance: int
    by: str


class ClusterView(messages.Answer):
    """Memories that links join: the names or words that most of them share, how many they are, and the newest."""

    about: list[str]
    size: int
    memories: list[MemoryView]


class ConnectionsAnswer(messages.Answer):
    """What was reached, the nearest first; or the groups, the largest first; and how many there are in all."""

    memories: list[ConnectedView]
    clusters: list[ClusterView]
    total: int


def connections(ctx: Context, request: ConnectionsRequest) -> ConnectionsAnswer:
    """Return what links lead to.

    Raises:
        NotFoundError: no memory's id begins so.
        BadInputError: there are more than two ids.
    """
    if len(request.ids) > 2:
        raise BadInputError("Links lead from one memory or between two.", "Give one id or two.")
    if not request.ids:
        return _clusters(ctx, request)
    shelf, start = lookup(ctx, request.ids[0])
    names = project_names([shelf])
    if len(request.ids) == 2:
        goal = lookup(ctx, request.ids[1])[1]
        reached = _shortest_path(_walk(shelf, start, BOTH, FARTHEST), goal.id)
    else:
        reached = list(_walk(shelf, start, request.direction, request.depth))
    visible = [
        step
        for step in reached
        if reach.holds(step[0]) and not (request.is_agent and step[0].is_held)
    ]
    views = [
        extended(ConnectedView, memory_view(memory, names), distance=distance, by=_link_text(link))
        for memory, distance, link in visible[: request.k]
    ]
    return ConnectionsAnswer(views, [], len(visible))


Step = tuple[Memory, int, Link]


def _walk(shelf: Shelf, start: Memory, direction: str, depth: int) -> Iterator[Step]:
    """Yield the memories that links lead to, the nearest first, each once."""
    visited, frontier = {start.id}, [start.id]
    for distance in range(1, depth + 1):
        steps: dict[str, Link] = {}
        for link in shelf.journal.links_of(frontier):
            for near, far, link_direction in (
                (link.from_id, link.to_id, UP),
                (link.to_id, link.from_id, DOWN),
            ):
                is_followed = direction == BOTH or (
                    direction == link_direction and link.relation in LEADING
                )
                if near in frontier and is_followed and far not in visited:
                    steps.setdefault(far, link)
        stored = shelf.journal.by_ids(list(steps))
        frontier = [id for id in steps if id in stored][:MOST_FOUND]
        visited.update(frontier)
        yield from ((stored[id], distance, steps[id]) for id in frontier)


def _shortest_path(reached: Iterator[Step], goal: str) -> list[Step]:
    """Return the shortest path to a memory, [] where none leads there."""
    steps: dict[str, Step] = {}
    for step in reached:
        steps[step[0].id] = step
        if step[0].id == goal:
            break
    path: list[Step] = []
    current = goal
    while current in steps:
        path.insert(0, steps[current])
        current = steps[current][2].end_beyond(current)
    return path


def _link_text(link: Link) -> str:
    return f"{link.from_id[:12]} {link.relation} {link.to_id[:12]}"


def _clusters(ctx: Context, request: ConnectionsRequest) -> ConnectionsAnswer:
    """Return the groups that links make of the newest memories; talk as it was belongs to none."""
    asker = messages.asker_of(ctx, request)
    clusters = []
    for shelf in asker.shelves:
        newest = shelf.journal.iter_memories(asker.scope, newest_first=True, limit=MOST_LOOKED_AT)
        memories = {
            memory.id: memory
            for memory in newest
            if memory.kind not in OF_TALK and not memory.is_quiet
            if not (request.is_agent and memory.is_held)
        }
        sets = Sets()
        for link in shelf.journal.links_of(list(memories)):
            if link.from_id in memories and link.to_id in memories:
                sets.join(memories[link.from_id], memories[link.to_id])
        clusters += [(shelf, members) for members in sets.groups()]
    clusters.sort(key=lambda cluster: -len(cluster[1]))
    views = []
    for shelf, members in clusters[: request.k]:
        newest_first = sorted(members, key=lambda member: member.created_at, reverse=True)[:SHOWN]
        memory_views = [memory_view(memory, project_names([shelf])) for memory in newest_first]
        views.append(ClusterView(_about(members), len(members), memory_views))
    return ConnectionsAnswer([], views, len(clusters))


def _about(members: list[Memory]) -> list[str]:
    """Return the names that at least half of the members have in common; where there is none, such words."""
    name_counts = Counter(
        name.partition(":")[2] for member in members for name in set(member.entities)
    )
    word_counts = Counter(
        word
        for member in members
        for word in set(analysis.analyse(harmless.without_marked(member.text)))
    )
    for counts in (name_counts, word_counts):
        shared = [name for name, n in counts.most_common(MOST_LABELS) if 2 * n >= len(members)]
        if shared:
            return shared
    return []
