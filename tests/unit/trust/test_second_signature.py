"""Signatures of two kinds: each changed byte of the second is told, and one that nobody vouches for."""

from __future__ import annotations

import stat
from datetime import datetime, timezone
from pathlib import Path

import pytest

from vector_memory.errors import BadInputError
from vector_memory.trust import second_signature
from vector_memory.trust.keys import Keyring, PrivateKey

NOW = datetime(2026, 5, 3, tzinfo=timezone.utc)
TEXT = b"Herons are grey."

pytestmark = pytest.mark.skipif(
    not second_signature.is_available(), reason="the installed library has no ML-DSA"
)


def key_in(folder: Path, passphrase: str = "") -> PrivateKey:
    ring = Keyring(str(folder))
    return ring.open(ring.ensure(NOW, passphrase).public.id, passphrase)


def test_a_second_signature(tmp_path: Path) -> None:
    own = key_in(tmp_path)
    made = second_signature.sign(str(tmp_path), own, "words 1", TEXT, "")
    again = second_signature.sign(str(tmp_path), own, "words 1", TEXT, "")
    assert made["key"] == again["key"] and made["alg"] == "ML-DSA-65"
    assert second_signature.is_right(made, own.public, "words 1", TEXT)
    assert not second_signature.is_right(made, own.public, "words 2", TEXT)
    assert not second_signature.is_right(made, own.public, "words 1", TEXT + b"!")
    (path,) = tmp_path.glob("*.mldsa.pem")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    Keyring(str(tmp_path)).revoke(own.public.id, NOW)
    assert not path.exists()


def test_what_was_changed_or_is_somebody_elses(tmp_path: Path) -> None:
    own, other = key_in(tmp_path / "a"), key_in(tmp_path / "b")
    made = second_signature.sign(str(tmp_path / "a"), own, "words 1", TEXT, "")
    foreign = second_signature.sign(str(tmp_path / "b"), other, "words 1", TEXT, "")
    assert not second_signature.is_right(made, other.public, "words 1", TEXT)
    assert not second_signature.is_right(
        {**foreign, "vouched": made["vouched"]}, own.public, "words 1", TEXT
    )
    for name, value in made.items():
        for at in range(0, len(value), max(1, len(value) // 40)):
            letter = "B" if value[at] != "B" else "C"
            changed = {**made, name: value[:at] + letter + value[at + 1 :]}
            assert not second_signature.is_right(changed, own.public, "words 1", TEXT), (name, at)
    for broken in (None, [], {}, {"alg": "ML-DSA-65"}, {**made, "more": "x"}):
        assert not second_signature.is_right(broken, own.public, "words 1", TEXT)


def test_it_is_kept_with_the_passphrase(tmp_path: Path) -> None:
    own = key_in(tmp_path, "heron")
    made = second_signature.sign(str(tmp_path), own, "words 1", TEXT, "heron")
    assert second_signature.is_right(made, own.public, "words 1", TEXT)
    with pytest.raises(BadInputError, match="PASSPHRASE|cannot be read"):
        second_signature.sign(str(tmp_path), own, "words 1", TEXT, "ibis")
