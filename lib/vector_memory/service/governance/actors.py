"""`nhi_lifecycle`: who acts here without being a person (programs, keys, agents under contracts, sessions), when they
last did, what they may for a while, and their end."""

from __future__ import annotations

from datetime import datetime, timedelta

from vector_memory import tokens
from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.service.base import contracts, leases, messages
from vector_memory.service.base.context import Context, new_id
from vector_memory.service.governance.contract import find
from vector_memory.service.upkeep import http_tokens

MOST_ENTRIES = 100_000
ESCALATED_H = 24
UNUSED = timedelta(days=30)
ENDED = "it has ended: revoke it"


class ActorsRequest(messages.Request):
    """`list` who acts, `review` who should not any more, `escalate` a contract for some hours, `terminate`.

    Attributes:
        id: a token's, key's or contract's id, or a session's for its leases.
        acts: what a contract is lifted for, hours: for how long, k: how many are told.
    """

    action: str = messages.one_of(("list", "review", "escalate", "terminate"), "list")
    id: str = messages.word()
    acts: tuple[str, ...] = messages.words()
    hours: int = messages.number(1, 1, ESCALATED_H)
    k: int = messages.number(300, 1, 300)


class Actor(messages.Answer):
    """Who acts: a `token`, `key`, `contract` or `session`; what it may, until and since when it is unused."""

    sort: str
    id: str
    name: str
    may: str
    until: str = ""
    last_used: str = ""
    advice: str = ""


class ActorsAnswer(messages.Answer):
    """Who acts, and what was done."""

    actors: list[Actor]
    done: str | None = messages.spare()


def actors(ctx: Context, request: ActorsRequest) -> ActorsAnswer:
    """List, review, escalate or terminate who acts here.

    Returns:
        All of them; for `review` those that advice is given about.

    Raises:
        BadInputError: there is no such act, or an agent asks for what only the user does.
        NotFoundError: there is nobody of that id.
    """
    if request.action in ("list", "review"):
        is_review = request.action == "review"
        meant = [actor for actor in _all(ctx) if actor.advice or not is_review]
        return ActorsAnswer(meant[: request.k])
    request.require_user("changes what others may do")
    done = _escalate(ctx, request) if request.action == "escalate" else _terminate(ctx, request)
    ctx.state.audit("identity", request.actor, [], {"action": request.action, "id": request.id})
    return ActorsAnswer(_all(ctx)[: request.k], done)


def _all(ctx: Context) -> list[Actor]:
    used: dict[str, str] = {}
    for entry in ctx.state.audit_entries(MOST_ENTRIES):
        used.setdefault(entry.actor, entry.at.isoformat(timespec="seconds"))
    acting = []
    for token in tokens.load(ctx.home.tokens):
        rights, last = ", ".join(token.rights), used.get(f"http:{token.name}", "")
        advice = _advice(ctx, token.until, last or token.made_at)
        acting.append(Actor("token", token.id, token.name, rights, token.until, last, advice))
    acting += [
        Actor("key", entry.public.id, entry.public.fingerprint[:9], "signs")
        for entry in contracts.keyring(ctx).entries()
        if not (entry.retired_at or entry.revoked_at)
    ]
    for contract in contracts.kept(ctx).values():
        ended = contract.not_after and contract.not_after <= ctx.now().isoformat()
        but = ", ".join(contract.prohibited) or "nothing"
        may = ", ".join(contract.permitted) or f"all but {but}"
        about = (contract.id[:12], contract.name, may, contract.not_after)
        acting.append(Actor("contract", *about, advice=ENDED if ended else ""))
    for record in ctx.state.records(leases.SORT).values():
        session, name, until = map(record.text, ("session", "name", "until"))
        acting.append(Actor("session", session, name, "holds a lease", until))
    return acting


def _advice(ctx: Context, until: str, last: str) -> str:
    if until and until <= ctx.now().isoformat():
        return ENDED
    if last and datetime.fromisoformat(last) < ctx.now() - UNUSED:
        return f"not used for {UNUSED.days} days: revoke it"
    return "" if until else "it never ends: make one that does"


def _escalate(ctx: Context, request: ActorsRequest) -> str:
    contract = find(ctx, request.id)
    if not request.acts or not set(request.acts) <= set(contracts.ACTS):
        raise BadInputError("Say which acts.", f"Acts: {', '.join(contracts.ACTS)}.")
    until = ctx.now() + timedelta(hours=request.hours)
    body = {
        "contract": contract.id,
        "acts": list(request.acts),
        "until": until.isoformat(timespec="seconds"),
    }
    ctx.state.put_record(contracts.LIFTS, new_id()[:12], body)
    return f"{contract.name!r} allows {', '.join(request.acts)} until {until:%H:%M} UTC."


def _terminate(ctx: Context, request: ActorsRequest) -> str:
    if not request.id:
        raise BadInputError("Say who.", "Give id; action list names them.")
    if any(request.id in (token.id, token.name) for token in tokens.load(ctx.home.tokens)):
        http_tokens.token(ctx, http_tokens.TokenRequest(action="revoke", id=request.id))
        return "The token is revoked."
    if any(entry.public.id == request.id for entry in contracts.keyring(ctx).entries()):
        contracts.keyring(ctx).revoke(request.id, ctx.now())
        return "The key is revoked; what it signed counts no more."
    if count := leases.release_all(ctx, request.id):
        return f"{count} leases are released."
    try:
        contract = find(ctx, request.id)
    except NotFoundError:
        raise NotFoundError(
            f"There is nobody {request.id[:40]!r}.", "Action list names them."
        ) from None
    ctx.state.put_record(contracts.SORT, contract.id, None)
    return "The contract is revoked."
