"""A change tried on a copy: what it would do is told, and nothing is done."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, door
from work import Session

from vector_memory.errors import BadInputError

ASKED = "Which database does the ledger use for its pages, and why?"


def tried(house: ServiceHouse, app: Path, **more: Any) -> dict[str, Any]:
    """Return what a change would do."""
    return door(house.ctx, "digital_twin", {"project": str(app), "cwd": str(app), **more})


@pytest.fixture
def asked(house: ServiceHouse, tmp_path: Path, app: Path) -> None:
    """A project in which something was decided, and asked for in a later session."""
    house.remember(
        "The ledger uses a database SQLite for its pages, since readers must not wait.", app
    )
    session = Session(tmp_path, "s1", app, house.time).ask(ASKED).say("SQLite, as was decided.")
    door(house.ctx, "backfill", {"paths": [str(session.path)], "cwd": "/"})
    house.follow()


def test_without_arguments_it_says_what_it_can_try(house: ServiceHouse, app: Path) -> None:
    """No error, and nothing is copied."""
    told = tried(house, app)
    assert set(told["can_try"]) == {"settings", "prune", "consolidate"}
    assert "threshold" in told["can_try"]["settings"]


@pytest.mark.usefixtures("asked")
def test_settings(house: ServiceHouse, app: Path) -> None:
    """The same change nothing; what would not come any more is told, and how the user makes it so."""
    same = tried(house, app, settings=[f"threshold={house.ctx.settings.threshold}"])
    assert (same["replayed"], same["differ"], same["promote"]) == (1, 0, "")
    assert same["before"]["notes"] == 1
    told = tried(house, app, settings=["recall_on_prompt=false"])
    assert len(told["lost"]) == 1 and "SQLite" in told["lost"][0]["text"]
    assert told["after"] == {"prompts": 0, "notes": 0, "tokens": 0}
    assert told["promote"] == "vector-memory config set recall_on_prompt false"
    assert house.ctx.settings.recall_on_prompt
    assert not [one for one in os.listdir(house.ctx.home.run) if one.startswith("copy-")]


@pytest.mark.usefixtures("asked")
def test_pruning(house: ServiceHouse, app: Path) -> None:
    """On the copy it is gone, in the store it is not."""
    id = house.remember(
        "The ledger's database for its pages was MySQL.", app, valid_until="2026-05-01"
    )["id"]
    told = tried(house, app, scenario="prune")
    assert told["changed"] == 1
    assert house.ctx.global_shelf().journal.get(id).text
    assert tried(house, app, scenario="consolidate")["changed"] == 0


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"scenario": "baking"}, "scenario cannot be"),
        ({"scenario": "settings"}, "NAME=VALUE"),
        ({"scenario": "prune", "settings": ["threshold=0.5"]}, "NAME=VALUE"),
        ({"settings": ["capture=false"]}, "names: threshold"),
        ({"settings": ["threshold=high"]}, "threshold"),
        ({"settings": ["threshold=0.5"], "global": True, "project": None, "cwd": None}, "one project"),
    ],
)  # fmt: skip
def test_bad_wishes(house: ServiceHouse, app: Path, more: dict[str, Any], why: str) -> None:
    """It is said what can be tried."""
    with pytest.raises(BadInputError, match=why):
        tried(house, app, **more)


def test_of_no_prompt_nothing_is_said(house: ServiceHouse, app: Path) -> None:
    """Not enough evidence is no result."""
    assert tried(house, app, scenario="prune")["told"].startswith("not enough evidence")
