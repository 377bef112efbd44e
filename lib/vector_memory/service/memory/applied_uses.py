"""The use of memories: somebody asked for them, or a session did what they say. Being shown is none."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from functools import partial

from vector_memory.errors import VectorMemoryError
from vector_memory.model import Memory, Tier
from vector_memory.retrieve.search import Hit
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf

log = logging.getLogger(__name__)


def asked_for(ctx: Context, shelves: Sequence[Shelf], hits: Sequence[Hit], session: str) -> None:
    """Note that what fits a question was asked for; cold ones are warm again. Nobody waits for it.

    Args:
        session: which asked; "" for a person, whose questions of a day count once.
    """
    now = ctx.now()
    for place, shelf in enumerate(shelves):
        fitting = [hit.memory for hit in hits if hit.shelf == place and hit.fits]
        if fitting:
            ctx.later(partial(_note_use, ctx, shelf, fitting, session or f"{now:%Y-%m-%d}", now))


def followed(ctx: Context, session: str) -> None:
    """Note of which notes the words or files occurred in what a session did next, as `note_uses` has found."""
    used_at = ctx.state.used_notes(session)
    for shelf in ctx.all_shelves() if used_at else ():
        for memory in shelf.journal.by_ids(list(used_at)).values():
            _note_use(ctx, shelf, [memory], session, used_at[memory.id])


def _note_use(
    ctx: Context, shelf: Shelf, memories: Sequence[Memory], session: str, at: datetime
) -> None:
    if not shelf.journal.writable:
        return
    warmed = {memory.id: Tier.WARM for memory in memories if memory.tier is Tier.COLD}
    try:
        shelf.journal.apply([memory.id for memory in memories], session, at)
        if warmed and shelf.journal.move_to_tiers(warmed):
            ctx.notify()
    except VectorMemoryError as error:
        # Who asked has the answer; another question finds it as well.
        log.warning("a use in %s is not counted: %s", shelf.folder, error)
