"""What takes a memory's place is of the same sort as that, unless it is said otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, door

OLD = "Deploys go through the staging branch."
NEW = "Deploys go through main."


@pytest.fixture
def old(house: ServiceHouse, tmp_path: Path) -> str:
    done = house.remember(OLD, tmp_path, kind="decision", tags=["deploys"], priority="HIGH")
    return str(done["id"])


def replaced(house: ServiceHouse, project: Path, old: str, **more: Any) -> dict[str, Any]:
    done = house.remember(NEW, project, supersedes=old, **more)
    memory: dict[str, Any] = door(house.ctx, "get", {"id": done["id"]})["memory"]
    return memory


def test_kind_tags_and_priority_stay(house: ServiceHouse, tmp_path: Path, old: str) -> None:
    memory = replaced(house, tmp_path, old)
    assert (memory["kind"], memory["tags"], memory["priority"]) == ("decision", ["deploys"], "HIGH")


def test_what_is_said_of_the_new_one_counts(house: ServiceHouse, tmp_path: Path, old: str) -> None:
    memory = replaced(house, tmp_path, old, kind="fact", tags=["ci"], priority="LOW")
    assert (memory["kind"], memory["tags"], memory["priority"]) == ("fact", ["ci"], "LOW")


def test_an_agent_inherits_no_weight(house: ServiceHouse, tmp_path: Path) -> None:
    """What it noted itself it may put otherwise; the user has raised that meanwhile, which is not the agent's to
    hand on."""
    done = house.remember(OLD, tmp_path, kind="decision", actor="mcp")
    door(house.ctx, "edit", {"id": done["id"], "priority": "HIGH"})
    memory = replaced(house, tmp_path, done["id"], actor="mcp")
    assert (memory["kind"], memory["priority"]) == ("decision", "NORMAL")


def test_what_is_asked_to_be_forgotten_is_not_its_successor(
    house: ServiceHouse, tmp_path: Path, old: str
) -> None:
    """A search gives what holds now; to forget, words that only the old one has mean the old one."""
    new = replaced(house, tmp_path, old)["id"]

    def meant(query: str) -> str:
        request = {"query": query, "project": str(tmp_path), "dry_run": True}
        found: str = door(house.ctx, "forget", request)["memories"][0]["id"]
        return found

    assert (meant(OLD), meant(NEW)) == (old, new)
