"""Tier transfer: memories move between hot, warm, long-term and cold by `aging.tier`, some at a time. What becomes
cold leaves the index and stays in the journal; nothing is deleted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from vector_memory import aging
from vector_memory.model import DERIVED, Memory, Progress, Status, Tier
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.system.json_in import Record

AT_ONCE = 500
"""Memories that one transaction moves at most: nobody waits for a longer one."""
STEP = 5_000
CURSOR = "tiers"
"""Under which the state keeps the store and the sequence number that were reached."""


@dataclass(frozen=True)
class TransferReport:
    """What a transfer did, or with `dry_run` would do.

    Attributes:
        looked_at: how many memories it looked at.
        moved: how many went from one tier to another, as `warm to cold`.
        complete: whether it has come to the end of every store; the next one begins anew.
    """

    looked_at: int
    moved: dict[str, int]
    complete: bool
    dry_run: bool


def transfer(
    context: Context, *, now: datetime, limit: int = STEP, dry_run: bool = False
) -> TransferReport:
    """Look at the next memories of every store that is not read-only, and put those elsewhere that belong there.

    How far it came is noted after each transaction: whatever ends it, the next one goes on from there, and what
    it looks at twice is moved once.

    Args:
        now: by which time memories are judged.
        limit: at how many memories it looks at most.
        dry_run: only tell what would be moved, from where the last one ended.
    """
    moved: Counter[str] = Counter()
    looked_at = 0
    shelves, seq = _left(context)
    while shelves and looked_at < limit:
        some = shelves[0].journal.after(seq, min(AT_ONCE, limit - looked_at))
        looked_at += len(some)
        _move(context, shelves[0], some, now, dry_run, moved)
        seq = some[-1].seq if some else 0
        shelves = shelves if some else shelves[1:]
        if not dry_run:
            store = shelves[0].journal.store_id if shelves else ""
            context.state.set_cursor(CURSOR, {"store": store, "seq": seq})
    if moved and not dry_run:
        context.state.audit("tiers", "job", [], dict(moved))
    return TransferReport(looked_at, dict(moved), not shelves, dry_run)


def _left(ctx: Context) -> tuple[list[Shelf], int]:
    """Return the stores that this round has not come to the end of, and how far it is in the first."""
    shelves = [shelf for shelf in ctx.all_shelves() if shelf.journal.writable]
    cursor = ctx.state.cursor(CURSOR) or Record()
    ids = [shelf.journal.store_id for shelf in shelves]
    if cursor.text("store") not in ids:
        return shelves, 0
    return shelves[ids.index(cursor.text("store")) :], cursor.number("seq")


def _move(
    ctx: Context,
    shelf: Shelf,
    memories: Sequence[Memory],
    now: datetime,
    dry_run: bool,
    moved: Counter[str],
) -> None:
    """Put memories into their tiers and count what was moved."""
    summed_up = _summed_up(shelf, memories)
    to = {one.id: Tier.COLD if one.id in summed_up else aging.tier(one, now) for one in memories}
    going = {one.id: to[one.id] for one in memories if to[one.id] is not one.tier}
    if going and not dry_run:
        # What was used or changed since it was read is judged the next time.
        with shelf.storing:
            known = shelf.journal.by_ids(list(going))
            same = {one.id for one in memories if known.get(one.id) == one}
            going = {id: tier for id, tier in going.items() if id in same}
            shelf.journal.move_to_tiers(going)
        if Tier.COLD in going.values():
            ctx.notify()
    moved.update(f"{one.tier} to {going[one.id]}" for one in memories if one.id in going)


def _summed_up(shelf: Shelf, memories: Sequence[Memory]) -> set[str]:
    """Return the ids of those that gave way to a summary or a topic, which says what they said."""
    gone = {one.id: one.superseded_by for one in memories if one.status is Status.SUPERSEDED}
    heirs = shelf.journal.by_ids(list(set(gone.values())))
    return {id for id, heir in gone.items() if heir in heirs and heirs[heir].kind in DERIVED}


@dataclass(frozen=True, kw_only=True)
class TiersRequest(messages.Request):
    """Every memory is to be put into its tier, or with `dry_run` is only looked at."""

    dry_run: bool = messages.flag()


def transfer_all(ctx: Context, request: TiersRequest, progress: Progress) -> TransferReport:
    """Transfer until every store is done.

    Returns:
        How many memories changed from which tier to which.
    """
    total = sum(shelf.journal.count() for shelf in ctx.all_shelves())
    if request.dry_run:
        return transfer(ctx, now=ctx.now(), limit=max(1, 2 * total), dry_run=True)
    done = TransferReport(0, {}, False, False)
    while not done.complete and not ctx.stopping.is_set():
        step = transfer(ctx, now=ctx.now())
        moved = Counter(done.moved) + Counter(step.moved)
        done = replace(step, looked_at=done.looked_at + step.looked_at, moved=dict(moved))
        progress(min(done.looked_at, total), total, "moving to tiers")
    return done
