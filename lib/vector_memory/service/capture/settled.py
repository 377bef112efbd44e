"""What the user says is done: the todo or the deadline that it is about is open no longer.

The passage in which it is said is linked to that as its answer, so that who asks sees why, and what was open is open
again where the passage goes.
"""

from __future__ import annotations

from collections.abc import Sequence

from vector_memory.index.units import units
from vector_memory.index.voices import USER
from vector_memory.lifecycle import answers
from vector_memory.model import LOOKUP, Link, Memory, Relation, Scope, Temporal
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory.placement import TODOS

MOST_OPEN = 50
"""How many open items a sentence is compared with."""


def settle(ctx: Context, shelf: Shelf, talk: Sequence[Memory]) -> int:
    """Link what an exchange's user says is done to its passage; return how many items that settles.

    Args:
        talk: the passages of one exchange.
    """
    reports = [
        (passage, unit.text)
        for passage in talk
        if LOOKUP not in passage.extra
        for unit in units([passage.text])
        if unit.speaker == USER and answers.may_say_done(unit.text)
    ]
    if not reports:
        return 0
    links = [
        Link(passage.id, item.id, Relation.ANSWERS, 1.0, ctx.now())
        for item in _open(shelf, talk[0])
        for passage, text in reports
        if answers.says_done(text, item.text, None)
    ]
    if links:
        shelf.journal.link_all(links)
        ctx.audit("link", "job", [end for link in links for end in (link.from_id, link.to_id)])
        ctx.count("ideas_linked", len(links))
    return len(links)


def _open(shelf: Shelf, passage: Memory) -> list[Memory]:
    """Return what was to be done in an exchange's project before it, and is told of."""
    scope = Scope(projects=(passage.project,))
    dated = [item for item in shelf.journal.dated(scope) if item.temporal is Temporal.DEADLINE]
    items = [*shelf.journal.open_items(scope, MOST_OPEN), *dated]
    return [
        item
        for item in {item.id: item for item in items}.values()
        if (item.kind in TODOS or item in dated)
        and item.created_at < passage.created_at
        and item.source != passage.source
        and not item.is_held
    ]
