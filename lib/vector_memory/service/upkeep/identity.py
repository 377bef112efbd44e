"""`identity`: this installation's keys, listed, renewed and given up; what they sign, and whether they did."""

from __future__ import annotations

from vector_memory.errors import BadInputError
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.memory.views import values_for
from vector_memory.system import json_in
from vector_memory.trust import second_signature
from vector_memory.trust.keys import KeyEntry, Keyring, PublicKey

ACTIONS = ("list", "create", "rotate", "revoke", "sign", "verify")
PURPOSE = "words 1"
MOST_CHARS = 20_000


class IdentityRequest(messages.Request):
    """Something is to be done with keys.

    Attributes:
        action: one of `ACTIONS`.
        key: a key's id, to revoke it; its word, to verify what it signed.
        text: what is signed.
        signature: what is verified, in hexadecimal.
        twice: sign a second time, by an algorithm that is held to withstand quantum computers.
        second: a second signature to verify, as `sign` answered it, as JSON.
    """

    action: str = messages.one_of(ACTIONS, "list")
    key: str = messages.word()
    text: str = messages.maybe_text(MOST_CHARS)
    signature: str = messages.word()
    twice: bool = messages.flag()
    second: str = messages.maybe_text(MOST_CHARS)
    passphrase: str = messages.word()


class KeyView(messages.Answer):
    """A key of this installation; times in ISO form, "" for never.

    Attributes:
        state: `valid`, `retired` or `revoked`.
    """

    id: str
    key: str
    fingerprint: str
    state: str
    made_at: str
    retired_at: str
    revoked_at: str
    has_passphrase: bool


class IdentityAnswer(messages.Answer):
    """The keys, the newest first.

    Attributes:
        signature: of what was signed, in hexadecimal.
        second: the second signature, where one was asked for.
        is_valid: whether a signature is the key's.
    """

    keys: list[KeyView]
    signature: str | None = messages.spare()
    second: dict[str, str] | None = messages.spare()
    is_valid: bool | None = messages.spare()


def identity(ctx: Context, request: IdentityRequest) -> IdentityAnswer:
    """Do what is asked, and return the keys as they are then.

    Raises:
        BadInputError: there is no such action; an agent would change a key or sign with it; no passphrase.
        NotFoundError: there is no such key.
    """
    ring = Keyring(ctx.home.keys)
    if request.action == "verify":
        return IdentityAnswer(_views(ring), is_valid=_is_signed(request))
    signature, second = None, None
    if request.action != "list":
        request.require_user("changes keys and signs with them")
    if request.action == "create":
        ring.ensure(ctx.now(), request.passphrase)
    elif request.action == "rotate":
        ring.rotate(ctx.now(), request.passphrase)
    elif request.action == "revoke":
        ring.revoke(request.key, ctx.now())
    elif request.action == "sign":
        key = ring.signer(ctx.now(), request.passphrase)
        signature = key.sign(PURPOSE, _words(request)).hex()
        if request.twice:
            words = (PURPOSE, _words(request), request.passphrase)
            second = second_signature.sign(ctx.home.keys, key, *words)
    if request.action != "list":
        ctx.state.audit("identity", request.actor, [], {"action": request.action})
    return IdentityAnswer(_views(ring), signature=signature, second=second)


def _words(request: IdentityRequest) -> bytes:
    if not request.text:
        raise BadInputError("There is nothing to sign.", "Give a text.")
    return request.text.encode("utf-8", "surrogatepass")


def _is_signed(request: IdentityRequest) -> bool:
    try:
        signature = bytes.fromhex(request.signature)
    except ValueError:
        return False
    key, words = PublicKey.read(request.key), _words(request)
    if not key.has_signed(signature, PURPOSE, words):
        return False
    if not request.second:
        return True
    try:
        second = json_in.load(request.second.encode("utf-8", "surrogatepass"))
    except ValueError:
        return False
    return second_signature.is_right(second, key, PURPOSE, words)


def _views(ring: Keyring) -> list[KeyView]:
    return [_view(entry) for entry in reversed(ring.entries())]


def _view(entry: KeyEntry) -> KeyView:
    state = "revoked" if entry.revoked_at else "retired" if entry.retired_at else "valid"
    key, fields = entry.public, values_for(KeyView, entry)
    return KeyView(**fields, id=key.id, key=entry.word, fingerprint=key.fingerprint, state=state)
