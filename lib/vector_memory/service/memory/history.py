"""What a memory was before: the chain of those that gave way to it."""

from __future__ import annotations

from vector_memory.model import EDITED, Memory, Relation, Status
from vector_memory.service.base import reach
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory.views import HistoryView, StageView

MOST = 32
SHORT = 160


def history_of(shelf: Shelf, memory: Memory) -> HistoryView:
    """Return what a memory was before."""
    chain = chain_of(shelf, memory)
    return HistoryView([_stage(stage) for stage in chain], summary(chain))


def chain_of(shelf: Shelf, memory: Memory) -> list[Memory]:
    """Return the memories that gave way one to another up to the one that holds now, oldest first, a memory without
    any as a chain of itself; without those that who asks may not be given."""
    newest = shelf.journal.successors([memory]).get(memory.id, memory)
    chain = {newest.id: newest}
    frontier = [newest.id]
    while frontier and len(chain) < MOST:
        older = [
            link.to_id
            for link in shelf.journal.links_of(frontier)
            if link.relation is Relation.SUPERSEDES
            and link.from_id in frontier
            and link.to_id not in chain
        ]
        by_id = shelf.journal.by_ids(older)
        frontier = [id for id in older if id in by_id]
        chain.update((id, by_id[id]) for id in frontier)
    stages = [
        stage for stage in reach.visible(chain.values()) if stage.status is not Status.FORGOTTEN
    ]
    return sorted(
        stages, key=lambda stage: (stage.valid_until is None, stage.valid_until or stage.created_at)
    )


def summary(chain: list[Memory]) -> str:
    """Return a chain as a sentence: "was X until 3 May 2026, now Y"; "" for a chain of one."""
    if len(chain) < 2:
        return ""
    return ", ".join([*before(chain), f"now {_shorten(chain[-1])!r}"])


def before(chain: list[Memory]) -> list[str]:
    """Return what was so before the last of a chain, oldest first, each as "was X until 3 May 2026"."""
    return [f"was {_shorten(stage)!r}{_until_phrase(stage)}" for stage in chain[:-1]]


def _until_phrase(memory: Memory) -> str:
    if memory.valid_until is None:
        return ""
    at = memory.valid_until
    return f" until {at.day} {at:%B %Y}"


def _shorten(memory: Memory) -> str:
    text = " ".join(memory.text.split())
    return text if len(text) <= SHORT else text[: SHORT - 2] + " …"


def _stage(memory: Memory) -> StageView:
    reason = memory.gave_way or ("edited by the user" if memory.extra.get(EDITED) else None)
    times = memory.created_at, memory.valid_until
    return StageView(memory.id, memory.text, memory.status.value, *times, reason)
