"""A project's own store at another path: that it is there is told, and trusted it shows its memories."""

from __future__ import annotations

from pathlib import Path

import pytest
from service_house import ServiceHouse, door


@pytest.fixture
def moved(house: ServiceHouse, tmp_path: Path) -> Path:
    """A project with a store of its own and a memory, moved to another path, without a remote."""
    before = tmp_path / "before"
    before.mkdir()
    house.remember("Invoices are numbered by year.", before)
    door(house.ctx, "init", {"dir": str(before)})
    house.follow()
    after = tmp_path / "after"
    before.rename(after)
    house.ctx.forget_places()
    return after


def test_a_store_that_is_not_opened_is_told_of(house: ServiceHouse, moved: Path) -> None:
    """With what opens it; nothing of it is shown before."""
    listed = door(house.ctx, "list", {"project": str(moved)})
    assert listed["memories"] == []
    ((_, why),) = listed["unopened"].items()
    assert f"vector-memory trust {moved}" in why
    asked = {"query": "how are invoices numbered", "project": str(moved)}
    assert door(house.ctx, "recall", asked)["unopened"] == listed["unopened"]


def test_trusted_it_belongs_to_the_project_as_it_is_called_here(
    house: ServiceHouse, moved: Path
) -> None:
    """Listed and found; trusting it again changes nothing."""
    done = door(house.ctx, "trust", {"dir": str(moved)})
    assert (done["memories"], done["adopted"]) == (1, 1)
    house.follow()
    (memory,) = door(house.ctx, "list", {"project": str(moved)})["memories"]
    asked = {"query": "how are invoices numbered", "project": str(moved), "only_project": True}
    (hit,) = door(house.ctx, "recall", asked)["hits"]
    assert hit["id"] == memory["id"]
    again = door(house.ctx, "trust", {"dir": str(moved)})
    assert (again["memories"], again["adopted"]) == (1, 0)
    assert door(house.ctx, "list", {"project": str(moved)})["unopened"] == {}
