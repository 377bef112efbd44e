"""`alias`: two names of one thing are counted and found as one, and told apart again."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, door

from vector_memory import redact
from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.model import PASSAGE, Memory

ALL = {"all_projects": True}


def names(house: ServiceHouse) -> dict[str, int]:
    """Return how many memories name each thing."""
    found = door(house.ctx, "entities", ALL)["entities"]
    return {f"{one['kind']}:{one['name']}": one["memories"] for one in found}


def listed(house: ServiceHouse, name: str) -> int:
    """Return how many memories are found by a name."""
    return int(door(house.ctx, "list", {**ALL, "entity": [name]})["total"])


def call(house: ServiceHouse, name: str, of: str = "", **more: Any) -> dict[str, str]:
    """Give a name up for another one."""
    return dict(door(house.ctx, "alias", {"name": name, "of": of, **more})["aliases"])


def test_two_names_are_one_until_they_are_told_apart(house: ServiceHouse, app: Path) -> None:
    house.remember("Bookings are cached in Redis.", app)
    house.remember("Valkey would cache bookings as well: `valkeyd` runs there.", app)
    redis, other = "technology:redis", "concept:valkeyd"
    assert (names(house)[redis], names(house)[other]) == (1, 1)
    assert call(house, other, redis) == {other: redis}
    assert names(house)[redis] == 2
    assert other not in names(house)
    assert (listed(house, redis), listed(house, other)) == (2, 2)
    # A name that nothing has yet is a good one; what went by the old one follows.
    assert call(house, redis, "technology:cache") == {other: "technology:cache", redis: "technology:cache"}  # fmt: skip
    assert (names(house)["technology:cache"], listed(house, other)) == (2, 2)
    call(house, redis)
    assert call(house, other) == {}
    assert (names(house)[redis], names(house)[other]) == (1, 1)


@pytest.mark.parametrize(
    ("name", "of"),
    [("redis", "technology:x"), ("technology:x", "nothing"), ("file:a", "file: "), ("redis", "")],
)
def test_what_is_no_name_is_refused(house: ServiceHouse, name: str, of: str) -> None:
    with pytest.raises(BadInputError, match="no name"):
        call(house, name, of)


def test_what_goes_by_no_other_name_is_not_told_apart(house: ServiceHouse) -> None:
    """Nothing is changed, and nothing noted: who mistyped a name would believe that it was done."""
    with pytest.raises(NotFoundError, match="no other name"):
        call(house, "file:a")
    assert [one["action"] for one in door(house.ctx, "audit", {})["entries"]] == []


def test_names_go_by_one_another_in_no_circle(house: ServiceHouse) -> None:
    call(house, "file:a", "file:b")
    with pytest.raises(BadInputError, match="already"):
        call(house, "file:b", "file:a")


def test_no_agent_says_which_names_mean_the_same(house: ServiceHouse) -> None:
    with pytest.raises(BadInputError, match="Only the user"):
        call(house, "file:a", "file:b", actor="agent")


def test_a_name_that_nothing_goes_by_is_a_word(house: ServiceHouse) -> None:
    """Who asks for "caddy" knows that it is a name: what holds the word is found, but no part of one, no talk, and
    nothing by a kind that nothing has."""
    held = house.remember("Certificates: caddy renews them.")["id"]
    house.remember("The caddyshack is closed.")
    said = redact.clean("Caddy is fine.").text
    talk = Memory(id="f" * 32, text=said, created_at=house.time, kind=PASSAGE)
    house.ctx.global_shelf().journal.add([talk])
    for name in ("caddy", "Caddy"):
        told = door(house.ctx, "list", {**ALL, "entity": [name]})["memories"]
        assert [one["id"] for one in told] == [held]
    found = door(house.ctx, "recall", {**ALL, "entity": ["caddy"], "query": "certificates"})["hits"]
    assert [one["id"] for one in found] == [held]
    assert listed(house, "technology:caddy") == 0


def test_an_accent_may_be_a_sign_of_its_own(house: ServiceHouse, app: Path) -> None:
    """As names of files on some disks have it; what is stored has every name in one form."""
    apart = unicodedata.normalize("NFD", "düse.py")
    assert apart != "düse.py"
    house.remember("The nozzle is computed in `src/düse.py`.", app, tags=["größe"])
    asked = {**ALL, "entity": ["src/" + apart], "tag": [unicodedata.normalize("NFD", "größe")]}
    assert door(house.ctx, "list", asked)["total"] == 1
    assert door(house.ctx, "list", {**ALL, "entity": ["file:src/" + apart]})["total"] == 1
