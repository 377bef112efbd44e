"""Verdicts of the user on hits and in reviews, kept for those who tune the search."""

from __future__ import annotations

from pathlib import Path

import pytest
from service_house import ServiceHouse, door

from vector_memory.errors import BadInputError


def test_a_verdict_is_kept_without_words(house: ServiceHouse, app: Path) -> None:
    id = house.remember("The ferry leaves from the north harbour.", app)["id"]
    asked = {"id": id, "query": "when is the museum open?"}
    assert door(house.ctx, "label", asked) == {"id": id, "verdict": "wrong"}
    house.pass_time(seconds=1)
    door(house.ctx, "label", {**asked, "verdict": "right"})
    first, second = house.ctx.state.use_labels()
    assert [(one.memory, one.channel, one.used) for one in (first, second)] == [
        (id, "search", False), (id, "search", True),
    ]  # fmt: skip
    assert first.prompt == second.prompt
    assert "museum" not in repr((first, second))


def test_the_user_alone_judges(house: ServiceHouse, app: Path) -> None:
    id = house.remember("The ferry leaves from the north harbour.", app)["id"]
    for wrong in ({"actor": "agent"}, {"verdict": "perhaps"}, {"query": ""}):
        with pytest.raises(BadInputError):
            door(house.ctx, "label", {"id": id, "query": "ferry?", **wrong})
    assert house.ctx.state.use_labels() == []


def test_what_a_review_decides_is_a_verdict(house: ServiceHouse, app: Path) -> None:
    kept = house.remember("Always deploy by the north gate.", app, kind="rule", actor="agent")
    house.pass_time(hours=1)
    gone = house.remember("Never sell tickets on Mondays.", app, kind="rule", actor="agent")
    door(house.ctx, "review", {"confirm": [kept["id"]], "drop": [gone["id"]]})
    labels = {one.memory: (one.channel, one.used) for one in house.ctx.state.use_labels()}
    assert labels == {kept["id"]: ("review", True), gone["id"]: ("review", False)}
