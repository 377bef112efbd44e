"""This installation's keys: renewed, given up, signed with; and never by an agent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, door

from vector_memory.errors import BadInputError


@pytest.fixture
def house(tmp_path: Path) -> Iterator[ServiceHouse]:
    made = ServiceHouse(tmp_path)
    yield made
    made.close()


def ask(house: ServiceHouse, action: str, **more: Any) -> dict[str, Any]:
    return door(house.ctx, "identity", {"action": action, **more})


def test_a_signature_is_its_keys_for_these_words_alone(house: ServiceHouse) -> None:
    assert ask(house, "list")["keys"] == []
    signed = ask(house, "sign", text="The release is 1.4.")
    key, signature = signed["keys"][0]["key"], signed["signature"]
    assert ask(house, "verify", key=key, signature=signature, text="The release is 1.4.")[
        "is_valid"
    ]
    other = "01" if signature.endswith("00") else "00"
    for text, wrong in (
        ("The release is 1.5.", signature),
        ("The release is 1.4.", signature[:-2] + other),
    ):
        assert not ask(house, "verify", key=key, signature=wrong, text=text)["is_valid"]
    assert not ask(house, "verify", key=key, signature="no", text="x")["is_valid"]
    new = ask(house, "rotate")["keys"]
    assert [one["state"] for one in new] == ["valid", "retired"]
    # What an old key has signed it has signed.
    assert ask(house, "verify", key=key, signature=signature, text="The release is 1.4.")[
        "is_valid"
    ]
    gone = ask(house, "revoke", key=new[0]["id"])["keys"]
    assert [one["state"] for one in gone] == ["revoked", "retired"]


def test_an_agent_only_looks(house: ServiceHouse) -> None:
    for action in ("rotate", "revoke", "sign"):
        with pytest.raises(BadInputError, match="Only the user"):
            ask(house, action, actor="mcp", text="x", key="x")
    assert ask(house, "list", actor="mcp") == {"keys": []}
    with pytest.raises(BadInputError, match="action cannot be"):
        ask(house, "melt")
