"""`token`: make, list and revoke the tokens of programs that come by the gateway."""

from __future__ import annotations

import threading
from datetime import datetime

from vector_memory import tokens
from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.memory.views import values_for
from vector_memory.text.words import as_name
from vector_memory.tokens import Token

MOST, LONGEST_NAME = 200, 40
_changing = threading.Lock()
_codes = tokens.Codes()
"""Codes for running dashboards. They are handed out here, where it is known who asks, unlike at a port."""


class TokenRequest(messages.Request):
    """Something is to be done about tokens: `new`, `list` or `revoke` (by `id`, which may be its name); or about
    the codes with which pages come: `code` makes one, `enter` uses one up (`id`).

    Attributes:
        until: when a new one ends, None for never.
        speaks_for_me: what comes by a new one as the user's words counts as the user's.

    The request's `ceiling` and `jurisdictions` are those of what a new one is given.
    """

    action: str = messages.one_of(("new", "list", "revoke", "code", "enter"), "list")
    id: str = messages.word()
    name: str = messages.word()
    rights: tuple[str, ...] = messages.words("right", tokens.RIGHTS)
    until: datetime | None = messages.moment(is_to_come=True)
    speaks_for_me: bool = messages.flag()


class TokenView(messages.Answer):
    """A token as it is shown: never what it is itself; `problem` why it lets nobody in, "" where it does."""

    id: str
    name: str
    rights: tuple[str, ...]
    project: str
    until: str
    speaks_for_me: bool
    made_at: str
    ceiling: str = ""
    jurisdictions: tuple[str, ...] = ()
    problem: str = ""


class TokenAnswer(messages.Answer):
    """What was done: a new token, which is shown this once, with its id; all tokens; how many were revoked; a code
    as `token`; or `id` where one was used up."""

    token: str | None = messages.spare()
    id: str | None = messages.spare()
    tokens: list[TokenView] | None = messages.spare()
    revoked: int | None = messages.spare()


def token(ctx: Context, request: TokenRequest) -> TokenAnswer:
    """Make, list or revoke tokens.

    Raises:
        BadInputError: an agent asks for one, or what is asked for is no token.
        NotFoundError: there is none to revoke.

    Returns:
        The token, once, where one was made; the list of tokens otherwise.
    """
    path = ctx.home.tokens
    if request.action == "list":
        views = [TokenView(**values_for(TokenView, entry)) for entry in tokens.load(path)]
        return TokenAnswer(tokens=views)
    if request.action == "enter":
        if not _codes.redeem(request.id):
            raise NotFoundError("There is no such code.", "Run `vector-memory dashboard`.")
        return TokenAnswer(id="entered")
    request.require_user("makes and revokes tokens")
    if request.action == "code":
        ctx.state.audit("token", request.actor, [], {"action": "code"})
        return TokenAnswer(token=_codes.make())
    with _changing:
        entries = tokens.load(path)
        if request.action == "new":
            return _new(ctx, request, entries)
        remaining = [entry for entry in entries if request.id not in (entry.id, entry.name)]
        if len(remaining) == len(entries):
            raise NotFoundError(f"There is no token {request.id[:40]!r}.", "See `token list`.")
        tokens.save(path, remaining)
    revoked = [entry.id for entry in entries if entry not in remaining]
    ctx.state.audit("token", request.actor, revoked, {"action": "revoked"})
    return TokenAnswer(revoked=len(revoked))


def _new(ctx: Context, request: TokenRequest, entries: list[Token]) -> TokenAnswer:
    if not request.rights:
        raise BadInputError("No right is named.", f"Rights: {', '.join(tokens.RIGHTS)}.")
    name = request.name
    if not (0 < len(name) <= LONGEST_NAME and name.isascii() and as_name(name) == name):
        raise BadInputError(
            "A token's name is at most 40 letters, digits, dots and hyphens.",
            "Give another --name.",
        )
    if any(entry.name == name for entry in entries):
        raise BadInputError(
            f"There is a token {request.name!r}.", "Revoke it, or say another name."
        )
    if len(entries) >= MOST:
        raise BadInputError(f"There are {MOST} tokens already.", "Revoke what is not used.")
    if request.until and request.until <= ctx.now():
        raise BadInputError("The token would have ended already.", "Give a later --until.")
    place = messages.place_of(ctx, request) if request.project else None
    presented, id, digest = tokens.make()
    new_token = Token(
        id=id,
        name=request.name,
        rights=request.rights,
        project=place.root if place else "",
        project_id=place.id if place else "",
        until=request.until.isoformat() if request.until else "",
        speaks_for_me=request.speaks_for_me,
        made_at=ctx.now().isoformat(timespec="seconds"),
        digest=digest,
        ceiling=str(request.ceiling or ""),
        jurisdictions=request.jurisdictions,
    )
    tokens.save(ctx.home.tokens, [*entries, new_token])
    ctx.state.audit(
        "token", request.actor, [id], {"action": "new", "rights": list(new_token.rights)}
    )
    return TokenAnswer(token=presented, id=id)
