"""What a memory has besides its words (how it ages, what took its place, its uses and links), as an export
writes it and an import of that export restores it."""

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
    values: dict[str, object] = {
        name: getattr(memory, name) for name in STANDING if getattr(memory, name) != ORDINARY[name]
    }
    if links:
        values["links"] = [dict(zip(LINK, LEADING(link), strict=True)) for link in links]
    marks = {**_reviewed(memory.extra), **_held_back(memory.extra)}
    extra = {**trust_marks.unmarked(memory.extra), **marks}
    # Left out: by these hashes of lines somebody could check whether a line that they guess stood there.
    extra = {name: value for name, value in extra.items() if name not in (WROTE, TOOK_AWAY)}
    return {**values, "extra": extra} if extra else values


def with_links(shelf: Shelf, memories: Iterable[Memory]) -> Iterator[tuple[Memory, list[Link]]]:
    """Yield memories of a store, each with the links that lead from it."""
    remaining = iter(memories)
    while batch := list(islice(remaining, AT_ONCE)):
        links_by_id: dict[str, list[Link]] = defaultdict(list)
        for link in shelf.journal.links_of([memory.id for memory in batch]):
            links_by_id[link.from_id].append(link)
        yield from ((memory, links_by_id[memory.id]) for memory in batch)


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
        extra=_restored_extra(memory, data),
    )


def _restored_extra(memory: Memory, data: Record) -> dict[str, object]:
    """Return a memory's `extra` with that of its line in an export, redacted. The export's marks of trust do not count,
    with two exceptions: that a proposal of an agent's is held back, and, not for what others wrote, who could hide it
    so, that the user has reviewed it."""
    cleaned = _redacted(data.part("extra"), MOST_DEEP)
    exported = cleaned if isinstance(cleaned, dict) else {}
    done_mark = {"done": True} if data.get("done") is True else {}
    reviewed = {} if memory.is_foreign or memory.is_suspicious else _reviewed(exported)
    return (
        trust_marks.unmarked({**exported, **done_mark})
        | memory.extra
        | reviewed
        | _held_back(exported)
    )


def _reviewed(extra: Mapping[str, object]) -> dict[str, object]:
    return {REVIEWED: extra[REVIEWED]} if isinstance(extra.get(REVIEWED), dict) else {}


def _held_back(extra: Mapping[str, object]) -> dict[str, object]:
    proposal = extra.get(PROPOSED)
    return (
        {PROPOSED: proposal} if isinstance(proposal, dict) and proposal.get("held") is True else {}
    )


def _redacted(value: object, depth: int) -> object:
    if isinstance(value, str):
        return str(redact.clean(value).text)
    if depth and isinstance(value, list):
        return [_redacted(part, depth - 1) for part in value]
    if depth and isinstance(value, dict):
        return {
            str(_redacted(str(name), 0)): _redacted(part, depth - 1) for name, part in value.items()
        }
    return value if isinstance(value, (int, float)) else None


def _link(from_id: str, data: Record) -> Link:
    weight = min(MOST_WEIGHT, max(0.0, float(str(data.get("weight", 1.0)))))
    relation, at = Relation(data.text("relation")), request_fields.time_of(data, "created_at")
    return Link(from_id, data.text("to"), relation, weight, at)


@dataclass
class ImportRestoration:
    """What an import of an export restores once the memories themselves are stored: uses and links. Memories that were
    stored before keep their own, so that a second import changes nothing.

    Attributes:
        stored_ids: ids of the memories that this import stored.
        existing_ids: by the id of a memory of the export whose text was stored already, the id of the stored one.
        unbound: what was stored with less weight than the user's own file says, see `proposals.unbound`.
        raised: stored memories that a line of the user's own made more sensitive: each with its store, and as it was before.
    """

    stored_ids: set[str] = field(default_factory=set)
    existing_ids: dict[str, str] = field(default_factory=dict)
    unbound: list[Memory] = field(default_factory=list)
    raised: list[tuple[Shelf, Memory, Memory]] = field(default_factory=list)
    _export_links: dict[str, tuple[Shelf, list[Link]]] = field(default_factory=dict)

    def note_links(self, shelf: Shelf, memory: Memory, data: Record) -> None:
        """Note the links of a line of an export; lines of others have none.

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
        self._export_links[memory.id] = (shelf, links)

    def is_from_export(self, memory: Memory) -> bool:
        """Whether a memory is one of an export of ours, known by its id: equal words are no reason to make
        two of them one."""
        return memory.id in self._export_links

    def note_stored(self, shelf: Shelf, memories: Sequence[Memory]) -> None:
        """Note memories that were stored anew, and restore their uses."""
        self.stored_ids.update(memory.id for memory in memories)
        shelf.journal.restore_uses(memories)
        elsewhere = {memory.id: memory.tier for memory in memories if memory.tier is not Tier.HOT}
        shelf.journal.move_to_tiers(elsewhere)

    def finish(self) -> None:
        """Restore the links of memories that were stored anew, where both ends are there."""
        by_shelf: dict[int, tuple[Shelf, list[Link]]] = {}
        for shelf, links in self._export_links.values():
            by_shelf.setdefault(id(shelf), (shelf, []))[1].extend(
                map(self._with_existing_ids, links)
            )
        for shelf, links in by_shelf.values():
            self._redirect_successors(shelf)
            for batch in parts(links):
                ends = {end for link in batch for end in (link.from_id, link.to_id)}
                stored = shelf.journal.by_ids(list(ends))
                shelf.journal.link_all(
                    link
                    for link in batch
                    if {link.from_id, link.to_id} <= set(stored) and link.from_id != link.to_id
                    if not self.stored_ids.isdisjoint((link.from_id, link.to_id))
                )

    def _with_existing_ids(self, link: Link) -> Link:
        from_id, to_id = (self.existing_ids.get(end, end) for end in (link.from_id, link.to_id))
        return replace(link, from_id=from_id, to_id=to_id)

    def _redirect_successors(self, shelf: Shelf) -> None:
        """Let memories whose successor was stored already under another id name that id."""
        if not self.existing_ids:
            return
        ids = [id for id in self.stored_ids if id in self._export_links]
        for memory in shelf.journal.by_ids(ids).values():
            successor = self.existing_ids.get(memory.superseded_by)
            if successor:
                shelf.journal.update(replace(memory, superseded_by=successor))
