"""`evolution`: what gave way to what."""

from __future__ import annotations

from pathlib import Path

from service_house import ServiceHouse, door


def test_chains_come_with_their_latest_step_first(house: ServiceHouse, app: Path) -> None:
    first = house.remember("The ferry leaves at nine in the morning.", app, kind="decision")
    other = house.remember("The library closes at noon on Fridays.", app, kind="fact")
    house.pass_time(days=3)
    house.remember(
        "The library closes at five on Fridays.", app, kind="fact", supersedes=other["id"]
    )
    house.pass_time(days=3)
    house.remember("The ferry leaves at ten.", app, kind="decision", supersedes=first["id"])
    chains = door(house.ctx, "evolution", {"all_projects": True})["chains"]
    assert [[stage["text"][:11] for stage in one["stages"]] for one in chains] == [
        ["The ferry l", "The ferry l"], ["The library", "The library"],
    ]  # fmt: skip
    assert chains[0]["stages"][0]["until"] is not None
    assert chains[0]["summary"].startswith("was 'The ferry leaves at nine")
    door(house.ctx, "forget", {"ids": [first["id"]]})
    left = door(house.ctx, "evolution", {"all_projects": True})["chains"]
    assert [one["kind"] for one in left] == ["fact"]


def test_nothing_that_stands_alone_is_a_chain(house: ServiceHouse, app: Path) -> None:
    house.remember("The ferry leaves at nine.", app)
    assert door(house.ctx, "evolution", {"all_projects": True}) == {"chains": []}
