"""Proofs over a real audit log: signed, found right offline, and no longer once the log was changed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from service_house import ServiceHouse, door

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.trust import attestation


@pytest.fixture
def house(tmp_path: Path) -> Iterator[ServiceHouse]:
    made = ServiceHouse(tmp_path)
    yield made
    made.close()


def test_the_log_continues_what_was_signed_until_somebody_changes_it(house: ServiceHouse) -> None:
    for number in range(5):
        house.remember(f"Number {number} is remembered by the ledger.")
    made = door(house.ctx, "prove", {})
    statement = json.loads(Path(made["file"]).read_text())
    assert attestation.statement_of(statement).size >= 5
    house.remember("One more thing that the ledger remembers.")
    found = door(house.ctx, "check_proof", {"statement": statement})
    assert (found["is_own"], found["holds"]) == (True, True)
    state = sqlite3.connect(house.ctx.home.state_db)
    with state:
        state.execute("UPDATE audit SET actor = 'nobody' WHERE number = 2")
    state.close()
    found = door(house.ctx, "check_proof", {"statement": statement})
    assert not found["holds"] and "another one than it was" in found["why"]
    state = sqlite3.connect(house.ctx.home.state_db)
    with state:
        state.execute("DELETE FROM audit WHERE number > 1")
    state.close()
    assert "were signed" in door(house.ctx, "check_proof", {"statement": statement})["why"]


def test_of_an_action_that_was_never_noted_those_are_told_that_were(house: ServiceHouse) -> None:
    house.remember("The ledger remembers this.")
    told = door(house.ctx, "audit", {"action": "remember"})
    assert told["entries"]
    assert "actions" not in told
    behind = door(house.ctx, "audit", {"offset": 1})["entries"]
    assert behind == door(house.ctx, "audit", {})["entries"][1:]
    told = door(house.ctx, "audit", {"action": "nonsense"})
    assert told["entries"] == []
    assert "remember" in told["actions"]


def test_one_entry(house: ServiceHouse) -> None:
    house.remember("The ledger remembers this.")
    made = door(house.ctx, "prove", {"entry": 1})
    proof = attestation.inclusion_of(json.loads(Path(made["file"]).read_text()))
    assert (proof.entry["number"], proof.entry["action"]) == (1, "remember")
    with pytest.raises(NotFoundError):
        door(house.ctx, "prove", {"entry": 999})


def test_a_log_goes_on_from_an_earlier_root_and_that_is_seen_without_it(
    house: ServiceHouse,
) -> None:
    house.remember("The ledger remembers this.")
    first = door(house.ctx, "prove", {})["file"]
    house.remember("Number two is remembered by the ledger.")
    made = door(house.ctx, "prove", {"since": first})
    told = json.loads(Path(made["file"]).read_text())
    found = attestation.proof_of(told)
    assert isinstance(found, attestation.Continuation)
    assert found.earlier == attestation.statement_of(json.loads(Path(first).read_text()))
    assert found.earlier.size < found.statement.size
    for wrong in (
        {**told, "path": told["path"][1:]},
        {**told, "path": ["0" * 64, *told["path"][1:]]},
        {**told, "earlier": told["statement"], "statement": told["earlier"]},
        {**told, "earlier": {**told["earlier"], "size": told["earlier"]["size"] - 1}},
        {**told, "path": 3},
    ):
        with pytest.raises(attestation.RefusedProofError):
            attestation.proof_of(wrong)
    with pytest.raises(BadInputError):
        door(house.ctx, "prove", {"since": __file__})
    state = sqlite3.connect(house.ctx.home.state_db)
    with state:
        state.execute("UPDATE audit SET actor = 'nobody' WHERE number = 1")
    state.close()
    with pytest.raises(attestation.RefusedProofError, match="does not continue"):
        door(house.ctx, "prove", {"since": made["file"]})
