"""`growth`: figures over time, and what is used."""

from __future__ import annotations

from pathlib import Path

from service_house import ServiceHouse, door

from vector_memory.journal.use_labels import UseLabel


def test_it_counts_by_day_by_use_and_by_project(house: ServiceHouse, app: Path) -> None:
    other = app.parent / "other"
    other.mkdir()
    used = house.remember("The ferry leaves from the north harbour.", app)
    house.remember("Tickets are sold in the town hall.", app)
    house.pass_time(days=2)
    house.remember("The museum is closed on Mondays.", other)
    for shelf in house.ctx.all_shelves():
        shelf.journal.touch({used["id"]: 3}, house.time)
    label = UseLabel("s", used["id"], house.time, "prompt", "note", 0.0, True)
    house.ctx.state.add_use_labels([label])
    told = door(house.ctx, "growth", {"all_projects": True})
    assert told["memories"] == 3
    assert told["days"] == {"2026-05-03": 2, "2026-05-05": 1}
    assert told["unused"] == 2
    assert [(one["id"], one["uses"]) for one in told["most_used"]] == [(used["id"], 3)]
    assert [(one["name"], one["memories"]) for one in told["projects"]] == [
        ("app", 2),
        ("other", 1),
    ]
    assert told["uses"] == {"2026-05-05": {"shown": 1, "used": 1}}
    (id,) = [one["id"] for one in told["projects"] if one["name"] == "other"]
    narrow = door(house.ctx, "growth", {"project_id": [id]})
    assert (narrow["memories"], narrow["days"]) == (1, {"2026-05-05": 1})


def test_verdicts_are_no_uses(house: ServiceHouse, app: Path) -> None:
    stored = house.remember("The ferry leaves from the north harbour.", app)
    house.ctx.state.add_use_labels(
        [UseLabel("s", stored["id"], house.time, "search", "note", 0.0, False)]
    )
    assert door(house.ctx, "growth", {"all_projects": True})["uses"] == {}
    assert door(house.ctx, "stats", {"all_projects": True})["uses"]["shown"] == 0


def test_facets_count_what_lists_can_be_limited_by(house: ServiceHouse, app: Path) -> None:
    house.remember(
        "The ferry leaves from the north harbour.", app, kind="decision", priority="HIGH"
    )
    house.remember("Tickets are sold in the town hall.", app)
    house.remember("A page says that the pier is closed.", app, origin="tool")
    told = door(house.ctx, "facets", {"all_projects": True})
    assert (told["kinds"], told["priorities"]) == (
        {"note": 2, "decision": 1},
        {"NORMAL": 2, "HIGH": 1},
    )
    assert (told["tiers"], told["origins"]["tool"]) == ({"hot": 3}, 1)
    assert [(one["name"], one["memories"]) for one in told["projects"]] == [("app", 3)]
    for asked, n in (({"priorities": ["HIGH"]}, 1), ({"origins": ["tool"]}, 1), ({"tiers": ["cold"]}, 0)):  # fmt: skip
        answer = door(house.ctx, "list", {"all_projects": True, **asked})
        assert (answer["total"], len(answer["memories"])) == (n, n), asked
        found = door(house.ctx, "recall", {"all_projects": True, "query": "ferry pier tickets", **asked})  # fmt: skip
        assert len(found["hits"]) <= n
