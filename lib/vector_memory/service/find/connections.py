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
"""Relations of which the second memory was there first, and the first came of it."""
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
    """A memory, over how many links it was reached, and by the last of them: from which memory and what the first is
    to the second there, as `a builds_on b`."""

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
        reached = _way(_walk(shelf, start, BOTH, FARTHEST), goal.id)
    else:
        reached = list(_walk(shelf, start, request.direction, request.depth))
    shown = [
        one for one in reached if reach.holds(one[0]) and not (request.is_agent and one[0].is_held)
    ]
    views = [
        extended(ConnectedView, memory_view(memory, names), distance=distance, by=_told(link))
        for memory, distance, link in shown[: request.k]
    ]
    return ConnectionsAnswer(views, [], len(shown))


Reached = tuple[Memory, int, Link]


def _walk(shelf: Shelf, start: Memory, direction: str, depth: int) -> Iterator[Reached]:
    """Yield what links lead to, the nearest first, each once."""
    seen, edge = {start.id}, [start.id]
    for distance in range(1, depth + 1):
        steps: dict[str, Link] = {}
        for link in shelf.journal.links_of(edge):
            for here, there, way in (
                (link.from_id, link.to_id, UP),
                (link.to_id, link.from_id, DOWN),
            ):
                leads = direction == BOTH or (direction == way and link.relation in LEADING)
                if here in edge and leads and there not in seen:
                    steps.setdefault(there, link)
        known = shelf.journal.by_ids(list(steps))
        edge = [id for id in steps if id in known][:MOST_FOUND]
        seen.update(edge)
        yield from ((known[id], distance, steps[id]) for id in edge)


def _way(reached: Iterator[Reached], goal: str) -> list[Reached]:
    """Return the shortest way to a memory, [] where none leads there."""
    found: dict[str, Reached] = {}
    for one in reached:
        found[one[0].id] = one
        if one[0].id == goal:
            break
    way: list[Reached] = []
    at = goal
    while at in found:
        way.insert(0, found[at])
        at = found[at][2].end_beyond(at)
    return way


def _told(link: Link) -> str:
    return f"{link.from_id[:12]} {link.relation} {link.to_id[:12]}"


def _clusters(ctx: Context, request: ConnectionsRequest) -> ConnectionsAnswer:
    """Return the groups that links make of the newest memories; talk as it was belongs to none."""
    asker = messages.asker_of(ctx, request)
    found = []
    for shelf in asker.shelves:
        newest = shelf.journal.iter_memories(asker.scope, newest_first=True, limit=MOST_LOOKED_AT)
        mine = {
            memory.id: memory
            for memory in newest
            if memory.kind not in OF_TALK and not memory.is_quiet
            if not (request.is_agent and memory.is_held)
        }
        sets = Sets()
        for link in shelf.journal.links_of(list(mine)):
            if link.from_id in mine and link.to_id in mine:
                sets.join(mine[link.from_id], mine[link.to_id])
        found += [(shelf, members) for members in sets.groups()]
    found.sort(key=lambda one: -len(one[1]))
    views = []
    for shelf, members in found[: request.k]:
        newest_first = sorted(members, key=lambda member: member.created_at, reverse=True)[:SHOWN]
        shown = [memory_view(memory, project_names([shelf])) for memory in newest_first]
        views.append(ClusterView(_about(members), len(members), shown))
    return ConnectionsAnswer([], views, len(found))


def _about(members: list[Memory]) -> list[str]:
    """Return what most of some memories name; the words of ours that they share, where that is
    nothing."""
    named = Counter(name.partition(":")[2] for member in members for name in set(member.entities))
    words = Counter(
        word
        for member in members
        for word in set(analysis.analyse(harmless.without_marked(member.text)))
    )
    for counted in (named, words):
        shared = [name for name, n in counted.most_common(MOST_LABELS) if 2 * n >= len(members)]
        if shared:
            return shared
    return []
