"""`a2a_protocol`: cards by which agents say who they are and what they can do, signed, and checked.

The form is that of an A2A 1.0 agent card with a JWS signature (RFC 7515, EdDSA) over its canonical JSON (RFC 8785).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from vector_memory.errors import BadInputError
from vector_memory.service.base import contracts, messages, privacy
from vector_memory.service.base.context import Context
from vector_memory.system.paths import version
from vector_memory.trust import canonical
from vector_memory.trust.keys import PublicKey
from vector_memory.trust.packed import packed, unpacked

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
    clean = [privacy.line(skill, 200) for skill in request.skills[:50]]
    body: dict[str, Any] = {
        "@context": CONTEXT,
        "name": privacy.line(request.name, 100) or "Vector Memory",
        "description": "Long-term memory of a coding agent, on one machine.",
        "version": version(),
        "supportedInterfaces": [{"url": request.url, "protocolBinding": request.binding, "protocolVersion": "1.0"}]
        if request.url
        else [],
        "capabilities": {"streaming": False, "pushNotifications": False},
        "skills": [{"id": f"skill-{n}", "name": skill, "description": skill, "tags": []} for n, skill in enumerate(clean, 1)],
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["application/json"],
        "securitySchemes": BEARER if request.binding != BINDING else {},
    }  # fmt: skip
    key = contracts.signer(ctx, request.passphrase)
    header = packed(canonical.written({"alg": "EdDSA", "kid": key.public.word}))
    signature = packed(key.signing.sign(_input(header, body)))
    signed = {**body, "signatures": [{"protected": header, "signature": signature}]}
    ctx.state.audit("identity", request.actor, [], {"action": "card"})
    return CardAnswer(signed)


def _input(header: str, body: Mapping[str, Any]) -> bytes:
    return f"{header}.{packed(canonical.written(dict(body)))}".encode("ascii")


def _verify(request: CardRequest) -> CardAnswer:
    try:
        whole = json.loads(request.card)
        if not isinstance(whole, dict) or not isinstance(whole.get("name"), str):
            raise ValueError("no card")
        body = {name: value for name, value in whole.items() if name != "signatures"}
        canonical.written(body)
    except (ValueError, RecursionError):
        raise BadInputError("That is no agent card.", "Give the card as JSON in `card`.") from None
    key, problem = "", "It is not signed."
    signatures = whole.get("signatures")
    for signature in signatures if isinstance(signatures, list) else ():
        key, problem = _problem(signature, body)
        if not problem:
            break
    if not problem and request.key and key != request.key:
        problem = "It is signed by another key than the one that was given."
    return CardAnswer(whole, not problem, key, problem)


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
