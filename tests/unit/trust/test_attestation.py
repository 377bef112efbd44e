"""Signed statements about a log: every field counts, and an entry is shown to be in it."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import datetime, timezone
from typing import Any

import pytest

from vector_memory.trust import attestation
from vector_memory.trust.attestation import RefusedProofError
from vector_memory.trust.keys import Keyring, PrivateKey

NOW = datetime(2026, 5, 3, 12, tzinfo=timezone.utc)
ENTRIES: list[dict[str, Any]] = [{"number": n, "action": f"recall {n}"} for n in range(1, 8)]
LEAVES = [attestation.leaf(entry) for entry in ENTRIES]


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> PrivateKey:
    ring = Keyring(str(tmp_path_factory.mktemp("home") / "keys"))
    return ring.open(ring.ensure(NOW).public.id)


def changed(value: object) -> object:
    """Return another value of the same kind, as near as can be."""
    if isinstance(value, int):
        return value + 1
    if isinstance(value, list):
        return [*value[1:], "00" * 32]
    if isinstance(value, dict):
        return {**value, "action": "forget"}
    last = "0" if str(value)[-1] != "0" else "1"
    return str(value)[:-1] + last


def test_a_statement_says_what_was_signed_and_nothing_else(key: PrivateKey) -> None:
    made = attestation.sign_statement(key, LEAVES, 7, NOW.isoformat())
    assert attestation.statement_of(asdict(made)) == made
    for name, value in asdict(made).items():
        with pytest.raises(RefusedProofError):
            attestation.statement_of({**asdict(made), name: changed(value)})
    for wrong in (None, [], {}, {**asdict(made), "more": 1}, {**asdict(made), "size": True}):
        with pytest.raises(RefusedProofError):
            attestation.statement_of(wrong)
    with pytest.raises(RefusedProofError, match="written as it should"):
        attestation.statement_of({**asdict(made), "signature": made.signature.upper()})


@pytest.mark.parametrize("index", range(7))
def test_an_entry_is_shown_to_be_in_the_log(key: PrivateKey, index: int) -> None:
    made = attestation.sign_statement(key, LEAVES, 7, NOW.isoformat())
    proof = attestation.prove_inclusion(LEAVES, ENTRIES[index], index, made)
    assert attestation.inclusion_of(asdict(proof)) == proof
    for name in ("entry", "index", "path"):
        with pytest.raises(RefusedProofError):
            told = asdict(proof)
            attestation.inclusion_of({**told, name: changed(told[name])})
    other = attestation.sign_statement(key, LEAVES[:-1], 6, NOW.isoformat())
    with pytest.raises(RefusedProofError):
        attestation.inclusion_of(asdict(replace(proof, statement=other)))
