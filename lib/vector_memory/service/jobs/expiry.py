"""What has had its time. ttl-sweep: what has expired goes physically, with an entry in the audit log; what is past its validity gives
way and stays in the history; what was flagged in sessions goes after a while. Protected collections, such as
learnings, keep everything. stigmergy-decay: trails that have evaporated go; a project in which work goes on
draws its trails anew by itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from functools import partial
from itertools import islice

from vector_memory import model
from vector_memory.model import Memory, Retention, Scope, Status
from vector_memory.observe.learning import trails
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.jobs import paging
from vector_memory.service.jobs.step import JobRun, Step
from vector_memory.service.purge.purge import restore_superseded

ASSESSMENTS_FOR = timedelta(days=90)
PROTECTED = tuple(
    name for name, rule in model.COLLECTIONS.items() if rule.retention is Retention.PROTECTED
)
ITS_TIME = "its time has passed"
NEVER = datetime(1970, 1, 1, tzinfo=timezone.utc)
SWEPT_AT = "swept_at"
"""In the report: the time of the run."""


def step(ctx: Context, run: JobRun) -> Step:
    """Remove or supersede the next memories whose time was over by this run's clock and by that of the run before: so a
    clock that was wrong for one run makes nothing go.

    Returns:
        What it did, and where the next step begins.
    """
    now = _certain_time(run)
    old = Scope(collections=(model.ASSESSMENTS,), until=now - ASSESSMENTS_FOR)
    remove_ids = partial(remove, ctx)

    def expired(shelf: Shelf, k: int) -> Iterable[Memory]:
        return shelf.journal.expired(now, k, PROTECTED)

    def assessments(shelf: Shelf, k: int) -> Iterable[Memory]:
        return shelf.journal.iter_memories(old, limit=k)

    rules = (
        paging.Rule("expired", "expire", expired, remove_ids),
        paging.Rule("assessments", "expire", assessments, remove_ids),
        paging.Rule(
            "gave_way",
            "outdate",
            lambda shelf, k: shelf.journal.outdated(now, k),
            partial(_give_way, ctx),
        ),
    )
    result = paging.swept(ctx, run, rules)
    if result.cursor or run.dry_run:
        return result
    return replace(result, report={**result.report, SWEPT_AT: run.now.isoformat()})


def _certain_time(run: JobRun) -> datetime:
    """Return the earlier of this run's time and that of the run before, `NEVER` at the very first run."""
    before = run.before.text(SWEPT_AT)
    return min(run.now, datetime.fromisoformat(before)) if before else NEVER


def remove(ctx: Context, shelf: Shelf, ids: Sequence[str]) -> None:
    """Delete memories physically, from the index too. What had given way to one of them holds again."""
    with shelf.storing, shelf.following:
        restore_superseded(shelf, ids, shelf.journal.by_ids(ids).values())
        index = shelf.index
        if index is not None and index.lexical_ready:
            index.apply([], list(ids), index.reached())
        shelf.journal.purge(ids)
    ctx.changed()


def _give_way(ctx: Context, shelf: Shelf, ids: Sequence[str]) -> None:
    with shelf.storing:
        for memory in shelf.journal.by_ids(ids).values():
            if memory.status is Status.ACTIVE:
                extra = {**memory.extra, model.GAVE_WAY: ITS_TIME}
                ended = replace(memory, status=Status.SUPERSEDED, extra=extra)
                shelf.journal.update(ended, memory)
    ctx.changed()


def trail_decay(ctx: Context, run: JobRun) -> Step:
    """Drop the next trails whose strength is below the least that is shown.

    Returns:
        What it did, and where the next step begins.
    """

    def evaporated(shelf: Shelf, k: int) -> Iterable[Memory]:
        stored_trails = shelf.journal.iter_memories(Scope(collections=(model.TRAILS,)))
        return islice((memory for memory in stored_trails if _is_gone(memory, run.now)), k)

    rule = paging.Rule("evaporated", "evaporate", evaporated, partial(remove, ctx))
    return paging.swept(ctx, run, (rule,))


def _is_gone(memory: Memory, now: datetime) -> bool:
    """Whether a trail has evaporated; a record that cannot be read stays: it is written anew with the trails."""
    strength, drawn_text = memory.extra.get("strength"), memory.extra.get("at")
    try:
        drawn_at = datetime.fromisoformat(str(drawn_text)).astimezone(timezone.utc)
    except ValueError:
        return False
    if not isinstance(strength, (int, float)):
        return False
    return trails.evaporated(strength, drawn_at, now) < trails.FLOOR
