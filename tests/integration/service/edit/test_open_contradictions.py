"""What stands against something else and nobody has settled."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from service_house import ServiceHouse, door

from vector_memory.errors import BadInputError
from vector_memory.model import Link, Relation


def test_all_that_is_not_settled(house: ServiceHouse, app: Path, tmp_path: Path) -> None:
    """A pair once, of this project alone, until one of both gives way."""
    one = house.remember("The importer runs at 04:00 on Sundays.", app)["id"]
    other = house.remember("Invoices are only read on Mondays.", app)["id"]
    door(house.ctx, "link", {"from": one, "to": other, "relation": "contradicts"})
    here = {"project": str(app), "cwd": str(app)}
    (found,) = door(house.ctx, "contradictions", here)["contradictions"]
    assert found["id"] == one and other[:12] in found["reason"]
    assert not door(house.ctx, "contradictions", {"project": str(tmp_path)})["contradictions"]
    door(house.ctx, "link", {"from": one, "to": other, "relation": "supersedes"})
    assert not door(house.ctx, "contradictions", here)["contradictions"]


def test_a_contradiction_by_hand_is_among_the_first(house: ServiceHouse, app: Path) -> None:
    """However many were found: somebody looked at it."""
    texts = (f"Shelf {number} of the archive holds box {number}." for number in range(60))
    ids = [house.remember(text, app, wait=False)["id"] for text in texts]
    journal, at = house.ctx.global_shelf().journal, house.ctx.now()
    journal.link_all(
        Link(one, other, Relation.CONTRADICTS, 0.9, at) for one, other in pairwise(ids)
    )
    door(house.ctx, "link", {"from": ids[0], "to": ids[9], "relation": "contradicts"})
    shown = door(house.ctx, "contradictions", {"project": str(app)})["contradictions"]
    assert (shown[0]["id"], ids[9][:12] in shown[0]["reason"]) == (ids[0], True)


def test_what_a_memory_did(house: ServiceHouse, app: Path) -> None:
    """Nothing is claimed of one that no session was shown."""
    id = house.remember("The importer runs at 04:00 on Sundays.", app)["id"]
    assert door(house.ctx, "impact", {"id": id})["uses"] == {"shown": 0, "used": 0}
    assert "uses" not in door(house.ctx, "impact", {"file": "x.py", "project": str(app)})


def two(house: ServiceHouse, app: Path) -> tuple[str, str]:
    """Return the ids of two memories that contradict each other, the older first."""
    older = house.remember("The importer runs at 04:00 on Sundays.", app)["id"]
    house.pass_time(days=1)
    newer = house.remember("Invoices are only read on Mondays.", app)["id"]
    door(house.ctx, "link", {"from": older, "to": newer, "relation": "contradicts"})
    return older, newer


def test_which_of_two_holds_is_settled(house: ServiceHouse, app: Path) -> None:
    """The newer one, the first that is named, or both; the other stays in the history."""
    for resolve, kept in (("keep_newer", 1), ("keep_first", 0)):
        pair = two(house, app)
        asked = {"resolve": resolve, "ids": list(pair), "actor": "mcp"}
        assert pair[kept][:12] in door(house.ctx, "contradictions", asked)["settled"][:14]
        gone = door(house.ctx, "get", {"id": pair[1 - kept]})["memory"]
        assert gone["status"] == "superseded"
        # What gave way to it goes along.
        door(house.ctx, "forget", {"ids": [pair[kept]]})
    pair = two(house, app)
    asked = {"resolve": "both_hold", "ids": list(pair)}
    assert "both hold" in door(house.ctx, "contradictions", asked)["settled"]
    here = {"project": str(app), "cwd": str(app)}
    assert not door(house.ctx, "contradictions", here)["contradictions"]
    assert door(house.ctx, "get", {"id": pair[0]})["memory"]["status"] == "active"


def test_what_is_not_the_agents_to_settle(house: ServiceHouse, app: Path) -> None:
    """Two that do not contradict, no such way, and the user's own rule."""
    older, newer = two(house, app)
    rule = house.remember("Never run the importer on Sundays.", app, kind="rule")["id"]
    other = house.remember("Sandpipers run along the water's edge.", app)["id"]
    asked = {"resolve": "keep_first", "ids": [older, other], "actor": "mcp"}
    with pytest.raises(BadInputError, match="not known to contradict"):
        door(house.ctx, "contradictions", asked)
    door(house.ctx, "link", {"from": older, "to": rule, "relation": "contradicts"})
    with pytest.raises(BadInputError, match="user's own words"):
        door(house.ctx, "contradictions", {**asked, "ids": [older, rule]})
    with pytest.raises(BadInputError, match="keep_newer"):
        door(house.ctx, "contradictions", {"resolve": "toss", "ids": [older, newer]})
