"""Leases on names, as sessions hold them: who has what, until when. They are advice: a session that does not ask for
one is not stopped."""

from __future__ import annotations

from dataclasses import dataclass

from vector_memory.service.base.context import Context
from vector_memory.system.json_in import Record

SORT = "lease"


@dataclass(frozen=True)
class Lease:
    """Who has what, by which number, until when (ISO form)."""

    name: str
    session: str
    number: int
    project: str
    until: str


def current(ctx: Context, project: str) -> list[Lease]:
    """Return the leases that hold now in a project, by name; those that ended are dropped."""
    now, leases = ctx.now().isoformat(), []
    for id, record in ctx.state.records(SORT).items():
        if record.text("until") <= now:
            ctx.state.put_record(SORT, id, None)
        elif record.text("project") == project:
            leases.append(_lease(record))
    return sorted(leases, key=lambda lease: lease.name)


def notice(ctx: Context, project: str, session: str) -> str:
    """Return the sentence that tells a session what others at work in its project hold, "" for nothing."""
    others = [lease for lease in current(ctx, project) if lease.session != session]
    if not others:
        return ""
    names = ", ".join(other.name for other in others[:3])
    more = f" and {len(others) - 3} more" if len(others) > 3 else ""
    return f"Another session at work here holds: {names}{more}."


def release_all(ctx: Context, session: str) -> int:
    """Release what a session holds, as at its end; return how many leases that were."""
    records = ctx.state.records(SORT)
    ids = [id for id, record in records.items() if record.text("session") == session]
    for id in ids:
        ctx.state.put_record(SORT, id, None)
    return len(ids)


def _lease(record: Record) -> Lease:
    name, session, project, until = map(record.text, ("name", "session", "project", "until"))
    return Lease(name, session, record.number("number"), project, until)
