"""A second signature beside a key's own, by ML-DSA-65 (FIPS 204), which is held to withstand quantum computers. It is
made only where the installed library has it, and nothing stands in for it. The key's Ed25519 half vouches for it."""

from __future__ import annotations

import base64
import os
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

from vector_memory.errors import BadInputError
from vector_memory.system import private
from vector_memory.system.durable_files import write_durably
from vector_memory.system.files import open_own
from vector_memory.trust.keys import PrivateKey, PublicKey, as_pem

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA65PrivateKey

NAME, ENDING = "ML-DSA-65", ".mldsa.pem"
VOUCH = "second key 1"
MOST_BYTES = 1 << 16


@dataclass(frozen=True)
class SecondSignature:
    """A signature with the public key that made it, in base64, and the first key's signature over that one, in
    hexadecimal."""

    alg: str
    key: str
    signature: str
    vouched: str


def is_available() -> bool:
    """Whether the installed library knows the algorithm."""
    try:
        from cryptography.hazmat.primitives.asymmetric import mldsa

        mldsa.MLDSA65PrivateKey.generate()
    except (ImportError, AttributeError, ValueError, TypeError):
        return False
    except Exception as error:
        # Whether an old library has it turns out when it is used; its error is of a class of its own.
        if type(error).__name__ != "UnsupportedAlgorithm":
            raise
        return False
    return True


def sign(
    folder: str, first: PrivateKey, purpose: str, message: bytes, passphrase: str
) -> dict[str, str]:
    """Return a second signature as JSON values; the first time, make the key for it, in a file beside the first's.

    Args:
        folder: that of the keys.
        passphrase: that of the first key, "" for none.

    Raises:
        BadInputError: the installed library does not know the algorithm, or the passphrase is another one.
    """
    if not is_available():
        raise BadInputError(f"This installation has no {NAME}.", "Sign with the first alone.")
    secret = _open_or_make(os.path.join(folder, first.public.id + ENDING), passphrase)
    public = secret.public_key().public_bytes_raw()
    raw_signature = secret.sign(message, purpose.encode("ascii"))
    voucher = first.sign(VOUCH, public).hex()
    key, signature = (base64.b64encode(part).decode("ascii") for part in (public, raw_signature))
    return asdict(SecondSignature(NAME, key, signature, voucher))


def is_right(document: object, first: PublicKey, purpose: str, message: bytes) -> bool:
    """Whether a second signature is right, and made by a key that the first one vouches for.

    Raises:
        BadInputError: the installed library does not know the algorithm.
    """
    if not is_available():
        raise BadInputError(f"This installation cannot check {NAME}.", "Check the first alone.")
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric import mldsa

    try:
        second = SecondSignature(**_fields(document))
        public, raw_signature = (
            base64.b64decode(part, validate=True) for part in (second.key, second.signature)
        )
        voucher = bytes.fromhex(second.vouched)
        encoded = [base64.b64encode(part).decode("ascii") for part in (public, raw_signature)]
        # Each signature has one form: nothing that was changed counts.
        is_vouched = [*encoded, voucher.hex()] == [second.key, second.signature, second.vouched]
        is_vouched = is_vouched and first.has_signed(voucher, VOUCH, public)
        key = mldsa.MLDSA65PublicKey.from_public_bytes(public)
        key.verify(raw_signature, message, purpose.encode("ascii"))
    except (InvalidSignature, TypeError, ValueError):
        return False
    return is_vouched and second.alg == NAME


def _fields(document: object) -> dict[str, str]:
    names = {field.name for field in fields(SecondSignature)}
    if not isinstance(document, dict) or set(document) != names:
        raise ValueError("it is no second signature")
    return {name: str(value) for name, value in document.items()}


def _open_or_make(path: str, passphrase: str) -> MLDSA65PrivateKey:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import mldsa

    try:
        private.require_closed(path)
        with os.fdopen(open_own(path), "rb") as file:
            raw = file.read(MOST_BYTES)
        key = serialization.load_pem_private_key(raw, passphrase.encode() or None)
        if not isinstance(key, mldsa.MLDSA65PrivateKey):
            raise ValueError("it holds another key")
        return key
    except FileNotFoundError:
        new_key = mldsa.MLDSA65PrivateKey.generate()
        write_durably(path, as_pem(passphrase, new_key))
        return new_key
    except (TypeError, ValueError) as error:
        raise BadInputError(
            f"The second key cannot be read: {error}.", "Check VECTOR_MEMORY_KEY_PASSPHRASE."
        ) from None
