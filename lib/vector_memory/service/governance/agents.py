"""`constitutional_contract` and `nhi_lifecycle`: contracts that limit what agents do; and who acts here without being a person
(programs, keys, agents under contracts, sessions), when they last did, what they may for a while, and their end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from vector_memory import tokens
from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.service.base import contracts, leases, messages, privacy, request_fields
from vector_memory.service.base.context import Context, new_id
from vector_memory.service.base.contracts import Contract, ContractTerms
from vector_memory.service.memory.views import values_for
from vector_memory.service.upkeep import http_tokens

# -- contracts (`constitutional_contract`) --


MOST = 200
ID_CHARS = 12


class ContractRequest(messages.Request):
    """Something about contracts: `create`, `list`, `check` an act, or `revoke`.

    Attributes:
        id: the contract to revoke.
        parent: the contract that a new one narrows; an agent must name one.
        act: what `check` asks about.
        ceiling: of a new one, the most sensitive memories that it lets agents be given.
        folders: where a new one holds, none for all projects.
    """

    action: str = messages.one_of(("list", "create", "check", "revoke"), "list")
    id: str = messages.word()
    name: str = messages.word()
    parent: str = messages.word()
    subject: str = messages.word()
    permitted: tuple[str, ...] = messages.words(choices=contracts.ACTS)
    prohibited: tuple[str, ...] = messages.words(choices=contracts.ACTS)
    rules: tuple[str, ...] = messages.words()
    folders: tuple[str, ...] = messages.words()
    until: datetime | None = messages.moment(is_to_come=True)
    act: str = messages.one_of(contracts.ACTS)


@dataclass(frozen=True, kw_only=True)
class ContractView(ContractTerms):
    """A contract as it is shown; whether it `holds` now and here, and the `problem` where it does not."""

    holds: bool
    problem: str


class ContractAnswer(messages.Answer):
    """The contracts; for `check`, whether the act is allowed, and by which contract it is not."""

    contracts: list[ContractView]
    allowed: bool | None = messages.spare()
    broken: str | None = messages.spare()


def contract(ctx: Context, request: ContractRequest) -> ContractAnswer:
    """Make, list, check or revoke contracts.

    Returns:
        The contracts that were asked for, made or revoked.

    Raises:
        BadInputError: there is no such act, a new contract would allow more than its parent, or an
            agent asks for what only the user does.
        NotFoundError: there is no contract of that id.
    """
    place = messages.place_of(ctx, request)
    folder = place.root if place else ""
    if request.action == "create":
        return ContractAnswer([_view(ctx, _create(ctx, request), folder)])
    if request.action == "revoke":
        return ContractAnswer(_revoke(ctx, request, folder))
    if request.action == "check":
        request_fields.require_text(request.act, "act")
        terms_in_force = contracts.in_force(ctx, folder, [request.subject])
        broken = contracts.forbidden(ctx, terms_in_force, request.act)
        views = [_view(ctx, terms, folder) for terms in terms_in_force]
        return ContractAnswer(views, broken is None, broken.id[:ID_CHARS] if broken else None)
    return ContractAnswer(
        [_view(ctx, terms, folder) for terms in contracts.stored_contracts(ctx).values()]
    )


def find(ctx: Context, id: str) -> Contract:
    """Return the contract whose id begins so.

    Raises:
        NotFoundError: there is none, or more than one.
    """
    matches = [
        terms
        for terms in contracts.stored_contracts(ctx).values()
        if id and terms.id.startswith(id)
    ]
    if len(matches) != 1:
        raise NotFoundError(
            f"There is no contract {id[:40]!r}.",
            "constitutional_contract with action list names them.",
        )
    return matches[0]


def _create(ctx: Context, request: ContractRequest) -> Contract:
    parent = find(ctx, request.parent) if request.parent else None
    if parent is None:
        request.require_user("makes a contract that narrows no other one")
    elif not contracts.chain(parent, contracts.stored_contracts(ctx)):
        raise BadInputError(
            "The parent does not hold: it was changed, or what it was made from is gone.",
            "Make a new one.",
        )
    if len(contracts.stored_contracts(ctx)) >= MOST:
        raise BadInputError(f"There are {MOST} contracts already.", "Revoke what is not needed.")
    draft, key = _draft(ctx, request, parent), contracts.signer(ctx)
    unsigned = replace(draft, key=key.public.word)
    signed = replace(unsigned, signature=key.sign(contracts.PURPOSE, unsigned.signed).hex())
    problem = contracts.widening(signed, parent) if parent else ""
    if problem or (
        parent
        and not contracts.chain(signed, {**contracts.stored_contracts(ctx), signed.id: signed})
    ):
        raise BadInputError(
            f"That is wider than the contract it narrows: {problem or 'the chain is too long'}.",
            "Permit less, prohibit more, or let it end earlier.",
        )
    ctx.state.put_record(contracts.SORT, signed.id, messages.to_json(signed))
    ctx.state.audit("contract", request.actor, [signed.id], {"action": "create"})
    return signed


def _draft(ctx: Context, request: ContractRequest, parent: Contract | None) -> Contract:
    if not request.name.strip():
        raise BadInputError("A contract needs a name.", 'Such as name="no pushes".')
    if request.until and request.until <= ctx.now():
        raise BadInputError("The contract would have ended already.", "Give a later until.")
    base = parent or Contract("", "")
    return Contract(
        id=new_id(),
        name=privacy.line(request.name, 80),
        parent=base.id,
        subject=privacy.line(request.subject, 100),
        # What the request does not say is taken from the parent.
        permitted=request.permitted or base.permitted,
        prohibited=tuple(sorted({*request.prohibited, *base.prohibited})),
        rules=tuple(privacy.line(rule, 300) for rule in request.rules[:20]),
        ceiling=str(request.ceiling or base.ceiling),
        projects=tuple(ctx.place(folder).root for folder in request.folders) or base.projects,
        not_after=request.until.isoformat(timespec="seconds") if request.until else base.not_after,
        made_at=ctx.now().isoformat(timespec="seconds"),
    )


def _revoke(ctx: Context, request: ContractRequest, folder: str) -> list[ContractView]:
    request.require_user("revokes contracts")
    revoked = find(ctx, request.id)
    ctx.state.put_record(contracts.SORT, revoked.id, None)
    ctx.state.audit("contract", request.actor, [revoked.id], {"action": "revoke"})
    return [_view(ctx, revoked, folder)]


def _view(ctx: Context, terms: Contract, folder: str) -> ContractView:
    stored = contracts.stored_contracts(ctx)
    problem = ""
    if terms.id not in stored:
        problem = "revoked"
    elif not contracts.chain(terms, stored):
        problem = "it was changed, or what it was made from is gone"
    elif terms.not_after and terms.not_after <= ctx.now().isoformat():
        problem = "ended"
    elif terms not in contracts.in_force(ctx, folder, [terms.subject]):
        problem = "it is for other projects, or its key was revoked"
    short_ids = {"id": terms.id[:ID_CHARS], "parent": terms.parent[:ID_CHARS]}
    return ContractView(
        **{**values_for(ContractTerms, terms), **short_ids}, holds=not problem, problem=problem
    )


# -- who acts (`nhi_lifecycle`) --


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
    """Who acts: a `token`, `key`, `contract` or `session`; what it may do, until when, and when it was used last."""

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
        chosen = [actor for actor in _all(ctx) if actor.advice or not is_review]
        return ActorsAnswer(chosen[: request.k])
    request.require_user("changes what others may do")
    outcome = _escalate(ctx, request) if request.action == "escalate" else _terminate(ctx, request)
    ctx.state.audit("identity", request.actor, [], {"action": request.action, "id": request.id})
    return ActorsAnswer(_all(ctx)[: request.k], outcome)


def _all(ctx: Context) -> list[Actor]:
    last_used: dict[str, str] = {}
    for entry in ctx.state.audit_entries(MOST_ENTRIES):
        last_used.setdefault(entry.actor, entry.at.isoformat(timespec="seconds"))
    all_actors = []
    for token in tokens.load(ctx.home.tokens):
        rights, used_at = ", ".join(token.rights), last_used.get(f"http:{token.name}", "")
        advice = _advice(ctx, token.until, used_at or token.made_at)
        all_actors.append(
            Actor("token", token.id, token.name, rights, token.until, used_at, advice)
        )
    all_actors += [
        Actor("key", entry.public.id, entry.public.fingerprint[:9], "signs")
        for entry in contracts.keyring(ctx).entries()
        if not (entry.retired_at or entry.revoked_at)
    ]
    for contract in contracts.stored_contracts(ctx).values():
        has_ended = contract.not_after and contract.not_after <= ctx.now().isoformat()
        prohibited = ", ".join(contract.prohibited) or "nothing"
        may = ", ".join(contract.permitted) or f"all but {prohibited}"
        fields = (contract.id[:12], contract.name, may, contract.not_after)
        all_actors.append(Actor("contract", *fields, advice=ENDED if has_ended else ""))
    for record in ctx.state.records(leases.SORT).values():
        session, name, until = map(record.text, ("session", "name", "until"))
        all_actors.append(Actor("session", session, name, "holds a lease", until))
    return all_actors


def _advice(ctx: Context, until: str, used_at: str) -> str:
    if until and until <= ctx.now().isoformat():
        return ENDED
    if used_at and datetime.fromisoformat(used_at) < ctx.now() - UNUSED:
        return f"not used for {UNUSED.days} days: revoke it"
    return "" if until else "it never ends: make one that does"


def _escalate(ctx: Context, request: ActorsRequest) -> str:
    contract = find(ctx, request.id)
    if not request.acts or not set(request.acts) <= set(contracts.ACTS):
        raise BadInputError("Say which acts.", f"Acts: {', '.join(contracts.ACTS)}.")
    until = ctx.now() + timedelta(hours=request.hours)
    lift = {"acts": list(request.acts), "until": until.isoformat(timespec="seconds")}
    ctx.state.put_record(contracts.LIFTS, new_id()[:12], {"contract": contract.id, **lift})
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
