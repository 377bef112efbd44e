"""`constitutional_contract`: make, list, check and revoke contracts that limit what agents do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.service.base import contracts, messages, privacy, request_fields
from vector_memory.service.base.context import Context, new_id
from vector_memory.service.base.contracts import Contract, ContractTerms
from vector_memory.service.memory.views import values_for

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
    """A contract as it is told; `holds` now and here, and `problem` why not, "" where it does."""

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
        holding = contracts.in_force(ctx, folder, [request.subject])
        broken = contracts.forbidden(ctx, holding, request.act)
        views = [_view(ctx, terms, folder) for terms in holding]
        return ContractAnswer(views, broken is None, broken.id[:ID_CHARS] if broken else None)
    return ContractAnswer([_view(ctx, terms, folder) for terms in contracts.kept(ctx).values()])


def find(ctx: Context, id: str) -> Contract:
    """Return the contract whose id begins so.

    Raises:
        NotFoundError: there is none, or more than one.
    """
    matches = [terms for terms in contracts.kept(ctx).values() if id and terms.id.startswith(id)]
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
    elif not contracts.chain(parent, contracts.kept(ctx)):
        raise BadInputError(
            "The parent does not hold: it was changed, or what it was made from is gone.",
            "Make a new one.",
        )
    if len(contracts.kept(ctx)) >= MOST:
        raise BadInputError(f"There are {MOST} contracts already.", "Revoke what is not needed.")
    made = _signed(ctx, _drafted(ctx, request, parent))
    problem = contracts.widening(made, parent) if parent else ""
    if problem or (parent and not contracts.chain(made, {**contracts.kept(ctx), made.id: made})):
        raise BadInputError(
            f"That is wider than the contract it narrows: {problem or 'the chain is too long'}.",
            "Permit less, prohibit more, or let it end earlier.",
        )
    ctx.state.put_record(contracts.SORT, made.id, messages.to_json(made))
    ctx.state.audit("contract", request.actor, [made.id], {"action": "create"})
    return made


def _drafted(ctx: Context, request: ContractRequest, parent: Contract | None) -> Contract:
    if not request.name.strip():
        raise BadInputError("A contract needs a name.", 'Such as name="no pushes".')
    if request.until and request.until <= ctx.now():
        raise BadInputError("The contract would have ended already.", "Give a later until.")
    ceiling = str(request.ceiling or (parent.ceiling if parent else contracts.CEILINGS[-1]))
    return Contract(
        id=new_id(),
        name=privacy.line(request.name, 80),
        parent=parent.id if parent else "",
        subject=privacy.line(request.subject, 100),
        # What is not said is as the parent has it: to narrow one thing is not to say all again.
        permitted=request.permitted or (parent.permitted if parent else ()),
        prohibited=tuple(sorted({*request.prohibited, *(parent.prohibited if parent else ())})),
        rules=tuple(privacy.line(rule, 300) for rule in request.rules[:20]),
        ceiling=ceiling,
        projects=tuple(ctx.place(folder).root for folder in request.folders)
        or (parent.projects if parent else ()),
        not_after=request.until.isoformat(timespec="seconds")
        if request.until
        else (parent.not_after if parent else ""),
        made_at=ctx.now().isoformat(timespec="seconds"),
    )


def _signed(ctx: Context, draft: Contract) -> Contract:
    key = contracts.signer(ctx)
    unsigned = replace(draft, key=key.public.word)
    return replace(unsigned, signature=key.sign(contracts.PURPOSE, unsigned.signed).hex())


def _revoke(ctx: Context, request: ContractRequest, folder: str) -> list[ContractView]:
    request.require_user("revokes contracts")
    gone = find(ctx, request.id)
    ctx.state.put_record(contracts.SORT, gone.id, None)
    ctx.state.audit("contract", request.actor, [gone.id], {"action": "revoke"})
    return [_view(ctx, gone, folder)]


def _view(ctx: Context, terms: Contract, folder: str) -> ContractView:
    kept = contracts.kept(ctx)
    problem = ""
    if terms.id not in kept:
        problem = "revoked"
    elif not contracts.chain(terms, kept):
        problem = "it was changed, or what it was made from is gone"
    elif terms.not_after and terms.not_after <= ctx.now().isoformat():
        problem = "ended"
    elif terms not in contracts.in_force(ctx, folder, [terms.subject]):
        problem = "it is for other projects, or its key was revoked"
    short = {"id": terms.id[:ID_CHARS], "parent": terms.parent[:ID_CHARS]}
    return ContractView(
        **{**values_for(ContractTerms, terms), **short}, holds=not problem, problem=problem
    )
