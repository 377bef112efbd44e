"""Sealed bundles: who may read one does, and no byte of it can be changed unseen."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import datetime, timezone
from pathlib import Path

import pytest

from vector_memory.trust import bundles
from vector_memory.trust.bundles import BundlePosition, RefusedBundleError
from vector_memory.trust.keys import Keyring, PrivateKey

NOW = datetime(2026, 5, 3, 12, tzinfo=timezone.utc)
AT = BundlePosition("team", 1, 1, "", "2026-05-03T12:00:00+00:00")


def key(folder: Path) -> PrivateKey:
    ring = Keyring(str(folder))
    return ring.open(ring.ensure(NOW).public.id)


@pytest.fixture(scope="module")
def author(tmp_path_factory: pytest.TempPathFactory) -> PrivateKey:
    return key(tmp_path_factory.mktemp("author") / "keys")


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> PrivateKey:
    return key(tmp_path_factory.mktemp("reader") / "keys")


def test_readers_read_and_others_do_not(author: PrivateKey, reader: PrivateKey) -> None:
    raw = bundles.seal(author, [reader.public], AT, b"the words that were shared")
    bundle = bundles.read(raw)
    assert (bundle.key, bundle.position) == (author.public, AT)
    assert bundles.unseal(bundle, reader) == b"the words that were shared"
    assert b"words" not in raw
    with pytest.raises(RefusedBundleError, match="not sealed for"):
        bundles.unseal(bundle, author)


def test_every_byte_counts(author: PrivateKey, reader: PrivateKey) -> None:
    raw = bundles.seal(author, [reader.public], AT, b"small")
    refused = 0
    for at in range(len(raw)):
        for bit in (0x01, 0x20, 0x80):
            changed = raw[:at] + bytes([raw[at] ^ bit]) + raw[at + 1 :]
            with pytest.raises(RefusedBundleError):
                bundles.unseal(bundles.read(changed), reader)
            refused += 1
    assert refused == 3 * len(raw)


def test_a_cut_or_a_longer_one_is_refused(author: PrivateKey, reader: PrivateKey) -> None:
    raw = bundles.seal(author, [reader.public], AT, b"small")
    for changed in (b"", raw[:10], raw[:-1], raw + b"x", raw[: len(raw) // 2]):
        with pytest.raises(RefusedBundleError):
            bundles.read(changed)


def test_a_content_under_another_head_is_refused(author: PrivateKey, reader: PrivateKey) -> None:
    """Even the author's own signature does not move a content to another place."""
    raw = bundles.seal(author, [reader.public], AT, b"small")
    _, head, _, sealed = raw.split(b"\n", 3)
    moved = json.loads(head)
    moved["team"] = "another"
    again = bundles.canonical.canonical_bytes(moved)
    signature = author.sign(bundles.PURPOSE, again).hex().encode()
    forged = bundles.read(bundles.MAGIC + again + b"\n" + signature + b"\n" + sealed)
    with pytest.raises(RefusedBundleError, match="cannot be opened"):
        bundles.unseal(forged, reader)


def test_who_signs_with_another_key_is_refused(author: PrivateKey, reader: PrivateKey) -> None:
    raw = bundles.seal(author, [reader.public], AT, b"small")
    _, head, _, sealed = raw.split(b"\n", 3)
    signature = reader.sign(bundles.PURPOSE, head).hex().encode()
    with pytest.raises(RefusedBundleError, match="signature"):
        bundles.read(bundles.MAGIC + head + b"\n" + signature + b"\n" + sealed)


def test_what_unpacks_to_too_much_is_refused(
    author: PrivateKey, reader: PrivateKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = bundles.seal(author, [reader.public], AT, bytes(100_000))
    monkeypatch.setattr(bundles, "MOST_BYTES", 50_000)
    with pytest.raises(RefusedBundleError, match="larger"):
        bundles.unseal(bundles.read(raw), reader)
    with pytest.raises(RefusedBundleError, match="at most"):
        bundles.seal(author, [reader.public], AT, bytes(100_000))


def test_the_wrapping_key_is_that_of_rfc_5869(reader: PrivateKey) -> None:
    shared, ephemeral = bytes(range(32)), bytes(range(32, 64))
    extracted = hmac.new(bytes(32), shared, hashlib.sha256).digest()
    info = b"vector-memory seal 1\0" + ephemeral + reader.public.sealing + b"\1"
    expected = hmac.new(extracted, info, hashlib.sha256).digest()
    assert bundles._wrapping_key(shared, ephemeral, reader.public) == expected
