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


DEADLINE = {"due": "2026-05-20"}
EXPIRY = {"expires": "2026-06-01"}


@pytest.mark.parametrize(
    "asked",
    [
        {"triggers": ["file:*.sql", "error:no such table"]},
        DEADLINE,
        {"every": "weekly", "due": "2026-05-06", "valid_until": "2026-08-01"},
        {**EXPIRY, "half_life_days": 14},
        {"temporal": "permanent", "half_life_days": 0, "valid_until": "2026-08-01"},
    ],
)
@pytest.mark.parametrize("actor", ["user", "mcp"])
def test_when_it_comes_and_how_it_ages_stay(
    house: ServiceHouse, tmp_path: Path, asked: dict[str, Any], actor: str
) -> None:
    """As if the old words had been edited; an agent's own, too. What was outdated by then has its date."""
    names = ("triggers", "temporal", "every", "half_life_days", "valid_from", "valid_until", "expires_at")  # fmt: skip
    done = house.remember(OLD, tmp_path, actor=actor, **asked)
    was = door(house.ctx, "get", {"id": done["id"]})["memory"]
    door(house.ctx, "verify", {"id": done["id"], "verdict": "outdated"})
    house.pass_time(seconds=1)
    memory = replaced(house, tmp_path, done["id"], actor=actor)
    assert [memory.get(name) for name in names] == [was.get(name) for name in names]
    assert [was.get(name) for name in names] != [None, "permanent", *([None] * 5)]


def test_what_is_said_of_how_it_ages_counts(house: ServiceHouse, tmp_path: Path) -> None:
    """In the place of what was said of the old one."""
    asked = {"triggers": ["file:*.sql"], **EXPIRY, **DEADLINE}
    done = house.remember(OLD, tmp_path, **asked)
    other = {"triggers": ["term:main"], "expires": "never", "temporal": "permanent"}
    memory = replaced(house, tmp_path, done["id"], **other)
    assert (memory["triggers"], memory["temporal"]) == (["term:main"], "permanent")
    assert (memory["valid_until"], memory["expires_at"]) == (None, None)
    memory = replaced(house, tmp_path, memory["id"], due="2026-07-01")
    assert memory["due_on"] == "2026-07-01"


@pytest.mark.parametrize(
    "asked", [DEADLINE, EXPIRY, {"every": "daily", "valid_until": "2026-05-20"}, {"collection": "short_term_memory"}, {"collection": "trajectories"}],
)  # fmt: skip
def test_what_is_over_of_the_old_one_stays_with_it(
    house: ServiceHouse, tmp_path: Path, asked: dict[str, Any]
) -> None:
    """The new one holds, and for good; so does what takes the place of a note that was kept for a while."""
    done = house.remember(OLD, tmp_path, **asked)
    if "collection" not in asked:
        house.pass_time(days=40)
    memory = replaced(house, tmp_path, done["id"])
    assert memory["temporal"] == "permanent"
    assert (memory.get("every"), memory["valid_until"], memory["expires_at"]) == (None, None, None)
    listed = door(house.ctx, "list", {"project": str(tmp_path)})["memories"]
    assert [one["id"] for one in listed] == [memory["id"]]


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
