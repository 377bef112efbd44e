"""A project's own store at another path: that it is there is told, and trusted it shows its memories."""

from __future__ import annotations

from pathlib import Path

import pytest
from service_house import ServiceHouse, door, hook_question

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.service.inject import session_start


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
    assert "is not trusted, so" in why
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


def test_a_store_that_came_along_with_a_folder_is_told(house: ServiceHouse, tmp_path: Path) -> None:
    """What it holds is not taken over by its old path: the user trusts it."""
    before, after = tmp_path / "shop", tmp_path / "store"
    before.mkdir()
    house.remember("Invoices are numbered by year.", before)
    door(house.ctx, "init", {"dir": str(before)})
    before.rename(after)
    house.ctx.forget_places()
    done = door(house.ctx, "adopt", {"dir": str(after), "old": str(before)})
    assert done["adopted"] == 0
    assert any("vector-memory trust" in why for why in done["unopened"].values())


@pytest.mark.parametrize("name", ["elsewhere/shop", "store"])
def test_a_folder_that_was_moved_or_renamed_takes_its_memories_along(
    house: ServiceHouse, tmp_path: Path, name: str
) -> None:
    """It is told, by its name or by the files that memories name, and only the user does it."""
    before, after = tmp_path / "shop", tmp_path / name
    before.mkdir()
    files = ["till.py", "stock.py", "docs/tax.md"]
    for file in files:
        (before / file).parent.mkdir(exist_ok=True)
        (before / file).touch()
    house.remember("Invoices are numbered by year.", before, files=files)
    after.parent.mkdir(exist_ok=True)
    before.rename(after)
    asked = {"dir": str(after), "old": str(before)}
    house.ctx.forget_places()
    listed = door(house.ctx, "list", {"project": str(after)})
    assert "vector-memory adopt" in listed["unopened"][str(before)]
    told = session_start.on_start(house.ctx, hook_question(house.ctx, "s1", str(after)))
    assert f"vector-memory adopt {before}" in told
    with pytest.raises(BadInputError, match="Only the user"):
        door(house.ctx, "adopt", {**asked, "actor": "agent"})
    assert door(house.ctx, "adopt", asked) == {"project": after.name, "adopted": 1}
    house.follow()
    listed = door(house.ctx, "list", {"project": str(after)})
    assert (len(listed["memories"]), listed["unopened"]) == (1, {})


def test_what_is_there_or_looks_otherwise_is_not_taken(house: ServiceHouse, tmp_path: Path) -> None:
    """Nor is anything told of it."""
    gone, there, new = tmp_path / "gone", tmp_path / "there", tmp_path / "new"
    for folder in (gone, there, new):
        folder.mkdir()
    for file in ("README.md", "a.py", "b.py"):
        (new / file).touch()
    house.remember("Invoices are numbered by year.", gone, files=["README.md", "a.py", "b.py"])
    house.remember("Stock is counted on Mondays.", there)
    gone.rmdir()
    assert door(house.ctx, "list", {"project": str(new)})["unopened"] == {}
    with pytest.raises(BadInputError, match="still there"):
        door(house.ctx, "adopt", {"dir": str(new), "old": str(there)})
    with pytest.raises(NotFoundError):
        door(house.ctx, "adopt", {"dir": str(new), "old": str(tmp_path / "never")})
