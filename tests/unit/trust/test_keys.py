"""Keys: made, kept closed, rotated, revoked, with and without a passphrase."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from pathlib import Path

import pytest

from vector_memory.errors import BadInputError, NotFoundError, StoreDamagedError
from vector_memory.trust.keys import Keyring, PublicKey

NOW = datetime(2026, 5, 3, 12, tzinfo=timezone.utc)
ZERO = PublicKey(
    bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"), bytes(32)
)


@pytest.fixture
def ring(tmp_path: Path) -> Keyring:
    return Keyring(str(tmp_path / "keys"))


def test_a_key_is_made_once_and_kept_closed(ring: Keyring, tmp_path: Path) -> None:
    made = ring.ensure(NOW)
    assert ring.ensure(NOW) == made
    modes = {oct(os.stat(path).st_mode & 0o777) for path in (tmp_path / "keys").iterdir()}
    assert modes == {"0o600"}
    assert os.stat(tmp_path / "keys").st_mode & 0o777 == 0o700
    opened = ring.open(made.public.id)
    signature = opened.sign("test", b"words")
    assert made.public.has_signed(signature, "test", b"words")
    assert not made.public.has_signed(signature, "other", b"words")
    assert not made.public.has_signed(signature, "test", b"other words")
    assert not ZERO.has_signed(signature, "test", b"words")


def test_a_key_that_is_open_to_others_is_not_used(ring: Keyring, tmp_path: Path) -> None:
    id = ring.ensure(NOW).public.id
    os.chmod(tmp_path / "keys" / f"{id}.pem", 0o644)
    with pytest.raises(BadInputError, match="open to others"):
        ring.open(id)


def test_a_passphrase(ring: Keyring, tmp_path: Path) -> None:
    id = ring.ensure(NOW, "right words").public.id
    assert b"ENCRYPTED" in (tmp_path / "keys" / f"{id}.pem").read_bytes()
    assert ring.open(id, "right words").public.id == id
    for wrong in ("", "wrong words"):
        with pytest.raises(BadInputError, match="VECTOR_MEMORY_KEY_PASSPHRASE"):
            ring.open(id, wrong)


def test_rotation_keeps_the_old_key_and_revocation_does_not(ring: Keyring) -> None:
    old, new = ring.ensure(NOW), ring.rotate(NOW)
    assert ring.current == new != old
    assert ring.open(old.public.id).public == old.public
    assert [bool(one.retired_at) for one in ring.entries()] == [True, False]
    ring.revoke(new.public.id, NOW)
    assert ring.current is None
    with pytest.raises(NotFoundError):
        ring.open(new.public.id)
    with pytest.raises(NotFoundError):
        ring.revoke("0" * 16, NOW)


def test_another_key_under_its_name_is_found(ring: Keyring, tmp_path: Path) -> None:
    old, new = ring.ensure(NOW).public.id, ring.rotate(NOW).public.id
    os.replace(tmp_path / "keys" / f"{old}.pem", tmp_path / "keys" / f"{new}.pem")
    with pytest.raises(StoreDamagedError):
        ring.open(new)


def test_public_keys_are_one_word(ring: Keyring) -> None:
    key = ring.ensure(NOW).public
    assert PublicKey.read(key.word) == key
    assert len(key.fingerprint.split()) == 8
    for wrong in ("", "vmk1-", key.word[:-1], key.word + "A", key.word.replace("vmk1", "vmk2")):
        with pytest.raises(BadInputError):
            PublicKey.read(wrong)
