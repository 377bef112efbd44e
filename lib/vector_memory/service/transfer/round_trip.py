"""What a memory has besides its words (how it ages, what took its place, its uses and links), as an export
tells it and an import of that export brings it back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from operator import attrgetter
from typing import Any

from vector_memory import redact
from vector_memory.errors import BadInputError
from vector_memory.journal.scopes import parts
from vector_memory.model import (
    PROPOSED,
    REVIEWED,
    TOOK_AWAY,
    WROTE,
    Link,
    Memory,
    Relation,
    Status,
    Temporal,
    Tier,
)
from vector_memory.service.base import request_fields
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory import trust_marks
from vector_memory.system.json_in import Record

MOST_LINKS, MOST_DEEP, MOST_USES = 1_000, 8, 1 << 53
MOST_WEIGHT = 1e6
AT_ONCE = 500
LINK = ("to", "relation", "weight", "created_at")
"""What is told of a link, in the order of `LEADING`."""
TIMES = ("updated_at", "valid_from", "valid_until", "expires_at", "last_used_at", "applied_at")
ORDINARY = {attribute.name: attribute.default for attribute in fields(Memory)}


STANDING = (
    "updated_at", "temporal", "valid_from", "valid_until", "expires_at", "status", "superseded_by", "uses",
    "last_used_at", "tier", "applied", "applied_at",
)  # fmt: skip
"""What an export tells of a memory besides its words, where it is not as usual; the names are those of `Memory`."""
LEADING = attrgetter("to_id", "relation", "weight", "created_at")


def standing(memory: Memory, links: Sequence[Link]) -> dict[str, object]:
    """Return what a memory has besides its words and is not as usual, by the names of an export: `STANDING`, its
    `links`, and in `extra` what else was noted with it, the marks of trust left out.

    Args:
        links: those that lead from it.
    """
    told: dict[str, object] = {
        name: getattr(memory, name) for name in STANDING if getattr(memory, name) != ORDINARY[name]
    }
    if links:
        told["links"] = [dict(zip(LINK, LEADING(link), strict=True)) for link in links]
    marks = {**_reviewed(memory.extra), **_held_back(memory.extra)}
    noted = {**trust_marks.unmarked(memory.extra), **marks}
    # They tell who guesses a line whether it stood there: elsewhere nobody needs them.
    noted = {name: value for name, value in noted.items() if name not in (WROTE, TOOK_AWAY)}
    return {**told, "extra": noted} if noted else told


def with_links(shelf: Shelf, memories: Iterable[Memory]) -> Iterator[tuple[Memory, list[Link]]]:
    """Yield memories of a store, each with the links that lead from it."""
    rest = iter(memories)
    while part := list(islice(rest, AT_ONCE)):
        leading: dict[str, list[Link]] = defaultdict(list)
        for link in shelf.journal.links_of([memory.id for memory in part]):
            leading[link.from_id].append(link)
        yield from ((memory, leading[memory.id]) for memory in part)


def restored(memory: Memory, data: Record) -> Memory:
    """Return a memory of an export of ours with its standing.

    Raises:
        BadInputError: a time is none.
        ValueError: a word is none of its vocabulary.
    """
    is_past = data.get("status") == Status.SUPERSEDED.value
    times: dict[str, Any] = {name: request_fields.time_of(data, name) for name in TIMES}
    return replace(
        memory,
        temporal=Temporal(data.get("temporal") or Temporal.PERMANENT),
        status=Status.SUPERSEDED if is_past else Status.ACTIVE,
        superseded_by=redact.clean(data.text("superseded_by")).text if is_past else "",
        uses=request_fields.number_of(data, "uses", 0, 0, MOST_USES),
        tier=Tier(data.get("tier") or Tier.HOT),
        applied=request_fields.number_of(data, "applied", 0, 0, MOST_USES),
        **times,
        extra=_noted(memory, data),
    )


def _noted(memory: Memory, data: Record) -> dict[str, object]:
    """Return what was noted with a memory, and what else an export says was, redacted. What that says of trust does
    not count, but that hooks hold back what an agent proposed, since an export decides nothing, and that the user has
    looked at it; not of what others wrote, who would hide it so."""
    cleaned = _cleaned(data.part("extra"), MOST_DEEP)
    told = cleaned if isinstance(cleaned, dict) else {}
    done = {"done": True} if data.get("done") is True else {}
    looked_at = {} if memory.is_foreign or memory.is_suspicious else _reviewed(told)
    return trust_marks.unmarked({**told, **done}) | memory.extra | looked_at | _held_back(told)


def _reviewed(extra: Mapping[str, object]) -> dict[str, object]:
    return {REVIEWED: extra[REVIEWED]} if isinstance(extra.get(REVIEWED), dict) else {}


def _held_back(extra: Mapping[str, object]) -> dict[str, object]:
    asks = extra.get(PROPOSED)
    return {PROPOSED: asks} if isinstance(asks, dict) and asks.get("held") is True else {}


def _cleaned(value: object, depth: int) -> object:
    if isinstance(value, str):
        return str(redact.clean(value).text)
    if depth and isinstance(value, list):
        return [_cleaned(part, depth - 1) for part in value]
    if depth and isinstance(value, dict):
        return {
            str(_cleaned(str(name), 0)): _cleaned(part, depth - 1) for name, part in value.items()
        }
    return value if isinstance(value, (int, float)) else None


def _link(from_id: str, told: Record) -> Link:
    weight = min(MOST_WEIGHT, max(0.0, float(str(told.get("weight", 1.0)))))
    relation, at = Relation(told.text("relation")), request_fields.time_of(told, "created_at")
    return Link(from_id, told.text("to"), relation, weight, at)


@dataclass
class Returning:
    """What an import of an export brings back once the memories themselves are stored: uses and links. What
    was there before keeps its own, so that a second import changes nothing.

    Attributes:
        brought: ids of the memories that this import stored.
        became: by the id of a memory whose text was there already, the id that it has there.
        unbound: what was stored with less weight than the user's own file says, see `proposals.unbound`.
        risen: what was there already and a line of the user's own made more sensitive: its store, it, and it as it was.
    """

    brought: set[str] = field(default_factory=set)
    became: dict[str, str] = field(default_factory=dict)
    unbound: list[Memory] = field(default_factory=list)
    risen: list[tuple[Shelf, Memory, Memory]] = field(default_factory=list)
    _heard: dict[str, tuple[Shelf, list[Link]]] = field(default_factory=dict)

    def hear(self, shelf: Shelf, memory: Memory, data: Record) -> None:
        """Note which links a line of an export tells; of others' lines there are none.

        Raises:
            BadInputError: a relation or a weight is none.
        """
        if memory.id != data.get("id"):
            return
        try:
            links = [_link(memory.id, part) for part in data.parts("links")[:MOST_LINKS]]
        except (ValueError, TypeError) as error:
            raise BadInputError(
                f"A link of the export is damaged: {error}.", "Export anew."
            ) from error
        self._heard[memory.id] = (shelf, links)

    def is_heard(self, memory: Memory) -> bool:
        """Whether a memory is one of an export of ours, known by its id: equal words are no reason to make
        two of them one."""
        return memory.id in self._heard

    def stored(self, shelf: Shelf, memories: Sequence[Memory]) -> None:
        """Note memories that were stored anew, and bring their uses back."""
        self.brought.update(memory.id for memory in memories)
        shelf.journal.restore_uses(memories)
        elsewhere = {memory.id: memory.tier for memory in memories if memory.tier is not Tier.HOT}
        shelf.journal.move_to_tiers(elsewhere)

    def finish(self) -> None:
        """Link what was brought with what it was linked with, as far as that is there."""
        by_shelf: dict[int, tuple[Shelf, list[Link]]] = {}
        for shelf, links in self._heard.values():
            by_shelf.setdefault(id(shelf), (shelf, []))[1].extend(map(self._moved, links))
        for shelf, links in by_shelf.values():
            self._follow_moved(shelf)
            for part in parts(links):
                ends = {end for link in part for end in (link.from_id, link.to_id)}
                there = shelf.journal.by_ids(list(ends))
                shelf.journal.link_all(
                    link
                    for link in part
                    if {link.from_id, link.to_id} <= set(there) and link.from_id != link.to_id
                    if not self.brought.isdisjoint((link.from_id, link.to_id))
                )

    def _moved(self, link: Link) -> Link:
        from_id, to_id = (self.became.get(end, end) for end in (link.from_id, link.to_id))
        return replace(link, from_id=from_id, to_id=to_id)

    def _follow_moved(self, shelf: Shelf) -> None:
        """Let what gave way to a memory that was there under another id give way to that one."""
        if not self.became:
            return
        ids = [id for id in self.brought if id in self._heard]
        for memory in shelf.journal.by_ids(ids).values():
            successor = self.became.get(memory.superseded_by)
            if successor:
                shelf.journal.update(replace(memory, superseded_by=successor))
