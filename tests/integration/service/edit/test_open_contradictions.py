"""What stands against something else and nobody has settled."""

from __future__ import annotations

from pathlib import Path

from service_house import ServiceHouse, door


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


def test_what_a_memory_did(house: ServiceHouse, app: Path) -> None:
    """Nothing is claimed of one that no session was shown."""
    id = house.remember("The importer runs at 04:00 on Sundays.", app)["id"]
    assert door(house.ctx, "impact", {"id": id})["uses"] == {"shown": 0, "used": 0}
    assert "uses" not in door(house.ctx, "impact", {"file": "x.py", "project": str(app)})
