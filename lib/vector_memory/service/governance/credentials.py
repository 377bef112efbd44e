"""What this installation's keys say to others: what they let them do for a while (delegations), the inventory of the
cryptography in use, and cards by which agents say who they are and what they can do, signed, and checked. The keys
themselves are `service/upkeep/identity.py`'s.

A card has the form of an A2A 1.0 agent card with a JWS signature (RFC 7515, EdDSA) over its canonical JSON (RFC 8785).
"""

from __future__ import annotations

import binascii
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from vector_memory.errors import BadInputError
from vector_memory.service.base import contracts, messages, privacy, request_fields
from vector_memory.service.base.context import Context, new_id
from vector_memory.system.json_in import Record
from vector_memory.system.paths import version
from vector_memory.trust import canonical, second_signature
from vector_memory.trust.keys import PublicKey
from vector_memory.trust.packed import packed, unpacked

REVOKED = "revoked_delegation"
DELEGATION = "delegation"
LONGEST, DEEPEST = timedelta(days=365), 8
MOST_TOKEN_CHARS = 32_000


class DelegationRequest(messages.Request):
    """`delegate` acts to somebody, `check` a delegation, `revoke` one, or list the cryptography in use (`cbom`).

    Attributes:
        id: a delegation's `jti`, for `revoke`.
        subject: to whom something is delegated, scope: which acts, until: for how long.
        token: a delegation, to `check`, or to be narrowed by a new one.
    """

    action: str = messages.one_of(("cbom", "delegate", "check", "revoke"), "cbom")
    id: str = messages.word()
    subject: str = messages.word()
    scope: tuple[str, ...] = messages.words(choices=contracts.ACTS)
    until: datetime | None = messages.moment(is_to_come=True)
    token: str = messages.maybe_text(MOST_TOKEN_CHARS)


class DelegationAnswer(messages.Answer):
    """A delegation as it is handed on and what it says; whether it holds, and why not; or the inventory."""

    token: str | None = messages.spare()
    valid: bool | None = messages.spare()
    problem: str | None = messages.spare()
    delegation: dict[str, object] | None = messages.spare()
    cbom: dict[str, object] | None = messages.spare()


def delegation(ctx: Context, request: DelegationRequest) -> DelegationAnswer:
    """Make, check or revoke a delegation, or list the cryptography in use.

    Returns:
        The part of the answer that the action is about.

    Raises:
        BadInputError: an agent asks for what only the user does, or what was given
            cannot be delegated.
    """
    if request.action == "check":
        token = request_fields.require_text(request.token, "token")
        body, problem = check_delegation(ctx, token, ctx.now())
        return DelegationAnswer(valid=not problem, problem=problem, delegation=dict(body))
    if request.action == "cbom":
        return DelegationAnswer(cbom=_cbom(ctx))
    request.require_user("delegates and revokes")
    if request.action == "delegate":
        return _delegate(ctx, request)
    if not request.id:
        raise BadInputError("Say which.", "Give id, the delegation's jti.")
    revoked_at = ctx.now().isoformat(timespec="seconds")
    ctx.state.put_record(REVOKED, request.id, {"at": revoked_at})
    ctx.state.audit("identity", request.actor, [], {"action": "revoke", "id": request.id})
    return DelegationAnswer()


def _delegate(ctx: Context, request: DelegationRequest) -> DelegationAnswer:
    now = ctx.now()
    if not request.scope or not request.subject or request.until is None:
        raise BadInputError("A delegation needs a subject, a scope and an end.", "Give until.")
    if not now < request.until <= now + LONGEST:
        raise BadInputError("A delegation lasts a year at most, and not into the past.", "until")
    key = contracts.signer(ctx)
    body: dict[str, object] = {
        "iss": key.public.word, "sub": request.subject[:200], "scope": sorted(request.scope),
        "nbf": now.isoformat(timespec="seconds"), "exp": request.until.isoformat(timespec="seconds"),
        "jti": new_id(), "parent": request.token,
    }  # fmt: skip
    token = f"{packed(canonical.canonical_bytes(body))}.{packed(key.sign(DELEGATION, canonical.canonical_bytes(body)))}"
    if problem := check_delegation(ctx, token, now)[1]:
        raise BadInputError(f"That cannot be delegated: {problem}", "Narrow the scope or the time.")
    ctx.state.audit("identity", request.actor, [], {"action": "delegate", "id": str(body["jti"])})
    return DelegationAnswer(token=token, delegation=body)


def check_delegation(
    ctx: Context, token: str, now: datetime, depth: int = 0
) -> tuple[Mapping[str, object], str]:
    """Return what a delegation says, and why it does not hold, "" where it does."""
    try:
        packed_body, packed_signature = token.split(".")
        raw, signature = unpacked(packed_body), unpacked(packed_signature)
        body = Record(json.loads(raw))
        key = PublicKey.read(body.text("iss"))
    except (ValueError, binascii.Error, TypeError, BadInputError):
        return {}, "It is no delegation."
    if canonical.canonical_bytes(dict(body)) != raw or not key.has_signed(
        signature, DELEGATION, raw
    ):
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
    parent_body, problem = check_delegation(ctx, parent, now, depth + 1)
    if problem:
        return body, f"What it was made from: {problem}"
    grant = Record(parent_body)
    if not set(body.words("scope")) <= set(grant.words("scope")) or body.text("exp") > grant.text(
        "exp"
    ):
        return body, "It allows more than what it was made from."
    return body, ""


# -- inventory -------------------------------------------------------------------------------------

ASSETS = (
    ("Ed25519", "signature", "contracts, proofs, delegations, cards, bundles"),
    (second_signature.NAME, "signature", "second signatures of texts, where they are asked for"),
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
        if name != second_signature.NAME or second_signature.is_available()
    ]  # fmt: skip
    components += [
        {
            "type": "cryptographic-asset", "name": f"key {entry.public.id}",
            "bom-ref": f"key/{entry.public.id}",
            "cryptoProperties": {
                "assetType": "related-crypto-material",
                "relatedCryptoMaterialProperties": {
                    "type": "public-key", "id": entry.public.id,
                    "state": "compromised" if entry.revoked_at else "deactivated" if entry.retired_at else "active",
                },
            },
        }
        for entry in contracts.keyring(ctx).entries()
    ]  # fmt: skip
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "metadata": {"timestamp": ctx.now().isoformat(timespec="seconds")}, "components": components,
    }  # fmt: skip


# -- cards (`a2a_protocol`) --


CONTEXT = "https://schema.org/"
MOST_CHARS = 200_000
BINDING = "HTTP+JSON"
BEARER = {"token": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}}


class CardRequest(messages.Request):
    """`create` this installation's card, or `verify` one.

    Attributes:
        name: what the agent is called; skills: what it can do; url: where it listens, if it does, and binding: by
            which protocol, A2A's own over HTTP by default. Who calls at another one has to bring a bearer.
        passphrase: that of this installation's key, "" for none.
        card: a card as JSON, key: whose signature it should have.
    """

    action: str = messages.one_of(("create", "verify"), "create")
    name: str = messages.word()
    skills: tuple[str, ...] = messages.words("skill")
    url: str = messages.word()
    binding: str = messages.word(default=BINDING)
    passphrase: str = messages.word()
    card: str = messages.maybe_text(MOST_CHARS)
    key: str = messages.word()


class CardAnswer(messages.Answer):
    """The card; for `verify` whether the signature holds, whose it says to be, and why it does not hold."""

    card: dict[str, object]
    valid: bool | None = messages.spare()
    key: str | None = messages.spare()
    problem: str | None = messages.spare()


def card(ctx: Context, request: CardRequest) -> CardAnswer:
    """Make or check an agent's card.

    Returns:
        The card, and whether its signature holds.

    Raises:
        BadInputError: an agent would have one signed, or what was given is no card.
    """
    if request.action == "verify":
        return _verify(request)
    request.require_user("signs cards")
    skill_names = [privacy.line(skill, 200) for skill in request.skills[:50]]
    body: dict[str, Any] = {
        "@context": CONTEXT,
        "name": privacy.line(request.name, 100) or "Vector Memory",
        "description": "Long-term memory of a coding agent, on one machine.",
        "version": version(),
        "supportedInterfaces": [{"url": request.url, "protocolBinding": request.binding, "protocolVersion": "1.0"}]
        if request.url
        else [],
        "capabilities": {"streaming": False, "pushNotifications": False},
        "skills": [{"id": f"skill-{n}", "name": skill, "description": skill, "tags": []} for n, skill in enumerate(skill_names, 1)],
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["application/json"],
        "securitySchemes": BEARER if request.binding != BINDING else {},
    }  # fmt: skip
    key = contracts.signer(ctx, request.passphrase)
    header = packed(canonical.canonical_bytes({"alg": "EdDSA", "kid": key.public.word}))
    signature = packed(key.signing.sign(_input(header, body)))
    signed = {**body, "signatures": [{"protected": header, "signature": signature}]}
    ctx.state.audit("identity", request.actor, [], {"action": "card"})
    return CardAnswer(signed)


def _input(header: str, body: Mapping[str, Any]) -> bytes:
    return f"{header}.{packed(canonical.canonical_bytes(dict(body)))}".encode("ascii")


def _verify(request: CardRequest) -> CardAnswer:
    try:
        agent_card = json.loads(request.card)
        if not isinstance(agent_card, dict) or not isinstance(agent_card.get("name"), str):
            raise ValueError("no card")
        body = {name: value for name, value in agent_card.items() if name != "signatures"}
        canonical.canonical_bytes(body)
    except (ValueError, RecursionError):
        raise BadInputError("That is no agent card.", "Give the card as JSON in `card`.") from None
    key, problem = "", "It is not signed."
    signatures = agent_card.get("signatures")
    for signature in signatures if isinstance(signatures, list) else ():
        key, problem = _problem(signature, body)
        if not problem:
            break
    if not problem and request.key and key != request.key:
        problem = "It is signed by another key than the one that was given."
    return CardAnswer(agent_card, not problem, key, problem)


def _problem(signature: object, body: Mapping[str, Any]) -> tuple[str, str]:
    """Return the key that a signature names, and why it does not hold, "" where it does."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        assert isinstance(signature, dict)
        header = json.loads(unpacked(signature["protected"]))
        key = PublicKey.read(header["kid"])
        if header.get("alg") != "EdDSA":
            return key.word, "Only EdDSA is checked here."
        signing = Ed25519PublicKey.from_public_bytes(key.signing)
        signing.verify(unpacked(signature["signature"]), _input(signature["protected"], body))
    except (AssertionError, ValueError, KeyError, TypeError, BadInputError):
        return "", "Its signature cannot be read."
    except InvalidSignature:
        return key.word, "It was changed after it was signed."
    return key.word, ""
