"""`agent_identity`: this installation's keys, what is signed by them, and what they let others do for a while.

Signatures stand in a list, each with its algorithm, so that one of another kind (ML-DSA) can stand beside Ed25519
once keys of that kind are made; none is made today, and nothing is simulated.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from vector_memory.errors import BadInputError
from vector_memory.service.base import contracts, messages
from vector_memory.service.base.context import Context, new_id
from vector_memory.system.json_in import Record
from vector_memory.trust import canonical
from vector_memory.trust.keys import KeyEntry, PrivateKey, PublicKey

REVOKED = "revoked_delegation"
TEXT, DELEGATION = "text", "delegation"
LONGEST, DEEPEST = timedelta(days=365), 8
MOST_TOKEN_CHARS = 32_000
ACTIONS = ("list", "create", "rotate", "revoke", "sign", "verify", "delegate", "check", "cbom")


@dataclass(frozen=True, kw_only=True)
class IdentityRequest(messages.Request):
    """Something about keys (`list`, `create`, `rotate`, `revoke`), signatures (`sign`, `verify`), delegations
    (`delegate`, `check`, `revoke`) or the inventory of cryptography (`cbom`).

    Attributes:
        id: a key's or a delegation's, for `revoke`.
        text: what is signed, or was.
        key, signature: whose, and in hexadecimal, for `verify`.
        subject: to whom something is delegated, scope: which acts, until: for how long.
        token: a delegation, to `check`, or to be narrowed by a new one.
    """

    action: str = messages.word(default="list")
    id: str = messages.word()
    text: str = messages.maybe_text(1_000_000)
    key: str = messages.word()
    signature: str = messages.word()
    subject: str = messages.word()
    scope: tuple[str, ...] = messages.words()
    until: datetime | None = messages.moment()
    token: str = messages.maybe_text(MOST_TOKEN_CHARS)


@dataclass(frozen=True)
class KeyView:
    """A key of this installation: its id, public half and fingerprint, and since when it is no more in use."""

    id: str
    key: str
    fingerprint: str
    made_at: str
    retired_at: str
    revoked_at: str


@dataclass(frozen=True)
class Signature:
    """A signature and its algorithm, in hexadecimal."""

    alg: str
    value: str


@dataclass(frozen=True)
class IdentityAnswer:
    """What was asked for; `valid` and `problem` for what was checked."""

    keys: list[KeyView] | None = messages.spare()
    signatures: list[Signature] | None = messages.spare()
    token: str | None = messages.spare()
    valid: bool | None = messages.spare()
    problem: str | None = messages.spare()
    delegation: dict[str, object] | None = messages.spare()
    cbom: dict[str, object] | None = messages.spare()


def identity(ctx: Context, request: IdentityRequest) -> IdentityAnswer:
    """List, make and revoke keys, sign, verify and delegate.

    Returns:
        The part of the answer that the action is about.

    Raises:
        BadInputError: there is no such action, an agent asks for what only the user does, or what was given
            cannot be read.
        NotFoundError: there is no key of that id.
    """
    if request.action not in ACTIONS:
        raise BadInputError("There is no such action.", f"Actions: {', '.join(ACTIONS)}.")
    if request.action == "list":
        return IdentityAnswer(keys=_keys(ctx))
    if request.action == "verify":
        return _verify(request)
    if request.action == "check":
        return _check(ctx, request.token)
    if request.action == "cbom":
        return IdentityAnswer(cbom=_cbom(ctx))
    request.require_user("uses this installation's keys")
    if request.action == "sign":
        value = _own(ctx).sign(TEXT, _required(request.text, "text")).hex()
        return IdentityAnswer(signatures=[Signature("Ed25519", value)])
    if request.action == "delegate":
        return _delegate(ctx, request)
    return _change(ctx, request)


def _change(ctx: Context, request: IdentityRequest) -> IdentityAnswer:
    ring, now = contracts.keyring(ctx), ctx.now()
    known = {one.public.id for one in ring.entries()}
    if request.action == "create":
        ring.ensure(now)
    elif request.action == "rotate":
        ring.rotate(now)
    elif request.id in known:
        ring.revoke(request.id, now)
    elif request.id:
        ctx.state.put_record(REVOKED, request.id, {"at": now.isoformat(timespec="seconds")})
    else:
        raise BadInputError("Say which: a key's id, or a delegation's jti.", "Give id.")
    ctx.state.audit("identity", request.actor, [], {"action": request.action, "id": request.id})
    return IdentityAnswer(keys=_keys(ctx))


def _keys(ctx: Context) -> list[KeyView]:
    return [_view(one) for one in contracts.keyring(ctx).entries()]


def _view(one: KeyEntry) -> KeyView:
    public = one.public
    return KeyView(
        public.id, one.word, public.fingerprint, one.made_at, one.retired_at, one.revoked_at
    )


def _own(ctx: Context) -> PrivateKey:
    ring = contracts.keyring(ctx)
    return ring.open(ring.ensure(ctx.now()).public.id)


def _required(text: str, name: str) -> bytes:
    if not text:
        raise BadInputError(f"{name} is empty.", "Say what it should be.")
    return text.encode()


def _verify(request: IdentityRequest) -> IdentityAnswer:
    key, text = PublicKey.read(request.key), _required(request.text, "text")
    try:
        valid = key.has_signed(bytes.fromhex(request.signature), TEXT, text)
    except ValueError:
        raise BadInputError(
            "The signature is no hexadecimal number.", "As `sign` gave it."
        ) from None
    problem = "" if valid else "It is not this key's signature over this text."
    return IdentityAnswer(valid=valid, problem=problem)


# -- delegations -----------------------------------------------------------------------------------


def _delegate(ctx: Context, request: IdentityRequest) -> IdentityAnswer:
    if unknown := [one for one in request.scope if one not in contracts.ACTS]:
        raise BadInputError(
            f"There is no act {unknown[0][:40]!r}.", f"Acts: {', '.join(contracts.ACTS)}."
        )
    now = ctx.now()
    if not request.scope or not request.subject or request.until is None:
        raise BadInputError("A delegation needs a subject, a scope and an end.", "Give until.")
    if not now < request.until <= now + LONGEST:
        raise BadInputError("A delegation lasts a year at most, and not into the past.", "until")
    key = _own(ctx)
    body: dict[str, object] = {
        "iss": key.public.word, "sub": request.subject[:200], "scope": sorted(request.scope),
        "nbf": now.isoformat(timespec="seconds"), "exp": request.until.isoformat(timespec="seconds"),
        "jti": new_id(), "parent": request.token,
    }  # fmt: skip
    token = f"{_packed(canonical.written(body))}.{_packed(key.sign(DELEGATION, canonical.written(body)))}"
    if problem := check_delegation(ctx, token, now)[1]:
        raise BadInputError(f"That cannot be delegated: {problem}", "Narrow the scope or the time.")
    ctx.state.audit("identity", request.actor, [], {"action": "delegate", "id": str(body["jti"])})
    return IdentityAnswer(token=token, delegation=body)


def _check(ctx: Context, token: str) -> IdentityAnswer:
    if not token:
        raise BadInputError("token is empty.", "Give what `delegate` answered.")
    body, problem = check_delegation(ctx, token, ctx.now())
    return IdentityAnswer(valid=not problem, problem=problem, delegation=dict(body))


def check_delegation(
    ctx: Context, token: str, now: datetime, depth: int = 0
) -> tuple[Mapping[str, object], str]:
    """Return what a delegation says, and why it does not hold, "" where it does."""
    try:
        first, second = token.split(".")
        raw, signature = _unpacked(first), _unpacked(second)
        body = Record(json.loads(raw))
        key = PublicKey.read(body.text("iss"))
    except (ValueError, binascii.Error, TypeError, BadInputError):
        return {}, "It is no delegation."
    if canonical.written(dict(body)) != raw or not key.has_signed(signature, DELEGATION, raw):
        return body, "The signature is not the issuer's."
    if body.text("iss") not in contracts.own_keys(ctx):
        return body, "The issuer is not this installation, or its key was revoked."
    if body.text("jti") in ctx.state.records(REVOKED):
        return body, "It was revoked."
    if not body.text("nbf") <= now.isoformat(timespec="seconds") < body.text("exp"):
        return body, "It holds at another time."
    parent = body.text("parent")
    if not parent:
        return body, ""
    if depth >= DEEPEST:
        return body, "The chain is too long."
    above, problem = check_delegation(ctx, parent, now, depth + 1)
    if problem:
        return body, f"What it was made from: {problem}"
    over = Record(above)
    if not set(body.words("scope")) <= set(over.words("scope")) or body.text("exp") > over.text(
        "exp"
    ):
        return body, "It allows more than what it was made from."
    return body, ""


def _packed(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")


def _unpacked(text: str) -> bytes:
    raw = base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)
    if _packed(raw) != text:
        raise ValueError("not as it would be written")
    return raw


# -- inventory -------------------------------------------------------------------------------------

ASSETS = (
    ("Ed25519", "signature", "contracts, proofs, delegations, cards, bundles"),
    ("X25519", "key-agree", "sealed bundles"),
    ("HKDF-SHA-256", "kdf", "sealed bundles"),
    ("ChaCha20-Poly1305", "ae", "sealed bundles"),
    ("SHA-256", "hash", "Merkle trees, fingerprints, tokens at rest"),
    ("BLAKE2b", "hash", "the audit log's chain, names of what was purged"),
)


def _cbom(ctx: Context) -> dict[str, object]:
    """Return the inventory of what is really used, in the form of CycloneDX 1.6."""
    components: list[object] = [
        {
            "type": "cryptographic-asset", "name": name, "description": use,
            "bom-ref": f"crypto/{name.lower()}",
            "cryptoProperties": {"assetType": "algorithm", "algorithmProperties": {"primitive": kind}},
        }
        for name, kind, use in ASSETS
    ]  # fmt: skip
    components += [
        {
            "type": "cryptographic-asset", "name": f"key {one.public.id}",
            "bom-ref": f"key/{one.public.id}",
            "cryptoProperties": {
                "assetType": "related-crypto-material",
                "relatedCryptoMaterialProperties": {
                    "type": "public-key", "id": one.public.id,
                    "state": "compromised" if one.revoked_at else "deactivated" if one.retired_at else "active",
                },
            },
        }
        for one in contracts.keyring(ctx).entries()
    ]  # fmt: skip
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "metadata": {"timestamp": ctx.now().isoformat(timespec="seconds")}, "components": components,
    }  # fmt: skip
