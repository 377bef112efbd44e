"""What was purged and must not be captured again: it is known by hashes of names, without any words.

An exchange of which anything was purged is not read again at all, since it may be cut otherwise the next
time. A purged session or project is not read again up to the time of the purge.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from vector_memory.model import PASSAGE, Memory
from vector_memory.service.base.context import Context
from vector_memory.service.memory.exchange_versions import exchange_of

if TYPE_CHECKING:
    from vector_memory.index.cursor import Cursor
    from vector_memory.index.memories import Draft
    from vector_memory.index.reader import TurnRead

Exchange = tuple[str, str, int]
"""A session, its transcript's path, and a turn."""


def names_of(memories: Iterable[Memory]) -> set[str]:
    """Return the names by which these memories would be captured or imported again."""
    return {_name(memory.kind, memory.external_id) for memory in memories if memory.external_id}


def exchange_name(key: str) -> str:
    """Return the name of an exchange, by its key."""
    return f"exchange:{key}"


def session_name(session: str) -> str:
    """Return the name of all that a session has said so far."""
    return f"session:{session}"


def project_name(project: str) -> str:
    """Return the name of all that was said in a project so far."""
    return f"project:{project}"


def without_purged(ctx: Context, project: str, drafts: Sequence[Draft]) -> list[Draft]:
    """Return what may be captured of these drafts of a project."""
    names = {_name(draft.kind, draft.external_id) for draft in drafts}
    names |= {session_name(draft.session) for draft in drafts} | {project_name(project)}
    blocked = ctx.state.blocked(names)
    if not blocked:
        return list(drafts)
    blocked_exchanges = {
        _exchange(draft)
        for draft in drafts
        if draft.kind == PASSAGE and _name(draft.kind, draft.external_id) in blocked
    }
    return [
        draft
        for draft in drafts
        if _exchange(draft) not in blocked_exchanges
        and _name(draft.kind, draft.external_id) not in blocked
        and not _is_said_by(draft, blocked.get(session_name(draft.session)))
        and not _is_said_by(draft, blocked.get(project_name(project)))
    ]


def block_read(ctx: Context, read: TurnRead, cursor: Cursor) -> None:
    """Keep out what was read of a transcript, from now on and whoever reads it again.

    Args:
        cursor: where the reading before ended: what that gave out stays.
    """
    names = {_name(draft.kind, draft.external_id) for draft in read.drafts}
    names |= {
        exchange_name(exchange.key)
        for exchange in read.exchanges or ()
        if exchange.position >= cursor.position and exchange.key not in cursor.emitted
    }
    ctx.state.block_names(names, ctx.now())


def block_said(ctx: Context, read: TurnRead, since: datetime, until: datetime | None) -> None:
    """Keep out what was said in a reading from a time on, and before another one where there is one."""

    def is_meant(at: datetime | None) -> bool:
        return at is not None and since <= at and (until is None or at < until)

    exchanges = (exchange for exchange in read.exchanges or () if is_meant(exchange.started_at))
    drafts = (draft for draft in read.drafts if is_meant(draft.created_at))
    names = {_name(draft.kind, draft.external_id) for draft in drafts}
    ctx.state.block_names(
        names | {exchange_name(exchange.key) for exchange in exchanges}, ctx.now()
    )


def purged_ids(ctx: Context, memories: Sequence[Memory]) -> set[str]:
    """Return the ids of those memories, about to be stored, that were purged."""
    blocked = ctx.state.blocked(names_of(memories))
    return {memory.id for memory in memories if _name(memory.kind, memory.external_id) in blocked}


def _name(kind: str, external_id: str) -> str:
    return exchange_name(exchange_of(external_id)) if kind == PASSAGE else f"memory:{external_id}"


def _exchange(draft: Draft) -> Exchange:
    return draft.session, draft.path, draft.turn


def _is_said_by(draft: Draft, at: datetime | None) -> bool:
    return at is not None and draft.created_at <= at
