"""A sealed bundle: one file that its members alone can read, and that nobody can change unseen.

    vector-memory-bundle 1
    {…}            a head in canonical JSON: whose, for whom, the number, the hash of what follows
    0a1b…          the head's Ed25519 signature, 128 hexadecimal digits
    …              the content: compressed, encrypted with ChaCha20-Poly1305 under a key of its own, which the
                   head holds for each reader, wrapped by X25519 and HKDF-SHA256

The signature covers the head, the head the hash of the content: no byte stands outside.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from vector_memory.errors import VectorMemoryError
from vector_memory.model import is_hex
from vector_memory.trust import canonical
from vector_memory.trust.keys import PrivateKey, PublicKey

MAGIC = b"vector-memory-bundle 1\n"
PURPOSE = "bundle 1"
MOST_BYTES = 256 * 1024 * 1024
"""How large a bundle, and what is in it, may be."""
MOST_HEAD = 1024 * 1024
MOST_FILE = MOST_BYTES + MOST_HEAD
_ONCE = bytes(12)
"""The nonce: every key is used for one message."""
_FIELDS = {
    "base": int, "ephemeral": str, "hash": str, "key": str, "made_at": str, "previous": str,
    "readers": dict, "seq": int, "size": int, "team": str,
}  # fmt: skip


class RefusedBundleError(VectorMemoryError):
    """A bundle is not what it should be: nothing of it is taken."""

    advice = "Nothing of it was taken. Ask its author to publish again."


@dataclass(frozen=True)
class BundlePosition:
    """Where a bundle stands.

    Attributes:
        team: what it was made for: it counts nowhere else.
        seq: its number among its author's, from 1.
        base: the number of the bundle with which its content begins: itself, or an earlier one that it continues.
        previous: the hash of the bundle before it, "" where it is a base.
        made_at: when it was made, in ISO form.
    """

    team: str
    seq: int
    base: int
    previous: str
    made_at: str


@dataclass(frozen=True)
class Bundle:
    """A bundle whose signature and hashes were found to be right.

    Attributes:
        key: whose it is.
        readers: the wrapped key for each reader, by the reader's id.
        digest: the SHA-256 of the whole file, in hexadecimal.
    """

    key: PublicKey
    position: BundlePosition
    readers: dict[str, str]
    ephemeral: bytes
    content: bytes
    digest: str


def digest(raw: bytes) -> str:
    """Return the hash by which a bundle is known: SHA-256 in hexadecimal."""
    return hashlib.sha256(raw).hexdigest()


def seal(
    author: PrivateKey, readers: Sequence[PublicKey], position: BundlePosition, content: bytes
) -> bytes:
    """Return a bundle.

    Args:
        readers: who can read it; the author too, if named.
        content: what is sealed.

    Raises:
        RefusedBundleError: the content is too large.
    """
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    if len(content) > MOST_BYTES:
        raise RefusedBundleError(f"A bundle holds at most {MOST_BYTES >> 20} MB.", "Share less.")
    secret, ephemeral = os.urandom(32), X25519PrivateKey.generate()
    ephemeral_public = ephemeral.public_key().public_bytes_raw()
    wrapped = {}
    for reader in readers:
        shared = ephemeral.exchange(X25519PublicKey.from_public_bytes(reader.sealing))
        wrapping = ChaCha20Poly1305(_wrapping_key(shared, ephemeral_public, reader))
        wrapped[reader.id] = wrapping.encrypt(_ONCE, secret, reader.id.encode()).hex()
    context = _context(author.public, position)
    sealed = ChaCha20Poly1305(secret).encrypt(_ONCE, zlib.compress(content, 6), context)
    content_fields = {
        "hash": digest(sealed),
        "size": len(sealed),
        "ephemeral": ephemeral_public.hex(),
    }
    key_fields = {"key": author.public.word, "readers": wrapped}
    head = canonical.canonical_bytes({**asdict(position), **content_fields, **key_fields})
    signature = author.sign(PURPOSE, head).hex().encode("ascii")
    return MAGIC + head + b"\n" + signature + b"\n" + sealed


def read(raw: bytes) -> Bundle:
    """Return a bundle, its signature and hashes checked; whether its author counts is for others to say.

    Raises:
        RefusedBundleError: it is damaged, forged, or none.
    """
    if len(raw) > MOST_FILE or not raw.startswith(MAGIC):
        raise RefusedBundleError("It is no bundle of this version.")
    end = raw.find(b"\n", len(MAGIC), len(MAGIC) + MOST_HEAD)
    head, signature, sealed = raw[len(MAGIC) : end], raw[end + 1 : end + 129], raw[end + 130 :]
    if (
        end < 0
        or not is_hex(signature.decode("latin-1"), 128)
        or raw[end + 129 : end + 130] != b"\n"
    ):
        raise RefusedBundleError("Its head is damaged.")
    fields = _fields(head)
    key = PublicKey.read(fields["key"])
    if not key.has_signed(bytes.fromhex(signature.decode("ascii")), PURPOSE, head):
        raise RefusedBundleError("Its signature is not its author's.")
    if len(sealed) != fields["size"] or digest(sealed) != fields["hash"]:
        raise RefusedBundleError("Its content is not what its author signed.")
    place = {name: fields[name] for name in ("team", "seq", "base", "previous", "made_at")}
    ephemeral = bytes.fromhex(fields["ephemeral"])
    return Bundle(key, BundlePosition(**place), fields["readers"], ephemeral, sealed, digest(raw))


def _fields(head: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(head)
        if canonical.canonical_bytes(fields) != head or set(fields) != set(_FIELDS):
            raise ValueError("it is not written as it should be")
        for name, kind in _FIELDS.items():
            if type(fields[name]) is not kind:
                raise ValueError(f"{name} is no {kind.__name__}")
        if not 1 <= fields["base"] <= fields["seq"] or len(fields["ephemeral"]) != 64:
            raise ValueError("its numbers cannot be")
        bytes.fromhex(fields["ephemeral"])
        PublicKey.read(fields["key"])
    except (ValueError, RecursionError, VectorMemoryError) as error:
        raise RefusedBundleError(f"Its head is damaged: {error}.") from None
    return dict(fields)


def unseal(bundle: Bundle, reader: PrivateKey) -> bytes:
    """Return what is in a bundle.

    Raises:
        RefusedBundleError: it was not sealed for this reader, or it is not what was sealed.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    wrapped = bundle.readers.get(reader.public.id)
    if not isinstance(wrapped, str):
        raise RefusedBundleError(
            "It was not sealed for this installation's key.",
            "Its author publishes again once your key is in the list of members.",
        )
    try:
        shared = reader.sealing.exchange(X25519PublicKey.from_public_bytes(bundle.ephemeral))
        wrapping = ChaCha20Poly1305(_wrapping_key(shared, bundle.ephemeral, reader.public))
        secret = wrapping.decrypt(_ONCE, bytes.fromhex(wrapped), reader.public.id.encode())
        place = _context(bundle.key, bundle.position)
        packed = ChaCha20Poly1305(secret).decrypt(_ONCE, bundle.content, place)
        unpacking = zlib.decompressobj()
        content = unpacking.decompress(packed, MOST_BYTES)
        if not unpacking.eof or unpacking.unused_data:
            raise ValueError("it is larger than a bundle may be, or cut off")
    except (InvalidTag, ValueError, zlib.error) as error:
        raise RefusedBundleError(f"It cannot be opened: {str(error) or 'wrong key'}.") from None
    return content


def _wrapping_key(shared: bytes, ephemeral: bytes, reader: PublicKey) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    info = b"vector-memory seal 1\0" + ephemeral + reader.sealing
    return HKDF(SHA256(), 32, None, info).derive(shared)


def _context(author: PublicKey, position: BundlePosition) -> bytes:
    """Return the data that an encrypted content is bound to, so that it cannot be put under another head."""
    return canonical.canonical_bytes([author.word, position.team, position.seq, position.base])
