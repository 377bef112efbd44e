"""Invariants over every row: what is sound holds, and each way to break one is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, door

from vector_memory.errors import BadInputError
from vector_memory.model import TRIGGERS, CleanText, Memory, Origin, Priority, Scope, Status
from vector_memory.service.jobs import runner
from vector_memory.service.think import formal_verify

Broken = Callable[[Memory, Memory], Memory]


def verified(house: ServiceHouse, app: Path, **more: Any) -> dict[str, Any]:
    """Return what is found in a project's stores."""
    return door(house.ctx, "formal_verify", {"project": str(app), "cwd": str(app), **more})


def fails(told: dict[str, Any]) -> dict[str, int]:
    """Return the properties that do not hold, with how many break each."""
    return {one["name"]: one["broken"] for one in told["properties"] if not one["holds"]}


def test_what_is_sound_holds(house: ServiceHouse, app: Path) -> None:
    """Memories that gave way, are forgotten or linked included; the digest is that of the rows."""
    old = house.remember("The ledger uses MySQL.", app)["id"]
    house.remember("The ledger uses PostgreSQL.", app, supersedes=old)
    gone = house.remember("The importer reads invoices from a folder.", app)["id"]
    door(house.ctx, "forget", {"ids": [gone]})
    first, again = verified(house, app), verified(house, app)
    assert first["holds"] and not fails(first)
    assert {one["name"] for one in first["properties"]} == set(formal_verify.PROPERTIES)
    (store,) = first["stores"]
    assert store["rows"] == 3 and store["is_still"]
    assert again["stores"] == first["stores"]
    house.remember("Deploys go through staging.", app)
    assert verified(house, app)["stores"][0]["digest"] != store["digest"]


def test_what_has_had_its_time_needs_no_successor(house: ServiceHouse, app: Path) -> None:
    """It says why it gave way."""
    house.remember("The freeze ends on Friday.", app, due="in 2 days")
    runner.run(house.ctx, "ttl-sweep", False)
    house.pass_time(days=9)
    runner.run(house.ctx, "ttl-sweep", False)
    assert runner.run(house.ctx, "ttl-sweep", False).report["gave_way"] == 1
    assert verified(house, app)["holds"]


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("status-fits", lambda one, other: replace(one, superseded_by=other.id)),
        (
            "status-fits",
            lambda one, other: replace(one, status=Status.SUPERSEDED, superseded_by=""),
        ),
        (
            "successors-exist",
            lambda one, other: replace(one, status=Status.SUPERSEDED, superseded_by="f" * 32),
        ),
        (
            "supersession-ends",
            lambda one, other: replace(one, status=Status.SUPERSEDED, superseded_by=one.id),
        ),
        ("forgotten-has-no-words", lambda one, other: replace(one, status=Status.FORGOTTEN)),
        (
            "times-are-in-order",
            lambda one, other: replace(
                one, valid_from=one.created_at, valid_until=one.created_at - timedelta(days=1)
            ),
        ),
        (
            "foreign-does-not-bind",
            lambda one, other: replace(one, origin=Origin.TOOL, priority=Priority.CORE),
        ),
        (
            "no-secret-is-stored",
            lambda one, other: replace(one, title=CleanText("AKIA" + "Z7QX" * 4)),
        ),
        (
            "conditions-can-be-read",
            lambda one, other: replace(one, extra={TRIGGERS: ["moon:full"]}),
        ),
    ],
)
def test_each_breach_is_found(house: ServiceHouse, app: Path, name: str, broken: Broken) -> None:
    """Written past the service, as a fault of it would."""
    one = house.remember("The ledger uses PostgreSQL.", app)["id"]
    other = house.remember("The importer reads invoices from a folder.", app)["id"]
    journal = house.ctx.global_shelf().journal
    known = journal.by_ids([one, other])
    made = broken(known[one], known[other])
    journal.update(made)
    told = verified(house, app)
    assert not told["holds"]
    assert fails(told).get(name) == 1
    assert verified(house, app, properties=[name])["properties"][0]["examples"][0]["id"] == one


def test_a_damaged_row(house: ServiceHouse, app: Path) -> None:
    """A row whose checksum is wrong is not there for anybody, nor is what leads to it."""
    one = house.remember("The ledger uses PostgreSQL.", app)["id"]
    other = house.remember("The importer reads invoices from a folder.", app)["id"]
    journal = house.ctx.global_shelf().journal
    door(house.ctx, "link", {"from": one, "to": other, "relation": "relates_to"})
    with journal.connections.writing() as connection:
        connection.execute("UPDATE memories SET text = 'x' WHERE id = ?", (other,))
    assert fails(verified(house, app)) == {"rows-can-be-read": 1, "links-have-ends": 1}


def test_an_unknown_property(house: ServiceHouse, app: Path) -> None:
    """It is said which there are."""
    with pytest.raises(BadInputError, match="supersession-ends"):
        verified(house, app, properties=["all-is-well"])


def test_contracts_and_plans_are_looked_at(house: ServiceHouse, app: Path) -> None:
    """One that was changed on the disk, and tasks that wait for each other."""
    door(house.ctx, "contract", {"action": "create", "name": "low", "ceiling": "internal"})
    here = {"project": str(app), "cwd": str(app), "dry_run": False}
    door(house.ctx, "temporal_planner", {**here, "action": "add", "task": "build"})
    door(
        house.ctx, "temporal_planner", {**here, "action": "add", "task": "ship", "after": ["build"]}
    )
    assert verified(house, app)["holds"]
    (whole,) = house.ctx.state.records("contract").values()
    house.ctx.state.put_record("contract", whole.text("id"), {**whole, "ceiling": "restricted"})
    shelf = house.ctx.shelf_of(house.ctx.place(str(app)))
    (kept,) = [
        one
        for one in shelf.journal.iter_memories(Scope(collections=("heuristics",)))
        if one.kind == "plan"
    ]
    items = [{**one, "after": ["ship"]} for one in kept.extra["items"]]
    shelf.journal.update(replace(kept, extra={**kept.extra, "items": items}))
    assert fails(verified(house, app)) == {"contracts-only-narrow": 1, "plans-have-an-order": 1}
