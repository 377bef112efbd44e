"""Keys: a pair to sign with (Ed25519) and a pair by which others seal things for it (X25519).

The public half of both is one word, `vmk1-…`, that people hand on; its fingerprint is what they compare.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from vector_memory.errors import BadInputError, NotFoundError, StoreDamagedError, StoreFullError
from vector_memory.system import private
from vector_memory.system.durable_files import write_durably
from vector_memory.system.files import delete_file, open_own
from vector_memory.trust import canonical
from vector_memory.trust.packed import packed, unpacked

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

PREFIX = "vmk1-"
HALF = 32
"""Bytes of each of both public keys."""
_LIST = "keys.json"
MOST_BYTES = 1 << 20
BACK = "A damaged file comes back from a backup."


@dataclass(frozen=True)
class PublicKey:
    """Both public keys of a member: `signing` (Ed25519) and `sealing` (X25519), 32 bytes each."""

    signing: bytes
    sealing: bytes

    @classmethod
    def read(cls, word: str) -> PublicKey:
        """Return the key that a word stands for.

        Raises:
            BadInputError: it is none.
        """
        try:
            raw = unpacked(str.removeprefix(word, PREFIX))
            if not word.startswith(PREFIX) or len(raw) != 2 * HALF:
                raise ValueError(word)
        except ValueError:
            raise BadInputError(
                "That is no public key.", "`vector-memory share invite` prints one: vmk1-…"
            ) from None
        return cls(raw[:HALF], raw[HALF:])

    @property
    def word(self) -> str:
        """The key as people hand it on."""
        return PREFIX + packed(self.signing + self.sealing)

    @property
    def digest(self) -> str:
        """The SHA-256 of both keys, in hexadecimal."""
        return hashlib.sha256(self.signing + self.sealing).hexdigest()

    @property
    def id(self) -> str:
        """What the key is called in names of folders: 16 hexadecimal digits."""
        return self.digest[:16]

    @property
    def fingerprint(self) -> str:
        """What people compare, on the telephone: eight groups of four hexadecimal digits."""
        return " ".join(self.digest[at : at + 4] for at in range(0, 32, 4))

    def has_signed(self, signature: bytes, purpose: str, message: bytes) -> bool:
        """Whether a signature of 64 bytes is this key's, over a message for a purpose."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            signing = Ed25519PublicKey.from_public_bytes(self.signing)
            signing.verify(signature, _frame(purpose, message))
        except (InvalidSignature, ValueError):
            return False
        return True


def _frame(purpose: str, message: bytes) -> bytes:
    # What was signed for one purpose is nothing for another.
    return b"vector-memory " + purpose.encode("ascii") + b"\0" + message


@dataclass(frozen=True)
class PrivateKey:
    """A pair of private keys with their public ones."""

    public: PublicKey
    signing: Ed25519PrivateKey
    sealing: X25519PrivateKey

    def sign(self, purpose: str, message: bytes) -> bytes:
        """Return the signature, 64 bytes, of a message for a purpose (a few ASCII words)."""
        return self.signing.sign(_frame(purpose, message))


@dataclass(frozen=True)
class KeyEntry:
    """One key of this installation.

    Attributes:
        word: its public half.
        made_at: when it was made; `retired_at` when another one took its place, `revoked_at` when it was given
            up, "" for never. Times in ISO form.
        has_passphrase: whether its file can be read with a passphrase only.
    """

    word: str
    made_at: str
    retired_at: str = ""
    revoked_at: str = ""
    has_passphrase: bool = False

    @property
    def public(self) -> PublicKey:
        """Its public half."""
        return PublicKey.read(self.word)


class Keyring:
    """The keys of this installation, in a folder that is its user's alone: a file of each, 0600, and a list."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def entries(self) -> list[KeyEntry]:
        """Return all keys that there ever were, the oldest first.

        Raises:
            StoreDamagedError: their list cannot be read.
        """
        try:
            with os.fdopen(open_own(self._path(_LIST)), "rb") as file:
                listed = json.loads(file.read(MOST_BYTES))
            return [KeyEntry(**entry) for entry in listed]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError) as error:
            raise StoreDamagedError(
                f"{self._path(_LIST)} cannot be read: {error}.", "Restore it from a backup."
            ) from error

    @property
    def current(self) -> KeyEntry | None:
        """The key that signs now, None before there is one."""
        valid = [entry for entry in self.entries() if not (entry.retired_at or entry.revoked_at)]
        return valid[-1] if valid else None

    def ensure(self, now: datetime, passphrase: str = "") -> KeyEntry:
        """Return the key that signs now; the first time, make it."""
        return self.current or self._make(now, passphrase)

    def rotate(self, now: datetime, passphrase: str = "") -> KeyEntry:
        """Make a new key in the place of the present one, which is kept to read what was sealed for it."""
        if (old := self.current) is not None:
            self._change(old, replace(old, retired_at=now.isoformat(timespec="seconds")))
        return self._make(now, passphrase)

    def revoke(self, id: str, now: datetime) -> KeyEntry:
        """Give a key up: it signs no more, and its private half is removed.

        Raises:
            NotFoundError: there is none of that id.
        """
        entry = next((entry for entry in self.entries() if entry.public.id == id), None)
        if entry is None:
            raise NotFoundError(
                f"There is no key {id!r} here.", "`vector-memory identity list` shows yours."
            )
        ended = replace(entry, revoked_at=now.isoformat(timespec="seconds"))
        self._change(entry, ended)
        for ending in (".pem", ".mldsa.pem"):
            delete_file(self._path(id + ending))
        return ended

    def open(self, id: str, passphrase: str = "") -> PrivateKey:
        """Return a key by its id.

        Raises:
            NotFoundError: there is none.
            BadInputError: it needs another passphrase.
            StoreDamagedError: its file is damaged.
        """
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

        path = self._path(f"{id}.pem")
        try:
            private.require_closed(path)
            with os.fdopen(open_own(path), "rb") as file:
                parts = file.read(MOST_BYTES).split(b"\n\n")
        except FileNotFoundError:
            raise NotFoundError(
                f"The private key {id} is not here.", "`identity rotate` makes another."
            ) from None
        secret = passphrase.encode() or None
        try:
            signing, sealing = (
                serialization.load_pem_private_key(part, secret) for part in parts if part
            )
        except TypeError:
            raise BadInputError(
                f"The key {id} is kept with a passphrase, or without one.",
                "Give it in VECTOR_MEMORY_KEY_PASSPHRASE, or leave that out.",
            ) from None
        except ValueError as error:
            raise BadInputError(
                f"The key {id} cannot be read: {error}.",
                f"Check VECTOR_MEMORY_KEY_PASSPHRASE. {BACK}",
            ) from None
        if not (isinstance(signing, Ed25519PrivateKey) and isinstance(sealing, X25519PrivateKey)):
            raise StoreDamagedError(f"{path} holds other keys than were written there.", BACK)
        pair = PrivateKey(_public(signing, sealing), signing, sealing)
        if pair.public.id != id:
            raise StoreDamagedError(f"{path} holds another key than its name says.", BACK)
        return pair

    def signer(self, now: datetime, passphrase: str = "") -> PrivateKey:
        """Return the key that signs now; the first time, make it.

        Raises:
            BadInputError: it needs another passphrase.
            StoreDamagedError: its file is damaged.
        """
        return self.open(self.ensure(now, passphrase).public.id, passphrase)

    def _make(self, now: datetime, passphrase: str) -> KeyEntry:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

        signing, sealing = Ed25519PrivateKey.generate(), X25519PrivateKey.generate()
        public = _public(signing, sealing)
        at = now.isoformat(timespec="seconds")
        entry = KeyEntry(public.word, at, has_passphrase=bool(passphrase))
        self._write(f"{public.id}.pem", as_pem(passphrase, signing, sealing))
        self._save([*self.entries(), entry])
        return entry

    def _change(self, old: KeyEntry, new: KeyEntry) -> None:
        self._save([new if entry == old else entry for entry in self.entries()])

    def _save(self, entries: list[KeyEntry]) -> None:
        values: list[dict[str, Any]] = [entry.__dict__ for entry in entries]
        self._write(_LIST, canonical.canonical_bytes(values))

    def _write(self, name: str, content: bytes) -> None:
        try:
            private.make_folder(self._folder)
            private.close_folder(self._folder)
            write_durably(self._path(name), content)
        except OSError as error:
            raise StoreFullError(
                f"{self._path(name)} cannot be written: {error.strerror or error}.",
                "Check the disk and the folder's rights.",
            ) from error

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)


def as_pem(passphrase: str, *secrets: Any) -> bytes:
    """Return private keys as PEM, readable with the passphrase only where there is one."""
    from cryptography.hazmat.primitives import serialization

    encryption: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if passphrase:
        encryption = serialization.BestAvailableEncryption(passphrase.encode())
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption
    return b"\n".join(secret.private_bytes(*form) for secret in secrets)


def _public(signing: Ed25519PrivateKey, sealing: X25519PrivateKey) -> PublicKey:
    return PublicKey(
        signing.public_key().public_bytes_raw(), sealing.public_key().public_bytes_raw()
    )
