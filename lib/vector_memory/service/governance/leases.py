"""`parl_coordinator`: leases by which sessions at work in one place keep out of each other's way.

A lease is advice: nothing stops who does not ask. Each one that is given has a higher number than all before it,
so that whoever comes late with an old number can be told from who holds it now.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import datetime, timedelta

from vector_memory.errors import BadInputError
from vector_memory.service.base import messages, privacy
from vector_memory.service.base.context import Context
from vector_memory.service.base.leases import SORT, Lease, current
from vector_memory.system.json_in import Record

NUMBERS = "lease_numbers"
TTL_S, LONGEST_S = 60, 3_600
MOST = 500
_changing = threading.Lock()


class LeaseRequest(messages.Request):
    """`acquire` a lease on a name for a session, keep it by a `heartbeat`, `release` it, or `list` all.

    Attributes:
        name: what it is on: a path, a branch, a task.
        session: whose it is.
        number: the lease's number, for `heartbeat` and `release`.
        ttl_s: how long it holds without a heartbeat.
    """

    action: str = messages.one_of(("list", "acquire", "heartbeat", "release"), "list")
    name: str = messages.word()
    session: str = messages.word()
    number: int = messages.number(0, 0, 1 << 60)
    ttl_s: int = messages.number(TTL_S, 1, LONGEST_S)


class LeaseAnswer(messages.Answer):
    """The leases in question; `granted` whether the session has it, and why not."""

    leases: list[Lease]
    granted: bool | None = messages.spare()
    problem: str | None = messages.spare()


def lease(ctx: Context, request: LeaseRequest) -> LeaseAnswer:
    """Acquire, keep, release or list leases.

    Returns:
        For `acquire`, the lease that is there now, whoever's it is.

    Raises:
        BadInputError: a name or session is missing.
    """
    place = messages.place_of(ctx, request)
    project = place.id if place else ""
    with _changing:
        held = current(ctx, project)
        if request.action == "list":
            return LeaseAnswer(held)
        name = privacy.line(request.name, 200)
        if not name or not request.session:
            raise BadInputError("A lease needs a name and a session.", "Such as name=src/api.")
        mine = next((other for other in held if other.name == name), None)
        if request.action == "acquire":
            return _acquire(ctx, request, name, project, mine)
        return _go_on(ctx, request, mine)


def _acquire(
    ctx: Context, request: LeaseRequest, name: str, project: str, mine: Lease | None
) -> LeaseAnswer:
    if mine is not None and mine.session != request.session:
        problem = f"Session {mine.session[:8]} has it until {mine.until[11:19]} (UTC)."
        return LeaseAnswer([mine], False, problem)
    if len(ctx.state.records(SORT)) >= MOST:
        raise BadInputError(f"There are {MOST} leases already.", "Release what is not needed.")
    number = mine.number if mine else _next_number(ctx)
    made = Lease(name, request.session, number, project, _until(ctx.now(), request.ttl_s))
    ctx.state.put_record(SORT, f"{project} {name}", messages.to_json(made))
    return LeaseAnswer([made], True)


def _go_on(ctx: Context, request: LeaseRequest, mine: Lease | None) -> LeaseAnswer:
    if mine is None or mine.session != request.session or mine.number != request.number:
        problem = "The lease ended, or is another's by now: acquire it again."
        return LeaseAnswer([mine] if mine else [], False, problem)
    kept = replace(mine, until=_until(ctx.now(), request.ttl_s))
    is_kept = request.action == "heartbeat"
    body = messages.to_json(kept) if is_kept else None
    ctx.state.put_record(SORT, f"{mine.project} {mine.name}", body)
    return LeaseAnswer([kept] if is_kept else [], is_kept)


def _next_number(ctx: Context) -> int:
    # On the disk: after a restart an old number must still be an old one.
    number = ctx.state.records(NUMBERS).get("last", Record()).number("number") + 1
    ctx.state.put_record(NUMBERS, "last", {"number": number})
    return number


def _until(now: datetime, ttl_s: int) -> str:
    return (now + timedelta(seconds=ttl_s)).isoformat(timespec="seconds")
